/**
 * The blob of page sums: eight bytes a page, little-endian doubles, row group by row group, numeric field by numeric field, page by page.
 * Which columns count as numeric follows from their descriptions alone.
 */
import type { ParquetColumn } from "../types.ts";

/** Whether pages of the column have sums: integer and float fields. */
export function hasPageSums(column: ParquetColumn): boolean {
  return column.role === "field" && (column.type.kind === "int" || column.type.kind === "float");
}

/** The blob for sums in file order. */
export function encodePageSums(sums: readonly number[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(sums.length * 8));
  for (let i = 0; i < sums.length; i++) view.setFloat64(i * 8, sums[i]!, true);
  return new Uint8Array(view.buffer);
}

/** `count` sums from byte `at` of the blob on, or undefined when the blob is shorter. */
export function decodePageSums(blob: Uint8Array, at: number, count: number): Float64Array | undefined {
  if (at + count * 8 > blob.length) return undefined;
  const view = new DataView(blob.buffer, blob.byteOffset, blob.length);
  const sums = new Float64Array(count);
  for (let i = 0; i < count; i++) sums[i] = view.getFloat64(at + i * 8, true);
  return sums;
}
