/**
 * DELTA_BINARY_PACKED, writing: integers as differences, packed in the bits they need.
 *
 *   | 128 | 4 | count | first |   then, for each 128 deltas:   | min delta | width × 4 | 32 × (delta − min) × 4 |
 *   varint varint varint zigzag                                zigzag      1 B each     width × 4 B each; an empty tail is left out
 *
 * Two ways to choose a miniblock's width: "tight", the bits it needs; "aligned", rounded up to 0, 1, 2, 4 or whole bytes, with a min
 * delta rounded down so that equal deltas get equal bits in every block. Aligned pages are larger, but zstd's entropy coder then sees the
 * deltas themselves and gets below the tight size. Random walk of 0..100 by series of 250 rows, bits a value: entropy 2.2; tight 4.0,
 * with zstd 3.8; aligned with zstd 3.6, and with rounded min deltas 3.0 (delta-binary-packed.bench.ts). Both unpack 1.1G values/s once
 * their functions are compiled; aligned pages need fewer of them.
 *
 * Source: Apache Parquet, Encodings.md.
 */
import type { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { packer } from "./bit-pack.ts";

/** Values of a block. */
export const DELTA_BLOCK_VALUES = 128;
/** Miniblocks of a block; each holds 32 values. */
export const DELTA_MINIBLOCKS = 4;

/** How miniblock widths are chosen. */
export type DeltaWidths = "tight" | "aligned";

const low = new Uint32Array(DELTA_BLOCK_VALUES);
const high = new Uint32Array(DELTA_BLOCK_VALUES);
const deltas = new Int32Array(DELTA_BLOCK_VALUES);
const wideDeltas = new Float64Array(DELTA_BLOCK_VALUES);

const ALIGNED_WIDTH: Uint8Array = Uint8Array.from({ length: 65 }, (_, width) => {
  if (width <= 2) return width;
  return width <= 4 ? 4 : Math.ceil(width / 8) * 8;
});
const TIGHT_WIDTH: Uint8Array = Uint8Array.from({ length: 65 }, (_, width) => width);

/** Bytes that `count` values take at most, header included. */
function worstCase(count: number): number {
  const blocks = Math.ceil(count / DELTA_BLOCK_VALUES);
  return 40 + blocks * (10 + DELTA_MINIBLOCKS + DELTA_BLOCK_VALUES * 8);
}

function writeHeader(out: ByteWriter, count: number, first: bigint): void {
  out.reserve(worstCase(count));
  out.varint(DELTA_BLOCK_VALUES);
  out.varint(DELTA_MINIBLOCKS);
  out.varint(count);
  let rest = BigInt.asUintN(64, (first << 1n) ^ (first >> 63n));
  for (; rest >= 0x80n; rest >>= 7n) out.u8(Number(rest & 0x7fn) | 0x80);
  out.u8(Number(rest));
}

/**
 * Appends `values[0, count)`, whose largest and smallest differ by less than 2^31.
 *
 * @param first the first value itself; `values` may all be shifted by a constant, since only their differences are stored
 */
export function encodeDelta32(out: ByteWriter, first: bigint, values: Int32Array, count: number, widths: DeltaWidths): void {
  writeHeader(out, count, first);
  const widthTable = widths === "aligned" ? ALIGNED_WIDTH : TIGHT_WIDTH;
  for (let start = 1; start < count; start += DELTA_BLOCK_VALUES) {
    const length = Math.min(DELTA_BLOCK_VALUES, count - start);
    const minDelta = subtractNeighbours32(values, start, length, widths);
    for (let i = length; i < DELTA_BLOCK_VALUES; i++) low[i] = 0;
    writeZigzagNumber(out, minDelta);
    const widthsAt = out.length;
    out.length += DELTA_MINIBLOCKS;
    for (let miniblock = 0; miniblock < DELTA_MINIBLOCKS; miniblock++) {
      const from = miniblock * 32;
      const width = from < length ? widthTable[32 - Math.clz32(orOf32(low, from))]! : 0;
      out.buffer[widthsAt + miniblock] = width;
      if (width === 0) continue;
      packer(width)(out.view, out.length, low, high, from);
      out.length += width * 4;
    }
  }
}

/** Fills `low[0, length)` with the deltas before `values[start + i]` less the block's min delta, which it returns. */
function subtractNeighbours32(values: Int32Array, start: number, length: number, widths: DeltaWidths): number {
  let previous = values[start - 1]!;
  let minDelta = 0x7fff_ffff;
  let maxDelta = -0x8000_0000;
  for (let i = 0; i < length; i++) {
    const value = values[start + i]!;
    const delta = (value - previous) | 0;
    deltas[i] = delta;
    minDelta = delta < minDelta ? delta : minDelta;
    maxDelta = delta > maxDelta ? delta : maxDelta;
    previous = value;
  }
  if (widths === "aligned") minDelta = roundedMinDelta(minDelta, maxDelta);
  for (let i = 0; i < length; i++) low[i] = (deltas[i]! - minDelta) | 0;
  return minDelta;
}

/**
 * A number at or below `minDelta` that neighbouring blocks are likely to share: minus half of the range of an aligned width for deltas of
 * both signs, a multiple of that for others. The smallest itself where few bits do, or where rounding would cost a width.
 */
function roundedMinDelta(minDelta: number, maxDelta: number): number {
  const range = maxDelta - minDelta;
  if (range < 4) return minDelta;
  for (const half of HALF_RANGES) {
    if (minDelta < 0 && minDelta >= -half) return -half;
    if (minDelta >= 0 && range < half * 2) {
      const rounded = Math.floor(minDelta / half) * half;
      return maxDelta - rounded < half * 2 ? rounded : minDelta;
    }
  }
  return minDelta;
}

/** Half of what 4, 8, 16, 24 and 32 bits count. */
const HALF_RANGES: readonly number[] = [8, 128, 32_768, 8_388_608, 2_147_483_648];

function orOf32(values: Uint32Array, from: number): number {
  let all = 0;
  for (let i = from; i < from + 32; i++) all |= values[i]!;
  return all;
}

/**
 * Appends `values[0, count)`: exact whole numbers whose largest and smallest differ by less than 2^52.
 *
 * @param first the first value itself; `values` may all be shifted by a constant
 */
export function encodeDelta64(out: ByteWriter, first: bigint, values: Float64Array, count: number, widths: DeltaWidths): void {
  writeHeader(out, count, first);
  const widthTable = widths === "aligned" ? ALIGNED_WIDTH : TIGHT_WIDTH;
  for (let start = 1; start < count; start += DELTA_BLOCK_VALUES) {
    const length = Math.min(DELTA_BLOCK_VALUES, count - start);
    const minDelta = subtractNeighbours64(values, start, length);
    for (let i = length; i < DELTA_BLOCK_VALUES; i++) {
      low[i] = 0;
      high[i] = 0;
    }
    writeZigzagNumber(out, minDelta);
    const widthsAt = out.length;
    out.length += DELTA_MINIBLOCKS;
    for (let miniblock = 0; miniblock < DELTA_MINIBLOCKS; miniblock++) {
      const from = miniblock * 32;
      const width = from < length ? widthTable[bitWidth64(from)]! : 0;
      out.buffer[widthsAt + miniblock] = width;
      if (width === 0) continue;
      packer(width)(out.view, out.length, low, high, from);
      out.length += width * 4;
    }
  }
}

function subtractNeighbours64(values: Float64Array, start: number, length: number): number {
  let previous = values[start - 1]!;
  let minDelta = Number.POSITIVE_INFINITY;
  let maxDelta = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < length; i++) {
    const value = values[start + i]!;
    const delta = value - previous;
    wideDeltas[i] = delta;
    if (delta < minDelta) minDelta = delta;
    if (delta > maxDelta) maxDelta = delta;
    previous = value;
  }
  if (maxDelta - minDelta < 0x8000_0000) {
    // The usual block: no series border in it, so that 32-bit arithmetic does.
    for (let i = 0; i < length; i++) {
      low[i] = (wideDeltas[i]! - minDelta) | 0;
      high[i] = 0;
    }
    return minDelta;
  }
  for (let i = 0; i < length; i++) {
    const excess = wideDeltas[i]! - minDelta;
    const top = Math.floor(excess / 0x1_0000_0000);
    high[i] = top;
    low[i] = excess - top * 0x1_0000_0000;
  }
  return minDelta;
}

function bitWidth64(from: number): number {
  const top = orOf32(high, from);
  return top === 0 ? 32 - Math.clz32(orOf32(low, from)) : 64 - Math.clz32(top);
}

/** A whole number within ±2^52. Room was reserved. */
function writeZigzagNumber(out: ByteWriter, value: number): void {
  out.varint(value < 0 ? -2 * value - 1 : 2 * value);
}
