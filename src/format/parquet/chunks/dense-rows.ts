/**
 * Scratch memory that holds the values of one page without its NULL rows, in the element type that the encoders loop over.
 *
 * Encoders then see one array type each, whatever the caller's arrays are. Grows to the largest page and is kept.
 */
import { halvesOf, moveHalves } from "../../../column/double-bits.ts";
import type { NumberArray } from "../../../column/vector.ts";

let ints = new Int32Array(1 << 14);
let doubles = new Float64Array(1 << 14);
let floats = new Float32Array(0);
let wides = new BigInt64Array(0);

/** Rows `[start, end)` of an array of whole numbers within 32 bits signed. Valid until the next call. */
export function denseInts(values: NumberArray, validity: Uint8Array | undefined, start: number, end: number): Int32Array {
  if (ints.length < end - start) ints = new Int32Array(end - start);
  ints.set(values.subarray(start, end));
  if (validity !== undefined) {
    let count = 0;
    for (let row = start; row < end; row++) {
      ints[count] = ints[row - start]!;
      count += validity[row]!;
    }
  }
  return ints;
}

/** The same memory as `denseInts`, for values computed elsewhere. */
export function intScratch(count: number): Int32Array {
  if (ints.length < count) ints = new Int32Array(count);
  return ints;
}

/** Rows `[start, end)` of any numbers as doubles. Valid until the next call. */
export function denseDoubles(values: NumberArray, validity: Uint8Array | undefined, start: number, end: number): Float64Array {
  if (doubles.length < end - start) doubles = new Float64Array(end - start);
  doubles.set(values.subarray(start, end));
  if (validity !== undefined) {
    const halves = halvesOf(doubles);
    let count = 0;
    for (let row = start; row < end; row++) {
      const value = doubles[row - start]!;
      if (Number.isNaN(value)) moveHalves(halves, row - start, halves, count);
      else doubles[count] = value;
      count += validity[row]!;
    }
  }
  return doubles;
}

/** The same memory as `denseDoubles`, for values computed elsewhere. */
export function doubleScratch(count: number): Float64Array {
  if (doubles.length < count) doubles = new Float64Array(count);
  return doubles;
}

/** Rows `[start, end)` as 32-bit floats. Valid until the next call. */
export function denseFloats(values: NumberArray, validity: Uint8Array | undefined, start: number, end: number): Float32Array {
  if (floats.length < end - start) floats = new Float32Array(end - start);
  floats.set(values.subarray(start, end));
  if (validity !== undefined) {
    let count = 0;
    for (let row = start; row < end; row++) {
      floats[count] = floats[row - start]!;
      count += validity[row]!;
    }
  }
  return floats;
}

/** Rows `[start, end)` of 64-bit integers, their bits as signed. Valid until the next call. */
export function denseWides(
  values: BigInt64Array | BigUint64Array,
  validity: Uint8Array | undefined,
  start: number,
  end: number,
): BigInt64Array {
  if (wides.length < end - start) wides = new BigInt64Array(end - start);
  wides.set(new BigInt64Array(values.buffer, values.byteOffset + start * 8, end - start));
  if (validity !== undefined) {
    let count = 0;
    for (let row = start; row < end; row++) {
      wides[count] = wides[row - start]!;
      count += validity[row]!;
    }
  }
  return wides;
}

/** The same memory as `denseWides`, for values computed elsewhere. */
export function wideScratch(count: number): BigInt64Array {
  if (wides.length < count) wides = new BigInt64Array(count);
  return wides;
}

/** Number of rows of `[start, end)` that are not NULL. */
export function countValid(validity: Uint8Array | undefined, start: number, end: number): number {
  if (validity === undefined) return end - start;
  let count = 0;
  for (let row = start; row < end; row++) count += validity[row]!;
  return count;
}
