import type { ShortTexts } from "./short-texts.ts";
import { strictUtf8 } from "./utf8.ts";

/** Raised by `ByteReader` when bytes end too early or a number is out of range; carries the offset. */
export class ByteReadError extends Error {
  override readonly name = "ByteReadError";
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.offset = offset;
  }
}

/** Reads what `ByteWriter` wrote; every read is bounds-checked. @throws ByteReadError */
export class ByteReader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  /** Position of the next byte. */
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.offset = offset;
  }

  /** Bytes that are left. */
  get remaining(): number {
    return this.bytes.length - this.offset;
  }

  private take(count: number): number {
    const at = this.offset;
    if (count < 0 || count > this.bytes.length - at) throw new ByteReadError(`need ${count} bytes`, at);
    this.offset = at + count;
    return at;
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }

  u16(): number {
    return this.view.getUint16(this.take(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  i32(): number {
    return this.view.getInt32(this.take(4), true);
  }

  /** A whole number 0..2^53-1 from eight bytes. */
  u53(): number {
    const at = this.take(8);
    const high = this.view.getUint32(at + 4, true);
    if (high > 0x1f_ffff) throw new ByteReadError("number above 2^53", at);
    return high * 0x1_0000_0000 + this.view.getUint32(at, true);
  }

  i64(): bigint {
    return this.view.getBigInt64(this.take(8), true);
  }

  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  /** Unsigned LEB128, at most 2^53-1. */
  varint(): number {
    const at = this.offset;
    const first = this.bytes[at];
    if (first !== undefined && first < 0x80) {
      this.offset++;
      return first;
    }
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new ByteReadError("varint above 2^53", at);
  }

  /** A view of the next `count` bytes. */
  raw(count: number): Uint8Array {
    const at = this.take(count);
    return this.bytes.subarray(at, at + count);
  }

  /** A varint length, then UTF-8. @param known texts among which it may be, and among which it is from then on */
  text(known?: ShortTexts): string {
    const at = this.offset;
    const start = this.take(this.varint());
    const found = known?.find(this.bytes, start, this.offset);
    if (found !== undefined) return found;
    try {
      const text = strictUtf8.decode(this.bytes.subarray(start, this.offset));
      known?.keep(this.bytes, start, this.offset, text);
      return text;
    } catch (cause) {
      throw new ByteReadError(`invalid UTF-8 (${String(cause)})`, at);
    }
  }
}
