import { longerBytes } from "../../base/bytes/longer-array.ts";

/**
 * A growing byte buffer that encoders write into directly: reserve once for the worst case, then store through `bytes` and `view`.
 *
 * Unlike `ByteWriter` it shows its memory, because a call a value would cost more than the encoding itself. Both fields are replaced
 * when the buffer grows: read them again after `reserve`.
 */
export class PageBuffer {
  bytes: Uint8Array<ArrayBuffer>;
  view: DataView<ArrayBuffer>;
  /** Bytes written so far. */
  length = 0;

  constructor(capacity: number = 1 << 16) {
    this.bytes = new Uint8Array(capacity);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Makes room for `extra` bytes after `length`. */
  reserve(extra: number): void {
    const need = this.length + extra;
    if (need <= this.bytes.length) return;
    this.bytes = longerBytes(this.bytes, this.length, need);
    this.view = new DataView(this.bytes.buffer);
  }

  u8(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  u32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** Unsigned LEB128 of a whole number 0..2^53-1. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.length++] = rest;
  }

  /** Zigzag LEB128 of a signed 64-bit number. */
  zigzag64(value: bigint): void {
    this.reserve(10);
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (rest >= 0x80n) {
      this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.bytes[this.length++] = Number(rest);
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** What was written from `start` on: a view, valid until the next write. */
  written(start = 0): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(start, this.length);
  }

  /** Forgets what was written and keeps the memory. */
  reset(): void {
    this.length = 0;
  }
}
