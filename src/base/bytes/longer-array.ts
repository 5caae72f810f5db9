/** Longer copies of arrays that grow: at least twice as long, so that growing takes constant time an element in the end. */

/** Arrays that grow. Not a `Buffer`, whose constructor makes other memory. */
type NumberArray = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array;
type GrowingArray = NumberArray | BigInt64Array;

/** The elements and zeros behind them, `length` in all; `length >= array.length`. */
export function resized<A extends GrowingArray>(array: A, length: number): A {
  // The type of `constructor` does not say that an array's makes such arrays.
  const made = new (array.constructor as new (length: number) => A)(length);
  // Both are of one kind, which the type of `set` does not know.
  (made as NumberArray).set(array as NumberArray);
  return made;
}

/** The elements and zeros behind them: `length` in all at least. */
export function longer<A extends GrowingArray>(array: A, length: number = array.length + 1): A {
  return resized(array, Math.max(length, array.length * 2));
}

/** An array of `length` elements at least: the same when it is long enough. New ones are zero, and there are 64 in all or more. */
export function grown<A extends GrowingArray>(array: A, length: number): A {
  return array.length >= length ? array : longer(array, Math.max(length, 64));
}

/** The first `used` bytes and zeros behind them: `length` bytes at least, `most` at most; `length <= most`. */
export function longerBytes(
  bytes: Uint8Array,
  used: number,
  length: number,
  most: number = Number.POSITIVE_INFINITY,
): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(Math.min(most, Math.max(length, bytes.length * 2)));
  longer.set(bytes.subarray(0, used));
  return longer;
}

/**
 * Elements `[start, end)`, without a copy: the array itself where they are all. A view makes the runtime give the array a buffer that it
 * did not have: 155 instead of 140 ns a row of ten columns (ingest/greptime/decode.bench.ts).
 */
export function partOf<A extends Uint8Array | Uint32Array | Float32Array | Float64Array>(array: A, start: number, end: number): A {
  // A view of an array of one kind is of that kind, which the type of `subarray` does not say.
  return start === 0 && end === array.length ? array : (array.subarray(start, end) as A);
}
