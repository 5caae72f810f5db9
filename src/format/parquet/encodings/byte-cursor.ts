/** A position in the bytes of one page, with the reads that value decoders share. Every read is checked. */
import { corruption } from "../corruption.ts";

/** Reads the values of one page. `fileOffset` is where `bytes` begin in the file (of the page, when they were compressed). */
export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Position of the next byte. */
  at: number;
  /** End of what may be read. */
  readonly end: number;
  private readonly fileName: string;
  private readonly fileOffset: number;

  constructor(bytes: Uint8Array, fileName: string, fileOffset: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.end = bytes.length;
    this.fileName = fileName;
    this.fileOffset = fileOffset;
  }

  /** @throws DbError StorageUnavailable */
  fail(why: string): never {
    throw corruption(this.fileName, this.fileOffset, `${why}, ${this.at} bytes into the page's values`);
  }

  /** Moves past `count` bytes and returns where they begin. */
  take(count: number): number {
    const at = this.at;
    if (!(count >= 0 && count <= this.end - at)) this.fail(`${count} bytes wanted, ${this.end - at} left`);
    this.at = at + count;
    return at;
  }

  u8(): number {
    return this.bytes[this.take(1)]!;
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  /** Unsigned LEB128, at most 2^32-1. */
  varint32(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 5; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > 0xffff_ffff) break;
        return value;
      }
      scale *= 0x80;
    }
    return this.fail("a number above 2^32");
  }

  /** Zigzag LEB128 of 64 bits. */
  zigzag64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
    }
    return this.fail("a number of more than ten bytes");
  }

  /**
   * Zigzag LEB128 as a double: exact within ±2^53. The low 32 bits of the true number are those of the result also beyond, as long as it
   * takes at most 8 bytes.
   */
  zigzagNumber(): number {
    const first = this.u8();
    if (first < 0x80) return (first >>> 1) ^ -(first & 1);
    let value = first & 0x7f;
    let scale = 0x80;
    for (let i = 0; i < 7; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      }
      scale *= 0x80;
    }
    return this.fail("a difference above 2^52");
  }
}
