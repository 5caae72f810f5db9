/** Longer copies of arrays that grow: at least twice as long, so that growing takes constant time an element in the end. */

/** Arrays that grow. Not a `Buffer`, whose constructor makes other memory. */
type GrowingArray = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** The elements and zeros behind them, `length` in all; `length >= array.length`. */
export function resized<A extends GrowingArray>(array: A, length: number): A {
  // The type of `constructor` does not say that an array's makes such arrays.
  const made = new (array.constructor as new (length: number) => A)(length);
  made.set(array);
  return made;
}

/** The elements and zeros behind them: `length` in all at least. */
export function longer<A extends GrowingArray>(array: A, length: number = array.length + 1): A {
  return resized(array, Math.max(length, array.length * 2));
}

/** The words and zeros behind them: `length` words at least. */
export function longerWords(words: Uint32Array, length?: number): Uint32Array<ArrayBuffer> {
  return longer(words as Uint32Array<ArrayBuffer>, length);
}

/** The first `used` bytes and zeros behind them: `length` bytes at least. */
export function longerBytes(bytes: Uint8Array, used: number, length: number): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(Math.max(length, bytes.length * 2));
  longer.set(bytes.subarray(0, used));
  return longer;
}
