/** Typed arrays by group that grow with the number of groups. */

/** A copy with at least `length` elements, new ones zero; the same array when it is long enough. */
export function grownFloats(array: Float64Array, length: number): Float64Array {
  if (array.length >= length) return array;
  const grown = new Float64Array(Math.max(length, array.length * 2, 64));
  grown.set(array);
  return grown;
}

/** As `grownFloats`, for bytes. */
export function grownBytes(array: Uint8Array, length: number): Uint8Array {
  if (array.length >= length) return array;
  const grown = new Uint8Array(Math.max(length, array.length * 2, 64));
  grown.set(array);
  return grown;
}

/** As `grownFloats`, for codes. */
export function grownCodes(array: Uint32Array, length: number): Uint32Array {
  if (array.length >= length) return array;
  const grown = new Uint32Array(Math.max(length, array.length * 2, 64));
  grown.set(array);
  return grown;
}

/** As `grownFloats`, for integers of a byte. */
export function grownSmall(array: Int8Array, length: number): Int8Array {
  if (array.length >= length) return array;
  const grown = new Int8Array(Math.max(length, array.length * 2, 64));
  grown.set(array);
  return grown;
}
