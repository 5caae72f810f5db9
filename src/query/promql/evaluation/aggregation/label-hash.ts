/**
 * A place in [0, 1] for a set of labels, evenly spread: which series `limit_ratio` keeps. It is Prometheus' own, so that both keep the
 * same.
 *
 * Prometheus (the labels of its default build) hashes one text by xxHash64 with seed 0 and divides by 2⁶⁴:
 *
 *     for each label by name:  size name size value      size: one byte below 255, else 0xff and three bytes, little-endian
 */
import type { Labels } from "../series-source.ts";

/** Sizes up to here are one byte. */
const SHORT_MAX = 254;
/** Most bytes of UTF-8 for a unit of UTF-16. */
const BYTES_A_UNIT = 3;
/** Bytes of a size. */
const SIZE_MAX = 4;

/** Owns the bytes that are hashed: one a query. */
export class LabelHasher {
  private bytes: Buffer = Buffer.allocUnsafe(512);

  /** The place of a set. */
  placeOf(labels: Labels): number {
    let length = 0;
    for (const [name, value] of labels) length = this.put(value, this.put(name, length));
    return Number(BigInt.asUintN(64, Bun.hash.xxHash64(this.bytes.subarray(0, length)))) / 2 ** 64;
  }

  /** Writes a text behind its size. @returns its end */
  private put(text: string, at: number): number {
    const room = at + SIZE_MAX + text.length * BYTES_A_UNIT;
    if (room > this.bytes.length) this.bytes = Buffer.concat([this.bytes], 2 * room);
    const { bytes } = this;
    const size = Buffer.byteLength(text);
    if (size <= SHORT_MAX) {
      bytes[at] = size;
      return at + 1 + bytes.write(text, at + 1);
    }
    bytes[at] = 0xff;
    bytes.writeUIntLE(size, at + 1, 3);
    return at + SIZE_MAX + bytes.write(text, at + SIZE_MAX);
  }
}
