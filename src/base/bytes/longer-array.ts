/** Longer copies of arrays that grow: at least twice as long, so that growing takes constant time an element in the end. */

/** The words and zeros behind them: `length` words at least. */
export function longerWords(words: Uint32Array, length: number = words.length + 1): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(Math.max(length, words.length * 2));
  longer.set(words);
  return longer;
}

/** The first `used` bytes and zeros behind them: `length` bytes at least. */
export function longerBytes(bytes: Uint8Array, used: number, length: number): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(Math.max(length, bytes.length * 2));
  longer.set(bytes.subarray(0, used));
  return longer;
}
