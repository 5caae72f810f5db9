/** Protobuf bytes that are being written, in memory that grows. */
import { longerBytes } from "../../../base/longer-array.ts";

/** See the file header. */
export class ByteSink {
  bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(size: number = 1024) {
    this.bytes = new Uint8Array(size);
  }

  /** A copy of what was written. */
  take(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** A whole number 0..2^53 in groups of seven bits. */
  varint(value: number): void {
    this.reserve(10);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.length++] = rest;
  }

  /** An int64: a negative one takes ten bytes. */
  int64(value: number): void {
    if (value >= 0) return this.varint(value);
    this.reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest >= 0x80n; rest >>= 7n) this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
    this.bytes[this.length++] = Number(rest);
  }

  /** 32 bits, the lowest byte first. */
  fixed32(value: number): void {
    this.reserve(4);
    for (let shift = 0; shift < 32; shift += 8) this.bytes[this.length++] = (value >>> shift) & 0xff;
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A length-delimited field with a number below 16. */
  field(number: number, bytes: Uint8Array): void {
    this.byte(number * 8 + 2);
    this.varint(bytes.length);
    this.raw(bytes);
  }

  private reserve(count: number): void {
    const need = this.length + count;
    if (need > this.bytes.length) this.bytes = longerBytes(this.bytes, this.length, need);
  }
}
