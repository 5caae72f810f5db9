/**
 * Arrays that only grow and that workers may read while they do: what is large lies on shared memory, so that a flush of a million series
 * sends references. Small ones are ordinary, since a piece of shared memory costs about 900 B more than its bytes (measured).
 */

/** Bytes from which an array lies on shared memory. */
const SHARED_BYTES_MIN = 16 * 1024;

/** Zeros. */
export function newWords(length: number): Uint32Array<ArrayBufferLike> {
  return length * 4 < SHARED_BYTES_MIN ? new Uint32Array(length) : new Uint32Array(new SharedArrayBuffer(length * 4));
}

/** Zeros. */
export function newBytes(length: number): Uint8Array<ArrayBufferLike> {
  return length < SHARED_BYTES_MIN ? new Uint8Array(length) : new Uint8Array(new SharedArrayBuffer(length));
}

/** A longer array that begins with the values of `array`; who holds the old one sees what it held. */
export function grownWords(array: Uint32Array<ArrayBufferLike>, length: number): Uint32Array<ArrayBufferLike> {
  const grown = newWords(length);
  grown.set(array);
  return grown;
}

/** As `grownWords`. */
export function grownBytes(array: Uint8Array<ArrayBufferLike>, length: number): Uint8Array<ArrayBufferLike> {
  const grown = newBytes(length);
  grown.set(array);
  return grown;
}

/** The smallest power of two that is not below `count`. */
export function powerOfTwoFrom(count: number): number {
  let power = 1;
  while (power < count) power *= 2;
  return power;
}
