/**
 * Bounds and sums of one page, and how Parquet stores a bound: little-endian numbers, raw bytes for strings (cut to a prefix).
 *
 * Only values are looked at, never what lies under NULL. Loops are monomorphic, one function an array kind.
 */
import { BOUND_BYTES_MAX } from "../limits.ts";
import { PhysicalType } from "../schema/physical-type.ts";

/** Bounds and sum of the numbers of a page. `min > max` when there are none. `sum` is NaN when a double may not hold it exactly. */
export interface NumberStatistics {
  min: number;
  max: number;
  sum: number;
  hasNaN: boolean;
}

/** Statistics of whole numbers `values[0, count)`. */
export function statisticsOfInts(values: Int32Array, count: number): NumberStatistics {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  if (count > 0) {
    let low = values[0]!;
    let high = low;
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      low = value < low ? value : low;
      high = value > high ? value : high;
      sum += value;
    }
    min = low;
    max = high;
  }
  return { min, max, sum, hasNaN: false };
}

/** Statistics of whole numbers `values[0, count)` held as doubles. */
export function statisticsOfWholes(values: Float64Array, count: number): NumberStatistics {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
  }
  const largest = Math.max(Math.abs(min), Math.abs(max));
  if (count > 0 && largest * count > Number.MAX_SAFE_INTEGER) sum = Number.NaN;
  return { min, max, sum, hasNaN: false };
}

/** Statistics of floats `values[0, count)`. Bounds leave NaN out; a zero bound takes the sign that includes both zeros. */
export function statisticsOfFloats(values: Float64Array | Float32Array, count: number): NumberStatistics {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  let nanCount = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
    if (value !== value) nanCount++;
    sum += value;
  }
  // Infinities of both signs sum to NaN as well, which again means "decode the page".
  if (min === 0) min = -0;
  if (max === 0) max = 0;
  return { min, max, sum, hasNaN: nanCount > 0 };
}

const scratch = new DataView(new ArrayBuffer(8));

/** The bytes of a numeric bound. `value` is of the physical type; unsigned numbers keep their bits. */
export function encodeBound(physical: PhysicalType, value: number | bigint): Uint8Array<ArrayBuffer> {
  switch (physical) {
    case PhysicalType.Boolean:
      return Uint8Array.of(Number(value));
    case PhysicalType.Int32:
      scratch.setInt32(0, Number(value), true);
      return new Uint8Array(scratch.buffer.slice(0, 4));
    case PhysicalType.Float:
      scratch.setFloat32(0, Number(value), true);
      return new Uint8Array(scratch.buffer.slice(0, 4));
    case PhysicalType.Double:
      scratch.setFloat64(0, Number(value), true);
      return new Uint8Array(scratch.buffer.slice(0));
    default:
      scratch.setBigInt64(0, BigInt.asIntN(64, BigInt(value)), true);
      return new Uint8Array(scratch.buffer.slice(0));
  }
}

/** -1, 0 or 1 as `a` is below, equal to or above `b`, byte by byte, unsigned. */
export function compareBytes(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  const difference = aEnd - aStart - (bEnd - bStart);
  return difference === 0 ? 0 : difference < 0 ? -1 : 1;
}

/** A prefix of `value` that is not above it. */
export function lowerBound(value: Uint8Array): Uint8Array {
  return copyOf(value, prefixLength(value));
}

/** A short byte string that is not below `value`; the value itself when there is none (a prefix of 0xFF only). */
export function upperBound(value: Uint8Array): Uint8Array {
  if (value.length <= BOUND_BYTES_MAX) return copyOf(value, value.length);
  const prefix = copyOf(value, prefixLength(value));
  for (let i = prefix.length - 1; i >= 0; i--) {
    // Adding one to the last byte of a UTF-8 character below 0x7F keeps the text valid; other readers decode bounds as text.
    if (prefix[i]! < 0x7f) {
      prefix[i]!++;
      return prefix.slice(0, i + 1);
    }
  }
  for (let i = prefix.length - 1; i >= 0; i--) {
    if (prefix[i]! < 0xff) {
      prefix[i]!++;
      return prefix.slice(0, i + 1);
    }
  }
  return copyOf(value, value.length);
}

/** A copy of the first bytes. Not `slice`, which is a view on the Buffers that Bun returns. */
function copyOf(value: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(value.subarray(0, length));
}

/** At most BOUND_BYTES_MAX, moved back to the border of a UTF-8 character. */
function prefixLength(value: Uint8Array): number {
  if (value.length <= BOUND_BYTES_MAX) return value.length;
  let length = BOUND_BYTES_MAX;
  while (length > BOUND_BYTES_MAX - 4 && (value[length]! & 0xc0) === 0x80) length--;
  return (value[length]! & 0xc0) === 0x80 ? BOUND_BYTES_MAX : length;
}
