/** 64-bit integers of Arrow, which lie as two words of 32 bits each, the lower first, as 32 bits or doubles: no bigint a row. */

const WORD = 0x1_0000_0000;
/** High words of numbers within ±2^53. */
const HIGH_MAX = 0x1f_ffff;

/** Rows that are copied at a time where they do not lie at a multiple of 4. */
const PIECE_ROWS = 2048;
const piece = new Int32Array(PIECE_ROWS * 2);
const pieceBytes = new Uint8Array(piece.buffer);

/** Writes integers to `values`; false where one has more than 32 bits, whatever stands for it. `bytes` may lie anywhere. */
export function narrowIntegers(bytes: Uint8Array, rowCount: number, signed: boolean, values: Int32Array): boolean {
  const isAligned = bytes.byteOffset % 4 === 0;
  const step = isAligned ? rowCount : PIECE_ROWS;
  for (let from = 0; from < rowCount; from += step) {
    const to = Math.min(rowCount, from + step);
    if (!isAligned) pieceBytes.set(bytes.subarray(from * 8, to * 8));
    const words = isAligned ? new Int32Array(bytes.buffer, bytes.byteOffset, rowCount * 2) : piece;
    if (!(signed ? narrowSigned : narrowUnsigned)(words, from, to, values)) return false;
  }
  return true;
}

function narrowSigned(words: Int32Array, from: number, to: number, values: Int32Array): boolean {
  let beyond = 0;
  for (let row = from, at = 0; row < to; row++, at += 2) {
    const low = words[at]!;
    beyond |= words[at + 1]! ^ (low >> 31);
    values[row] = low;
  }
  return beyond === 0;
}

function narrowUnsigned(words: Int32Array, from: number, to: number, values: Int32Array): boolean {
  let beyond = 0;
  for (let row = from, at = 0; row < to; row++, at += 2) {
    const low = words[at]!;
    beyond |= words[at + 1]! | (low >> 31);
    values[row] = low;
  }
  return beyond === 0;
}

/** Writes integers to `values`; false where one lies beyond ±2^53. What stands for NULL is arbitrary, and comes as 0 where it is beyond. */
export function wholeDoubles(
  words: Uint32Array,
  rowCount: number,
  signed: boolean,
  validity: Uint8Array | undefined,
  values: Float64Array,
): boolean {
  for (let row = 0; row < rowCount; row++) {
    const low = words[row * 2]!;
    const word = words[row * 2 + 1]!;
    const high = signed ? word | 0 : word;
    if (high > HIGH_MAX || high < -HIGH_MAX - 1 || (high === -HIGH_MAX - 1 && low === 0)) {
      if (validity === undefined || validity[row]! !== 0) return false;
      values[row] = 0;
      continue;
    }
    values[row] = high * WORD + low;
  }
  return true;
}

/** Writes integers to `offsets`, as exact distances from `base`; false where one is 2^53 or more. */
export function timeOffsets(
  words: Uint32Array,
  rowCount: number,
  base: bigint,
  validity: Uint8Array | undefined,
  offsets: Float64Array,
): boolean {
  const baseLow = Number(BigInt.asUintN(32, base));
  const baseHigh = Number(base >> 32n);
  for (let row = 0; row < rowCount; row++) {
    const offset = ((words[row * 2 + 1]! | 0) - baseHigh) * WORD + (words[row * 2]! - baseLow);
    if (offset > Number.MAX_SAFE_INTEGER || offset < Number.MIN_SAFE_INTEGER) {
      if (validity === undefined || validity[row]! !== 0) return false;
      offsets[row] = 0;
      continue;
    }
    offsets[row] = offset;
  }
  return true;
}

/** Bits as bytes of 0 and 1, which are written to `bytes`. */
export function unpackedBits<B extends Uint8Array>(bits: Uint8Array, rowCount: number, bytes: B): B {
  const whole = rowCount >> 3;
  for (let i = 0, row = 0; i < whole; i++, row += 8) {
    const byte = bits[i]!;
    bytes[row] = byte & 1;
    bytes[row + 1] = (byte >> 1) & 1;
    bytes[row + 2] = (byte >> 2) & 1;
    bytes[row + 3] = (byte >> 3) & 1;
    bytes[row + 4] = (byte >> 4) & 1;
    bytes[row + 5] = (byte >> 5) & 1;
    bytes[row + 6] = (byte >> 6) & 1;
    bytes[row + 7] = byte >> 7;
  }
  for (let row = whole * 8; row < rowCount; row++) bytes[row] = (bits[row >> 3]! >> (row & 7)) & 1;
  return bytes;
}

/** The first offset that is less than the one before it, or beyond `end`; -1: there is none. */
export function flawedOffset(offsets: Uint32Array, end: number): number {
  let before = 0;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i]!;
    if (offset < before) return i;
    before = offset;
  }
  return before > end ? offsets.length - 1 : -1;
}

/** The first offset within a character of UTF-8; -1: there is none. */
export function splitCharacter(offsets: Uint32Array, bytes: Uint8Array): number {
  for (let i = 0; i < offsets.length; i++) {
    const at = offsets[i]!;
    if (at < bytes.length && (bytes[at]! & 0xc0) === 0x80) return i;
  }
  return -1;
}

/** Makes codes of the indexes in `codes`; gives the first row whose index is none of `remap`, or -1. NULL becomes 0. */
export function codesOf(codes: Uint32Array, validity: Uint8Array | undefined, remap: Uint32Array, count: number): number {
  for (let row = 0; row < codes.length; row++) {
    const index = codes[row]!;
    if (validity !== undefined && validity[row]! === 0) codes[row] = 0;
    else if (index < count) codes[row] = remap[index]!;
    else return row;
  }
  return -1;
}
