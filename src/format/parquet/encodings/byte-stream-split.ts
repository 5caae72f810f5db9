/**
 * BYTE_STREAM_SPLIT: byte j of every value goes to stream j, so that the slowly changing sign and exponent bytes lie together for zstd.
 *
 *   4-byte values a0a1a2a3 b0b1b2b3  →  a0 b0 ... | a1 b1 ... | a2 b2 ... | a3 b3 ...
 *
 * Source: Apache Parquet, Encodings.md.
 */
import type { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import type { ByteCursor } from "./byte-cursor.ts";

/** Appends `count` doubles, given as their 32-bit halves, low half first: `words.length >= 2 * count`. */
export function splitDoubles(out: ByteWriter, words: Int32Array, count: number): void {
  out.reserve(count * 8);
  const bytes = out.buffer;
  let at0 = out.length;
  const end = at0 + count;
  for (let i = 0; at0 < end; at0++, i += 2) {
    const low = words[i]!;
    const high = words[i + 1]!;
    bytes[at0] = low;
    bytes[at0 + count] = low >>> 8;
    bytes[at0 + count * 2] = low >>> 16;
    bytes[at0 + count * 3] = low >>> 24;
    bytes[at0 + count * 4] = high;
    bytes[at0 + count * 5] = high >>> 8;
    bytes[at0 + count * 6] = high >>> 16;
    bytes[at0 + count * 7] = high >>> 24;
  }
  out.length += count * 8;
}

/** Appends `count` 32-bit floats, given as their bits. */
export function splitFloats(out: ByteWriter, words: Int32Array, count: number): void {
  out.reserve(count * 4);
  const bytes = out.buffer;
  const start = out.length;
  for (let i = 0; i < count; i++) {
    const word = words[i]!;
    bytes[start + i] = word;
    bytes[start + count + i] = word >>> 8;
    bytes[start + count * 2 + i] = word >>> 16;
    bytes[start + count * 3 + i] = word >>> 24;
  }
  out.length += count * 4;
}

/** Reads `count` doubles into their 32-bit halves. */
export function joinDoubles(cursor: ByteCursor, count: number, words: Int32Array): void {
  const start = cursor.take(count * 8);
  const bytes = cursor.bytes;
  for (let i = 0; i < count; i++) {
    const at = start + i;
    words[i * 2] = bytes[at]! | (bytes[at + count]! << 8) | (bytes[at + count * 2]! << 16) | (bytes[at + count * 3]! << 24);
    words[i * 2 + 1] =
      bytes[at + count * 4]! | (bytes[at + count * 5]! << 8) | (bytes[at + count * 6]! << 16) | (bytes[at + count * 7]! << 24);
  }
}

/** Reads `count` 32-bit floats into their bits. */
export function joinFloats(cursor: ByteCursor, count: number, words: Int32Array): void {
  const start = cursor.take(count * 4);
  const bytes = cursor.bytes;
  for (let i = 0; i < count; i++) {
    const at = start + i;
    words[i] = bytes[at]! | (bytes[at + count]! << 8) | (bytes[at + count * 2]! << 16) | (bytes[at + count * 3]! << 24);
  }
}
