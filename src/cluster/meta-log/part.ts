/** One message of a meta store's log: a part of an entry. Layout: FORMAT.md. */
import { assert } from "../../base/assert.ts";
import { crc32 } from "../../base/bytes/hash.ts";

const VERSION = 1;
const ATTEMPT_AT = 1;
const ATTEMPT_BYTES = 16;
const INDEX_AT: number = ATTEMPT_AT + ATTEMPT_BYTES;
const COUNT_AT: number = INDEX_AT + 2;
const BYTES_AT: number = COUNT_AT + 2;
const CRC_BYTES = 4;

/** Bytes that a part takes beside those of its entry. */
export const PART_OVERHEAD_BYTES: number = BYTES_AT + CRC_BYTES;

/** Most parts of an entry. Reason: a reader gathers them in memory; with 1 MiB messages it is 1 GiB. Error: StorageUnavailable. */
export const PARTS_MAX = 1024;

/** See the file header. */
export interface Part {
  /** 16 random bytes, as hexadecimal digits: which attempt to append which entry. */
  readonly attempt: string;
  /** In `[0, count)`. */
  readonly index: number;
  /** In `[1, PARTS_MAX]`. */
  readonly count: number;
  /** Of the entry. */
  readonly bytes: Uint8Array;
}

/** Bytes of a message. */
export function encodePart({ attempt, index, count, bytes }: Part): Uint8Array {
  const id = Uint8Array.fromHex(attempt);
  assert(id.length === ATTEMPT_BYTES, "an attempt is 16 bytes");
  assert(index >= 0 && index < count, "a part is one of its entry");
  assert(count <= PARTS_MAX, "an entry has PARTS_MAX parts at most");
  const message = new Uint8Array(PART_OVERHEAD_BYTES + bytes.length);
  const view = new DataView(message.buffer);
  message[0] = VERSION;
  message.set(id, ATTEMPT_AT);
  view.setUint16(INDEX_AT, index, true);
  view.setUint16(COUNT_AT, count, true);
  message.set(bytes, BYTES_AT);
  const crcAt = message.length - CRC_BYTES;
  view.setUint32(crcAt, crc32(message.subarray(0, crcAt)), true);
  return message;
}

/** Reads what `encodePart` wrote; `bytes` is a view. A text says why the message is none. */
export function decodePart(message: Uint8Array): Part | string {
  if (message.length < PART_OVERHEAD_BYTES) return `it has ${message.length} bytes, at least ${PART_OVERHEAD_BYTES} are needed`;
  if (message[0] !== VERSION) return `it is of version ${message[0]}, only ${VERSION} is known`;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const crcAt = message.length - CRC_BYTES;
  if (view.getUint32(crcAt, true) !== crc32(message.subarray(0, crcAt))) return "its checksum is wrong";
  const index = view.getUint16(INDEX_AT, true);
  const count = view.getUint16(COUNT_AT, true);
  if (index >= count || count > PARTS_MAX) return `it is part ${index} of ${count}`;
  return { attempt: message.subarray(ATTEMPT_AT, INDEX_AT).toHex(), index, count, bytes: message.subarray(BYTES_AT, crcAt) };
}
