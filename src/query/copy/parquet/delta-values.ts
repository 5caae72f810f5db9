/**
 * DELTA_BINARY_PACKED of any writer, and the two encodings of byte arrays that stand on it. Blocks may have any size that the format
 * allows; `format/parquet/encodings` reads only the one that our files have, and faster.
 *
 * Source: Apache Parquet, Encodings.md.
 */
import type { ByteCursor } from "../../../format/parquet/encodings/byte-cursor.ts";

/** Most values of a block. Reason: a corrupt header must not make one of any size. */
const BLOCK_VALUES_MAX: number = 1 << 20;

/** Takes the values one after another, modulo 2^64. */
type Take = (index: number, value: bigint) => void;

function unpack(cursor: ByteCursor, count: number, take: Take): void {
  const blockValues = cursor.varint32();
  const miniblocks = cursor.varint32();
  const stored = cursor.varint32();
  const perMiniblock = blockValues / miniblocks;
  if (blockValues > BLOCK_VALUES_MAX || miniblocks === 0 || perMiniblock % 8 !== 0 || perMiniblock === 0) {
    cursor.fail(`delta blocks of ${blockValues} values in ${miniblocks} parts`);
  }
  if (stored !== count) cursor.fail(`${stored} delta values where ${count} belong`);
  let value = cursor.zigzag64();
  if (count > 0) take(0, value);
  for (let at = 1; at < count; ) {
    const minDelta = cursor.zigzag64();
    const widthsAt = cursor.take(miniblocks);
    for (let miniblock = 0; miniblock < miniblocks && at < count; miniblock++) {
      const width = cursor.bytes[widthsAt + miniblock] ?? 0;
      if (width > 64) cursor.fail(`a bit width of ${width}`);
      const from = cursor.take((perMiniblock * width) / 8) * 8;
      for (let i = 0; i < perMiniblock && at < count; i++, at++) {
        value = BigInt.asIntN(64, value + minDelta + bitsAt(cursor.bytes, from + i * width, width));
        take(at, value);
      }
    }
  }
}

/** `width` bits from bit `at` on, the lowest first. @param width 0..64 */
function bitsAt(bytes: Uint8Array, at: number, width: number): bigint {
  if (width <= 32) return BigInt(wordAt(bytes, at, width));
  return BigInt(wordAt(bytes, at, 32)) | (BigInt(wordAt(bytes, at + 32, width - 32)) << 32n);
}

/** The same for up to 32 bits, which with those before them lie in five bytes: exact in a double. */
function wordAt(bytes: Uint8Array, at: number, width: number): number {
  if (width === 0) return 0;
  const first = Math.floor(at / 8);
  const shift = at % 8;
  let word = 0;
  for (let i = 0, scale = 1; i * 8 < shift + width; i++, scale *= 256) word += (bytes[first + i] ?? 0) * scale;
  return Math.floor(word / 2 ** shift) % 2 ** width;
}

/** Values of 32 bits; they wrap around. */
export function deltaInts(cursor: ByteCursor, count: number): Int32Array {
  const values = new Int32Array(count);
  unpack(cursor, count, (i, value) => {
    values[i] = Number(BigInt.asIntN(32, value));
  });
  return values;
}

/** Values of 64 bits. */
export function deltaLongs(cursor: ByteCursor, count: number): BigInt64Array {
  const values = new BigInt64Array(count);
  unpack(cursor, count, (i, value) => {
    values[i] = value;
  });
  return values;
}

/** DELTA_LENGTH_BYTE_ARRAY: views of the page. */
export function deltaLengthBytes(cursor: ByteCursor, count: number): Uint8Array[] {
  const lengths = deltaInts(cursor, count);
  return Array.from(lengths, (length) => {
    const at = cursor.take(length);
    return cursor.bytes.subarray(at, at + length);
  });
}

/** DELTA_BYTE_ARRAY: each value begins like the one before it. @param bytesMax of all values together */
export function deltaBytes(cursor: ByteCursor, count: number, bytesMax: number): Uint8Array[] {
  const prefixes = deltaInts(cursor, count);
  const suffixes = deltaLengthBytes(cursor, count);
  let before: Uint8Array = new Uint8Array(0);
  let total = 0;
  return suffixes.map((suffix, i) => {
    const shared = prefixes[i] ?? 0;
    if (shared < 0 || shared > before.length) cursor.fail(`value ${i} shares ${shared} bytes of ${before.length}`);
    total += shared + suffix.length;
    if (total > bytesMax) cursor.fail(`values of more than ${bytesMax} bytes`);
    const value = new Uint8Array(shared + suffix.length);
    value.set(before.subarray(0, shared));
    value.set(suffix, shared);
    before = value;
    return value;
  });
}
