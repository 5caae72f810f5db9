/**
 * Strings and binary: DELTA_LENGTH_BYTE_ARRAY in data pages, PLAIN in dictionaries.
 *
 *   DELTA_LENGTH_BYTE_ARRAY  | lengths, DELTA_BINARY_PACKED | bytes of all values |
 *   PLAIN                    | length u32 | bytes |   a value
 *
 * Source: Apache Parquet, Encodings.md.
 */
import type { TextTable } from "../../../column/text-table.ts";
import type { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import type { ByteCursor } from "./byte-cursor.ts";
import { type DeltaWidths, encodeDelta32 } from "./delta-binary-packed.ts";
import { decodeDeltaInts, deltaCapacity } from "./delta-binary-unpacked.ts";

let lengthScratch = new Int32Array(1 << 14);

/**
 * Appends the values of rows `[start, end)` that are not NULL.
 *
 * @param offsets row i is `bytes[offsets[i], offsets[i + 1])`
 */
export function encodeDeltaLengths(
  out: ByteWriter,
  rows: { readonly offsets: Uint32Array; readonly bytes: Uint8Array; readonly validity: Uint8Array | undefined },
  start: number,
  end: number,
  widths: DeltaWidths,
): void {
  if (lengthScratch.length < end - start) lengthScratch = new Int32Array(end - start);
  const { offsets, bytes, validity } = rows;
  let count = 0;
  let skipped = 0;
  for (let row = start; row < end; row++) {
    const length = offsets[row + 1]! - offsets[row]!;
    if (validity === undefined || validity[row] !== 0) lengthScratch[count++] = length;
    else skipped += length;
  }
  encodeDelta32(out, BigInt(count === 0 ? 0 : lengthScratch[0]!), lengthScratch, count, widths);
  if (skipped === 0) {
    out.raw(bytes.subarray(offsets[start], offsets[end]));
    return;
  }
  for (let row = start; row < end; row++) {
    if (validity![row] !== 0) out.raw(bytes.subarray(offsets[row], offsets[row + 1]));
  }
}

/**
 * Reads `count` values: fills `offsets[0..count]` with positions counted from 0 and returns the bytes, a view.
 *
 * @param offsets at least `count + 1` elements
 */
export function decodeDeltaLengths(cursor: ByteCursor, count: number, offsets: Uint32Array): Uint8Array {
  const lengths = new Int32Array(deltaCapacity(count));
  decodeDeltaInts(cursor, count, lengths);
  const left = cursor.end - cursor.at;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const length = lengths[i]!;
    if (length < 0 || length > left - total) cursor.fail(`value ${i} of ${length} bytes, ${left - total} left`);
    offsets[i] = total;
    total += length;
  }
  offsets[count] = total;
  const at = cursor.take(total);
  return cursor.bytes.subarray(at, at + total);
}

/** Appends one value of a PLAIN page. */
export function encodePlainBytes(out: ByteWriter, value: Uint8Array): void {
  out.u32(value.length);
  out.raw(value);
}

/** Appends all texts but NULL as values of a PLAIN page: no view a text, and room is made once. */
export function encodePlainTexts(out: ByteWriter, { size, bytes, starts }: TextTable): void {
  out.reserve((size - 1) * 4 + starts[size]!);
  for (let code = 1; code < size; code++) {
    const start = starts[code]!;
    const end = starts[code + 1]!;
    out.u32(end - start);
    const { buffer: target } = out;
    let at = out.length;
    for (let i = start; i < end; i++) target[at++] = bytes[i]!;
    out.length = at;
  }
}

/** Reads `count` values of a PLAIN page into positions and bytes of their own. */
export function decodePlainBytes(cursor: ByteCursor, count: number): { offsets: Uint32Array; bytes: Uint8Array } {
  if (count > cursor.end / 4) cursor.fail(`${count} values in ${cursor.end} bytes`);
  const offsets = new Uint32Array(count + 1);
  const bytes = new Uint8Array(cursor.end - count * 4);
  let total = 0;
  for (let i = 0; i < count; i++) {
    const length = cursor.u32();
    const at = cursor.take(length);
    if (length > bytes.length - total) cursor.fail(`more bytes than ${count} values have`);
    bytes.set(cursor.bytes.subarray(at, at + length), total);
    total += length;
    offsets[i + 1] = total;
  }
  if (total !== bytes.length) cursor.fail(`${bytes.length - total} bytes left over`);
  return { offsets, bytes };
}
