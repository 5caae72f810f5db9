/** Texts and binary values: their offsets are checked once, and their bytes stay where they are. */
import { isAscii, isUtf8 } from "node:buffer";
import type { BytesVector, Validity } from "../../../column/vector.ts";
import { malformed } from "./arrow-failure.ts";
import type { ArrowField } from "./arrow-field.ts";
import type { Body } from "./body.ts";
import { flawedOffset, splitCharacter } from "./kernels/words.ts";

const EMPTY = new Uint8Array(0);
const UINT32_MAX = 0xffff_ffff;
const VIEW_BYTES = 16;
/** Longest value that lies in its view. */
const SHORT_MAX = 12;

/** Checks that a buffer has so many bytes. @throws DbError InvalidArguments */
export function needBytes(buffer: Uint8Array, length: number, field: ArrowField): void {
  if (buffer.length < length) throw malformed(`column ${field.path} needs a buffer of ${length} bytes; it has ${buffer.length}`);
}

/** `rowCount + 1` ascending offsets that end at `end` or before. @throws DbError InvalidArguments */
export function readOffsets(body: Body, field: ArrowField, rowCount: number, wide: boolean, end: (() => number) | number): Uint32Array {
  const buffer = body.nextBuffer();
  if (rowCount === 0) {
    if (typeof end === "function") end();
    return new Uint32Array(1);
  }
  needBytes(buffer, (rowCount + 1) * (wide ? 8 : 4), field);
  const offsets = wide ? narrowed(body, buffer, rowCount + 1, field) : offsetsIn(body, buffer, rowCount + 1);
  const flaw = flawedOffset(offsets, typeof end === "function" ? end() : end);
  if (flaw >= 0)
    throw malformed(`column ${field.path} has values that do not lie one behind the other, or behind their end, at row ${flaw}`);
  return offsets;
}

function offsetsIn({ scratch }: Body, buffer: Uint8Array, count: number): Uint32Array {
  const bytes = scratch.aligned(buffer.subarray(0, count * 4), 4);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, count);
}

function narrowed(body: Body, buffer: Uint8Array, count: number, field: ArrowField): Uint32Array {
  const words = offsetsIn(body, buffer, count * 2);
  const offsets = body.scratch.words(count);
  for (let i = 0; i < count; i++) {
    if (words[i * 2 + 1]! !== 0) throw malformed(`column ${field.path} has offsets beyond 4 GiB`);
    offsets[i] = words[i * 2]!;
  }
  return offsets;
}

/** Values with offsets. */
export function readBytes(body: Body, field: ArrowField, rowCount: number, wide: boolean, validity: Validity): BytesVector {
  let bytes: Uint8Array = EMPTY;
  const offsets = readOffsets(body, field, rowCount, wide, () => {
    bytes = body.nextBuffer();
    return bytes.length;
  });
  return checkedText({ kind: "bytes", offsets, bytes, validity }, field);
}

/** Values of one width. */
export function readFixed(body: Body, field: ArrowField, rowCount: number, width: number, validity: Validity): BytesVector {
  const bytes = body.nextBuffer();
  needBytes(bytes, rowCount * width, field);
  if (rowCount * width > UINT32_MAX) throw malformed(`column ${field.path} has more than 4 GiB`);
  body.allowance.take((rowCount + 1) * 4);
  const offsets = new Uint32Array(rowCount + 1);
  for (let row = 0; row < offsets.length; row++) offsets[row] = row * width;
  return { kind: "bytes", offsets, bytes, validity };
}

/**
 * Values by views, which are short ones themselves or say where longer ones lie.
 *
 *   ┌ length: i32 ┬ 12 bytes ┐   or   ┌ length: i32 ┬ first 4 bytes ┬ buffer: i32 ┬ at: i32 ┐
 */
export function readViews(body: Body, field: ArrowField, rowCount: number, validity: Validity): BytesVector {
  const buffer = body.nextBuffer();
  const data = Array.from({ length: body.nextViews() }, () => body.nextBuffer());
  needBytes(buffer, rowCount * VIEW_BYTES, field);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const offsets = new Uint32Array(rowCount + 1);
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    if (validity === undefined || validity[row]! !== 0) length += checkedView(view, row, data, field);
    if (length > UINT32_MAX) throw malformed(`column ${field.path} has more than 4 GiB`);
    offsets[row + 1] = length;
  }
  body.allowance.take(length);
  const bytes = new Uint8Array(length);
  for (let row = 0; row < rowCount; row++) {
    const size = offsets[row + 1]! - offsets[row]!;
    if (size === 0) continue;
    const at = row * VIEW_BYTES;
    if (size <= SHORT_MAX) for (let i = 0, to = offsets[row]!; i < size; i++) bytes[to + i] = buffer[at + 4 + i]!;
    else {
      const from = view.getInt32(at + 12, true);
      bytes.set(data[view.getInt32(at + 8, true)]!.subarray(from, from + size), offsets[row]!);
    }
  }
  return checkedText({ kind: "bytes", offsets, bytes, validity }, field);
}

/** Length of a value, once it is known to lie where it says. */
function checkedView(view: DataView, row: number, data: readonly Uint8Array[], field: ArrowField): number {
  const at = row * VIEW_BYTES;
  const size = view.getInt32(at, true);
  if (size < 0) throw malformed(`column ${field.path} has a value of ${size} bytes`);
  if (size <= SHORT_MAX) return size;
  const buffer = data[view.getInt32(at + 8, true)];
  const from = view.getInt32(at + 12, true);
  if (buffer === undefined || from < 0 || from + size > buffer.length)
    throw malformed(`column ${field.path} has a value outside of its buffers`);
  return size;
}

/** The vector, whose text is UTF-8: the server's loops rely on it. */
function checkedText(vector: BytesVector, field: ArrowField): BytesVector {
  if (field.type.kind !== "string") return vector;
  const { offsets, bytes } = vector;
  const text = bytes.subarray(offsets[0], offsets[offsets.length - 1]);
  if (isAscii(text)) return vector;
  if (!isUtf8(text) || splitCharacter(offsets, bytes) >= 0) throw malformed(`column ${field.path} has text that is not UTF-8`);
  return vector;
}
