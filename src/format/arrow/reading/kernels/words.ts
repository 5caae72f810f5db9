/** 64-bit integers of Arrow, which lie as two words of 32 bits each, the lower first, as doubles: no bigint a row. */

const WORD = 0x1_0000_0000;
/** High words of numbers within ±2^53. */
const HIGH_MAX = 0x1f_ffff;

/** The bytes of a typed array at an address that its items need: themselves where they lie there, else copied. */
export function aligned(bytes: Uint8Array, width: number): Uint8Array {
  return bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes); // `slice` of a Buffer, which gRPC hands over, copies nothing
}

/** Integers as doubles; undefined where one lies beyond ±2^53. What stands for NULL is arbitrary, and comes as 0 where it is beyond. */
export function wholeDoubles(
  words: Uint32Array,
  rowCount: number,
  signed: boolean,
  validity: Uint8Array | undefined,
): Float64Array | undefined {
  const values = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const low = words[row * 2]!;
    const word = words[row * 2 + 1]!;
    const high = signed ? word | 0 : word;
    if (high > HIGH_MAX || high < -HIGH_MAX - 1 || (high === -HIGH_MAX - 1 && low === 0)) {
      if (validity === undefined || validity[row]! !== 0) return undefined;
      continue;
    }
    values[row] = high * WORD + low;
  }
  return values;
}

/** Integers as exact distances from `base`; undefined where one is 2^53 or more. */
export function timeOffsets(
  words: Uint32Array,
  rowCount: number,
  base: bigint,
  validity: Uint8Array | undefined,
): Float64Array | undefined {
  const offsets = new Float64Array(rowCount);
  const baseLow = Number(BigInt.asUintN(32, base));
  const baseHigh = Number(base >> 32n);
  for (let row = 0; row < rowCount; row++) {
    const offset = ((words[row * 2 + 1]! | 0) - baseHigh) * WORD + (words[row * 2]! - baseLow);
    if (offset > Number.MAX_SAFE_INTEGER || offset < Number.MIN_SAFE_INTEGER) {
      if (validity === undefined || validity[row]! !== 0) return undefined;
      continue;
    }
    offsets[row] = offset;
  }
  return offsets;
}

/** Bits as bytes of 0 and 1. */
export function unpackedBits(bits: Uint8Array, rowCount: number): Uint8Array {
  const bytes = new Uint8Array(rowCount);
  const whole = rowCount >> 3;
  for (let i = 0, row = 0; i < whole; i++, row += 8) {
    const byte = bits[i]!;
    if (byte === 0) continue;
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

/** Adds the codes of indexes to `codes`; gives the first row whose index is none of `remap`, or -1. NULL stays 0. */
export function codesOf(
  indexes: ArrayLike<number>,
  validity: Uint8Array | undefined,
  remap: Uint32Array,
  count: number,
  codes: Uint32Array,
): number {
  for (let row = 0; row < codes.length; row++) {
    if (validity !== undefined && validity[row]! === 0) continue;
    const index = indexes[row]!;
    if (index < 0 || index >= count) return row;
    codes[row] = remap[index]!;
  }
  return -1;
}
