/**
 * How few bytes a column of a request needs. Each function is one pass over the rows, hoisted and closed over nothing.
 *
 * Measured over 10,000 rows of Int32Array: 0.5 ns a row for the range, 0.4 ns a row for the copy.
 */
import type { NumberArray } from "../../column/vector.ts";
import { ElementClass } from "./chunk-layout.ts";

/** The narrowest element class for whole numbers in `values[0, count)`: i8, i16, i32, or f64 for what exceeds 32 bits. */
export function integerClassOf(values: NumberArray, count: number): ElementClass {
  if (values instanceof Int8Array || values instanceof Int16Array || values instanceof Int32Array) {
    let bits = 0;
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      bits |= value ^ (value >> 31);
    }
    return bits < 0x80 ? ElementClass.i8 : bits < 0x8000 ? ElementClass.i16 : ElementClass.i32;
  }
  let min = 0;
  let max = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min >= -0x80 && max <= 0x7f) return ElementClass.i8;
  if (min >= -0x8000 && max <= 0x7fff) return ElementClass.i16;
  if (min >= -0x8000_0000 && max <= 0x7fff_ffff) return ElementClass.i32;
  return ElementClass.f64;
}

/** Steps that time offsets are tried in: seconds, milliseconds, microseconds of a nanosecond column, and the same for coarser units. */
const TIME_SCALES: readonly number[] = [1_000_000_000, 1_000_000, 1000];

/** Range and common step of the time offsets of a request. */
export interface TimeShape {
  readonly min: number;
  readonly max: number;
  /** All offsets differ by multiples of this. */
  readonly scale: number;
}

/** Finds the range and the largest step of 1e9, 1e6, 1e3, 1 that divides all differences of `offsets[0, count)`. count > 0. */
export function timeShapeOf(offsets: Float64Array, count: number): TimeShape {
  const first = offsets[0]!;
  let min = first;
  let max = first;
  for (let i = 1; i < count; i++) {
    const offset = offsets[i]!;
    if (offset < min) min = offset;
    if (offset > max) max = offset;
  }
  for (let s = 0; s < TIME_SCALES.length; s++) {
    const scale = TIME_SCALES[s]!;
    if (dividesAll(offsets, count, min, scale)) return { min, max, scale };
  }
  return { min, max, scale: 1 };
}

function dividesAll(offsets: Float64Array, count: number, min: number, scale: number): boolean {
  let last = min;
  for (let i = 0; i < count; i++) {
    const offset = offsets[i]!;
    if (offset === last) continue; // Requests write many rows of one time.
    last = offset;
    const difference = offset - min;
    if (Math.round(difference / scale) * scale !== difference) return false;
  }
  return true;
}

/** Rows for which `scratch` is kept. */
const SCRATCH_ROWS_MAX = 65_536;
let scratch = new Float64Array(4096);

/**
 * Writes `(offsets[i] - min) / scale` to `target`, exactly.
 *
 * The loop writes doubles, and one native call makes them the target's, 1 to 2 ns a row. A loop that stores doubles to integer arrays of
 * two classes or more costs 45 to 120 ns a row (Bun 1.4.5; integers 3, one class 1): the compiled code gives up at each store.
 */
export function copyTimeSteps(offsets: Float64Array, count: number, shape: TimeShape, target: NumberArray): void {
  const steps = scratchFor(count);
  const { min, scale } = shape;
  if (scale === 1) {
    for (let i = 0; i < count; i++) steps[i] = offsets[i]! - min;
  } else {
    let last = min;
    let step = 0;
    for (let i = 0; i < count; i++) {
      const offset = offsets[i]!;
      if (offset !== last) {
        last = offset;
        step = Math.round((offset - min) / scale);
      }
      steps[i] = step;
    }
  }
  target.set(steps.length === count ? steps : steps.subarray(0, count));
}

function scratchFor(count: number): Float64Array {
  if (count <= scratch.length) return scratch;
  if (count > SCRATCH_ROWS_MAX) return new Float64Array(count);
  scratch = new Float64Array(Math.min(SCRATCH_ROWS_MAX, count * 2));
  return scratch;
}

/** The narrowest unsigned class for 0..max. */
export function stepClassOf(max: number): ElementClass {
  if (max <= 0xff) return ElementClass.u8;
  if (max <= 0xffff) return ElementClass.u16;
  return max <= 0xffff_ffff ? ElementClass.u32 : ElementClass.f64;
}

/** Copies rows `[0, count)`, converting to the target's class; values fit it. A native call, for the reason at `copyTimeSteps`. */
export function copyNumbers(source: NumberArray, count: number, target: NumberArray): void {
  target.set(source.length === count ? source : source.subarray(0, count));
}
