/**
 * Appends numbers and bytes to a growing buffer, little-endian unless a name says otherwise.
 * `bytes()` is a view that stays valid until the next write; `copy()` owns its memory.
 *
 * Encoders of many values reserve once for the worst case and store through `buffer` and `view`, since a call a value would cost more than
 * the encoding itself. Both are replaced when the buffer grows: read them again after `reserve`.
 */
import { longerBytes } from "./longer-array.ts";
export class ByteWriter {
  buffer: Uint8Array<ArrayBuffer>;
  view: DataView<ArrayBuffer>;
  /** Bytes written so far. */
  length = 0;

  constructor(capacity = 1024) {
    this.buffer = new Uint8Array(capacity);
    this.view = new DataView(this.buffer.buffer);
  }

  /** Makes room for `extra` bytes behind `length`. */
  reserve(extra: number): void {
    const need = this.length + extra;
    if (need <= this.buffer.length) return;
    this.buffer = longerBytes(this.buffer, this.length, need);
    this.view = new DataView(this.buffer.buffer);
  }

  u8(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  u16(value: number): void {
    this.reserve(2);
    this.view.setUint16(this.length, value, true);
    this.length += 2;
  }

  u32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  i32(value: number): void {
    this.u32(value >>> 0);
  }

  /** A whole number 0..2^53-1 in eight bytes. */
  u53(value: number): void {
    this.u32(value % 0x1_0000_0000);
    this.u32(Math.floor(value / 0x1_0000_0000));
  }

  i64(value: bigint): void {
    this.reserve(8);
    this.view.setBigInt64(this.length, value, true);
    this.length += 8;
  }

  f64(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** Unsigned LEB128 of a whole number 0..2^53-1. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.length++] = rest;
  }

  /** `varint` of the first `count` of `values`: room is made once. */
  varints(values: Uint32Array, count: number): void {
    this.reserve(count * 5);
    const { buffer } = this;
    let at = this.length;
    for (let i = 0; i < count; i++) {
      let rest = values[i] as number;
      for (; rest >= 0x80; rest >>>= 7) buffer[at++] = rest | 0x80;
      buffer[at++] = rest;
    }
    this.length = at;
  }

  /** `bytes[start, end)`, byte by byte: for short pieces, of which `raw` would want a view each. */
  piece(bytes: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    const { buffer } = this;
    let at = this.length;
    for (let i = start; i < end; i++) buffer[at++] = bytes[i] as number;
    this.length = at;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A varint length, then the UTF-8 of `text`. */
  text(text: string): void {
    const bytes = encoder.encode(text);
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** Overwrites four bytes at `offset`, which were written before. */
  patchU32(offset: number, value: number): void {
    this.view.setUint32(offset, value, true);
  }

  /** What was written: a view, valid until the next write. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.buffer.subarray(0, this.length);
  }

  /** What was written, in memory of its own. */
  copy(): Uint8Array<ArrayBuffer> {
    return this.buffer.slice(0, this.length);
  }

  /** Forgets what was written and keeps the memory. */
  reset(): void {
    this.length = 0;
  }
}

const encoder = new TextEncoder();
