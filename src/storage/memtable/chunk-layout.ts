/**
 * Where the arrays of a chunk lie in its memory: each starts at a multiple of 8. Used to place a new chunk and to find the arrays of one
 * read back from the log.
 */
import type { NumberArray } from "../../column/vector.ts";

/** Element class of a stored array, with the number that stands for it in the log. */
export const ElementClass = { u8: 0, u16: 1, u32: 2, i8: 3, i16: 4, i32: 5, f32: 6, f64: 7, i64: 8, u64: 9 } as const;
export type ElementClass = (typeof ElementClass)[keyof typeof ElementClass];

const ELEMENT_BYTES: readonly number[] = [1, 2, 4, 1, 2, 4, 4, 8, 8, 8];
/** The arrays of the classes of plain numbers. */
const NUMBER_ARRAYS: readonly (new (buffer: ArrayBufferLike, offset: number, length: number) => NumberArray)[] = [
  Uint8Array,
  Uint16Array,
  Uint32Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Float32Array,
  Float64Array,
];

/** Bytes of one element. */
export function elementBytes(element: ElementClass): number {
  return ELEMENT_BYTES[element] ?? 8;
}

/** Whether a number read from a file stands for an element class. */
export function isElementClass(value: number): value is ElementClass {
  return value >= 0 && value < ELEMENT_BYTES.length;
}

/** The next multiple of 8; right beyond 2^31, where bit operations are not. */
export function align8(offset: number): number {
  return Math.ceil(offset / 8) * 8;
}

/** A plain-number array over `buffer`. `element` is not i64 or u64. */
export function numberArrayOn(buffer: ArrayBufferLike, element: ElementClass, offset: number, length: number): NumberArray {
  return new (NUMBER_ARRAYS[element] ?? Float64Array)(buffer, offset, length);
}

/** The element class of an array. */
export function elementClassOf(array: NumberArray | BigInt64Array | BigUint64Array): ElementClass {
  if (array instanceof Int8Array) return ElementClass.i8;
  if (array instanceof Uint8Array) return ElementClass.u8;
  if (array instanceof Int16Array) return ElementClass.i16;
  if (array instanceof Uint16Array) return ElementClass.u16;
  if (array instanceof Int32Array) return ElementClass.i32;
  if (array instanceof Uint32Array) return ElementClass.u32;
  if (array instanceof Float32Array) return ElementClass.f32;
  if (array instanceof Float64Array) return ElementClass.f64;
  return array instanceof BigInt64Array ? ElementClass.i64 : ElementClass.u64;
}
