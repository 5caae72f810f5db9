/**
 * The RLE / bit-packed hybrid, reading: into an array, into validity bytes, or run by run. The layout is in rle-bit-packed.ts.
 */
import { unpacker } from "./bit-pack.ts";
import type { ByteCursor } from "./byte-cursor.ts";

/** Elements that an array for `count` decoded indexes needs: whole groups of 32 may be written. */
export function hybridCapacity(count: number): number {
  return (count + 31) & ~31;
}

const padded = new DataView(new ArrayBuffer(128));
const paddedBytes = new Uint8Array(padded.buffer);

/** Reads `values` of a page as runs. Neighbouring runs may be equal. */
export class HybridReader {
  private readonly cursor: ByteCursor;
  private readonly width: number;
  private readonly buffer = new Uint32Array(32);
  private buffered = 0;
  private position = 0;
  private literalsLeft = 0;
  /** Value and length of the run that `next` found. */
  value = 0;
  length = 0;

  constructor(cursor: ByteCursor, width: number) {
    this.cursor = cursor;
    this.width = width;
    if (width > 32) cursor.fail(`indexes of ${width} bits`);
  }

  /** Moves to the next run of at least one value. Padding of the last literals counts as values. */
  next(): void {
    while (this.position === this.buffered) {
      if (this.literalsLeft > 0) {
        this.fill();
        continue;
      }
      const header = this.cursor.varint32();
      if (header % 2 === 0) {
        this.length = header / 2;
        this.value = readRunValue(this.cursor, this.width);
        if (this.length > 0) return;
      } else {
        this.literalsLeft = ((header - 1) / 2) * 8;
      }
    }
    const value = this.buffer[this.position]!;
    let end = this.position + 1;
    while (end < this.buffered && this.buffer[end] === value) end++;
    this.value = value;
    this.length = end - this.position;
    this.position = end;
  }

  private fill(): void {
    const count = Math.min(32, this.literalsLeft);
    unpackSome(this.cursor, this.width, this.buffer, 0, count);
    this.literalsLeft -= count;
    this.buffered = count;
    this.position = 0;
  }
}

function readRunValue(cursor: ByteCursor, width: number): number {
  let value = 0;
  for (let shift = 0; shift < width; shift += 8) value |= cursor.u8() << shift;
  return value >>> 0;
}

/** Unpacks `count` values, a multiple of 8 up to 32, into `out[to, to + 32)`. */
function unpackSome(cursor: ByteCursor, width: number, out: Uint32Array, to: number, count: number): void {
  if (width === 0) {
    out.fill(0, to, to + count);
    return;
  }
  const byteLength = (count >>> 3) * width;
  const at = cursor.take(byteLength);
  if (count === 32) {
    unpacker(width)(cursor.view, at, out, to);
    return;
  }
  paddedBytes.fill(0);
  paddedBytes.set(cursor.bytes.subarray(at, at + byteLength));
  unpacker(width)(padded, 0, out, to);
}

/**
 * Reads `count` indexes below `limit` into `out`.
 *
 * @param out `hybridCapacity(count)` elements
 * @throws DbError StorageUnavailable on an index at or above `limit`
 */
export function decodeHybrid(cursor: ByteCursor, count: number, width: number, limit: number, out: Uint32Array): void {
  if (width > 32) cursor.fail(`indexes of ${width} bits`);
  for (let row = 0; row < count; ) {
    const header = cursor.varint32();
    if (header % 2 === 0) {
      const end = Math.min(count, row + header / 2);
      out.fill(readRunValue(cursor, width), row, end);
      row = end;
      continue;
    }
    let left = Math.min(((header - 1) / 2) * 8, (count - row + 7) & ~7);
    for (; left > 0; left -= 32) {
      unpackSome(cursor, width, out, row, Math.min(32, left));
      row += Math.min(32, left);
    }
  }
  let largest = 0;
  for (let i = 0; i < count; i++) largest = out[i]! > largest ? out[i]! : largest;
  if (count > 0 && largest >= limit) cursor.fail(`index ${largest} into a dictionary of ${limit}`);
}

/** Reads `count` values of one bit into `out[0, count)`: definition levels or booleans. Returns how many are 1. */
export function decodeBits(cursor: ByteCursor, count: number, out: Uint8Array): number {
  let ones = 0;
  for (let row = 0; row < count; ) {
    const header = cursor.varint32();
    if (header % 2 === 0) {
      const end = Math.min(count, row + header / 2);
      const value = cursor.u8();
      if (value > 1) cursor.fail(`a level of ${value}`);
      out.fill(value, row, end);
      ones += value * (end - row);
      row = end;
      continue;
    }
    const groups = Math.min((header - 1) / 2, (count - row + 7) >>> 3);
    const at = cursor.take(groups);
    for (let group = 0; group < groups; group++) {
      const byte = cursor.bytes[at + group]!;
      const length = Math.min(8, count - row);
      for (let bit = 0; bit < length; bit++) {
        const value = (byte >>> bit) & 1;
        out[row + bit] = value;
        ones += value;
      }
      row += length;
    }
  }
  return ones;
}
