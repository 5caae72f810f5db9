/**
 * Messages that reach a method as they came, undecoded. A message type without fields keeps all that it reads as unknown fields, each a
 * view of its bytes: 40 ns a message and no object a value, whatever is inside. Since no field is known, what was read is one piece.
 *
 *   ┌─tag─┬─data──────┬─tag─┬─data─┐
 *   │ $unknown[0]     │ $unknown[1]│   the first byte of the first tag … the last byte of the last field
 *   └─────┴───────────┴─────┴──────┘
 */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

/** The method as the transport shall know it: its messages in are kept as bytes. */
export function withRawInput(method: DescMethod): DescMethod {
  const raw = { ...method, input: EmptySchema } as DescMethod; // its kind stays, whatever the input is
  RAW.add(raw);
  return raw;
}

/** Whether `withRawInput` made it. */
export function hasRawInput(method: DescMethod): boolean {
  return RAW.has(method);
}

const RAW: WeakSet<DescMethod> = new WeakSet();

const NOTHING: Uint8Array = new Uint8Array(0);

/** The bytes of a message that `withRawInput` read: a view of what was received, valid while the message is worked on. */
export function bytesOf(message: Message): Uint8Array {
  const fields = message.$unknown;
  const first = fields?.[0];
  const last = fields?.at(-1);
  if (first === undefined || last === undefined) return NOTHING;
  const from = first.data.byteOffset - tagBytes(first.data, first.no, first.wireType);
  return new Uint8Array(first.data.buffer, from, last.data.byteOffset + last.data.length - from);
}

/** Bytes of the tag before `data`. A writer may pad it, so it is read back: all its bytes but the last have their high bit. */
function tagBytes(data: Uint8Array, no: number, wireType: number): number {
  const minimal = varintBytes(((no << 3) | wireType) >>> 0);
  const before = new Uint8Array(data.buffer, 0, data.byteOffset);
  let count = minimal;
  while (count < TAG_BYTES_MAX && !isTag(before, count, no, wireType)) count++;
  return count;
}

/** Most bytes of a varint of 32 bits that is padded. */
const TAG_BYTES_MAX = 5;

function isTag(before: Uint8Array, count: number, no: number, wireType: number): boolean {
  if (count > before.length) return false;
  let value = 0;
  for (let i = 0; i < count; i++) {
    const byte = before[before.length - count + i] ?? 0;
    if (byte >= 0x80 !== i < count - 1) return false;
    value |= (byte & 0x7f) << (7 * i);
  }
  return value >>> 0 === ((no << 3) | wireType) >>> 0;
}

function varintBytes(value: number): number {
  let count = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) count++;
  return count;
}
