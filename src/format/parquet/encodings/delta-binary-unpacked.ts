/**
 * DELTA_BINARY_PACKED, reading: unpacks and sums in one pass, 32 values at a time, straight into an array as narrow as the values allow.
 *
 * The layout is in delta-binary-packed.ts. Integers that fit 32 bits need only the low 32 bits of every difference; others are exact as
 * doubles, because the writer uses this encoding only for pages that span less than 2^52.
 */
import { type IntArray, doubleSummer, intSummer } from "./bit-pack.ts";
import type { ByteCursor } from "./byte-cursor.ts";
import { DELTA_BLOCK_VALUES, DELTA_MINIBLOCKS } from "./delta-binary-packed.ts";

/** Elements that an array for `count` decoded values needs: whole miniblocks after the first value. */
export function deltaCapacity(count: number): number {
  return count === 0 ? 0 : 1 + Math.ceil((count - 1) / 32) * 32;
}

/** Reads the header and returns the first value. @throws DbError StorageUnavailable when it is not for `count` values */
function readDeltaHeader(cursor: ByteCursor, count: number): bigint {
  const blockValues = cursor.varint32();
  const miniblocks = cursor.varint32();
  const stored = cursor.varint32();
  if (blockValues !== DELTA_BLOCK_VALUES || miniblocks !== DELTA_MINIBLOCKS) {
    cursor.fail(`delta blocks of ${blockValues} values in ${miniblocks} parts, which we never write`);
  }
  if (stored !== count) cursor.fail(`${stored} delta values where ${count} belong`);
  return cursor.zigzag64();
}

/**
 * Reads `count` values, all within 32 bits (signed or not) and within the element type of `out`.
 *
 * @param out `deltaCapacity(count)` elements
 */
export function decodeDeltaInts(cursor: ByteCursor, count: number, out: IntArray): void {
  let total = Number(BigInt.asIntN(32, readDeltaHeader(cursor, count)));
  if (count === 0) return;
  const bytesPerElement = out.BYTES_PER_ELEMENT as 1 | 2 | 4;
  out[0] = total;
  for (let row = 1; row < count; ) {
    const minDelta = cursor.zigzagNumber() | 0;
    const widthsAt = cursor.take(DELTA_MINIBLOCKS);
    for (let miniblock = 0; miniblock < DELTA_MINIBLOCKS && row < count; miniblock++, row += 32) {
      const width = cursor.bytes[widthsAt + miniblock]!;
      if (width === 0) {
        total = fillInts(out, row, total, minDelta);
        continue;
      }
      if (width > 64) cursor.fail(`a bit width of ${width}`);
      total = intSummer(width, bytesPerElement)(cursor.view, cursor.take(width * 4), out, row, total, minDelta);
    }
  }
}

/**
 * Reads `count` values into offsets from `base`.
 *
 * @param out `deltaCapacity(count)` elements
 */
export function decodeDeltaDoubles(cursor: ByteCursor, count: number, out: Float64Array, base: bigint): void {
  // Modulo 2^64, since unsigned values are stored by their bits.
  const first = BigInt.asIntN(64, readDeltaHeader(cursor, count) - base);
  if (count === 0) return;
  let total = Number(first);
  if (!Number.isSafeInteger(total)) cursor.fail(`a first value 2^53 or more away from ${base}`);
  out[0] = total;
  for (let row = 1; row < count; ) {
    const minDelta = cursor.zigzagNumber();
    const widthsAt = cursor.take(DELTA_MINIBLOCKS);
    for (let miniblock = 0; miniblock < DELTA_MINIBLOCKS && row < count; miniblock++, row += 32) {
      const width = cursor.bytes[widthsAt + miniblock]!;
      if (width === 0) {
        total = fillDoubles(out, row, total, minDelta);
        continue;
      }
      // Aligned widths round up to 56; the bits above 53 are zero in everything we wrote.
      const summer = width <= 53 ? doubleSummer(width) : width === 56 ? doubleSummer56 : undefined;
      if (summer === undefined) cursor.fail(`a bit width of ${width}`);
      total = summer(cursor.view, cursor.take(width * 4), out, row, total, minDelta);
    }
  }
}

function fillInts(out: IntArray, from: number, before: number, minDelta: number): number {
  let total = before;
  for (let i = from; i < from + 32; i++) {
    total = (total + minDelta) | 0;
    out[i] = total;
  }
  return total;
}

function fillDoubles(out: Float64Array, from: number, before: number, minDelta: number): number {
  let total = before;
  for (let i = from; i < from + 32; i++) {
    total += minDelta;
    out[i] = total;
  }
  return total;
}

function doubleSummer56(view: DataView, at: number, out: Float64Array, to: number, before: number, minDelta: number): number {
  let total = before;
  for (let i = 0; i < 32; i++) {
    const low = view.getUint32(at + i * 7, true);
    const high = view.getUint16(at + i * 7 + 4, true) + view.getUint8(at + i * 7 + 6) * 0x1_0000;
    total += high * 0x1_0000_0000 + low + minDelta;
    out[to + i] = total;
  }
  return total;
}
