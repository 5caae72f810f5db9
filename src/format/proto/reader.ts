/**
 * A cursor over a protobuf message, for decoders written by hand. It makes no objects and no strings: a decoder asks for the next tag and
 * reads the value where it stands. Source: protobuf.dev/programming-guides/encoding.
 *
 *   const { bytes } = reader;
 *   while (reader.at < end) {
 *     const tag = reader.tag(end);
 *     if (tag === field(1, Wire.bytes)) { const inner = reader.lengthEnd(end); ... reader.at = inner; }
 *     else reader.skip(tag, end);
 *   }
 *
 * `end` is where the message being read ends; every read is checked against it, so that a length that lies never reaches into what follows.
 */

/** Wire types, by their numbers. */
export const Wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Why bytes are not the message that they should be. `offset` is from the start of the message's bytes. */
export class ProtoError extends Error {
  override readonly name = "ProtoError";
  readonly offset: number;

  constructor(what: string, offset: number) {
    super(`${what} at byte ${offset}`);
    this.offset = offset;
  }
}

/** Groups inside groups that `skip` follows; nobody sends groups, and an attacker must not use the stack. */
const GROUP_DEPTH_MAX = 16;
const START_GROUP = 3;
const END_GROUP = 4;
/** Longest varint: 64 bits. */
const VARINT_BYTES_MAX = 10;
const TWO_32 = 0x1_0000_0000;

/** The tag of a field, as `tag` returns it. */
export function field(number: number, wire: number): number {
  return number * 8 + wire;
}

/** See the file header. */
export class ProtoReader {
  bytes: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  /** Position of the next byte. */
  at = 0;
  /** Lower half of the varint that `varint64` read last, 0..2^32-1. */
  low = 0;
  /** Upper half of it. */
  high = 0;

  /** Starts over at the first of `bytes`, which are borrowed. */
  open(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  /** The next tag: field number * 8 + wire type. @throws ProtoError also for field number 0 */
  tag(end: number): number {
    const start = this.at;
    if (start < end) {
      const first = this.bytes[start] as number;
      if (first < 0x80 && first > 7) {
        this.at = start + 1;
        return first;
      }
    }
    const tag = this.varint32(end);
    if (tag < 8) throw new ProtoError("field number 0", start);
    return tag;
  }

  /** A varint that must fit 32 bits: tags, lengths, enums and small unsigned numbers. @throws ProtoError */
  varint32(end: number): number {
    const { bytes } = this;
    const start = this.at;
    let value = 0;
    let scale = 1;
    for (let at = start; at < end && at < start + 5; at++) {
      const byte = bytes[at] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value >= TWO_32) break;
        this.at = at + 1;
        return value;
      }
      scale *= 128;
    }
    throw new ProtoError(end - start < 5 ? "the message ends inside a number" : "a number exceeds 32 bits", start);
  }

  /** Reads a varint of 64 bits into `low` and `high`. @throws ProtoError */
  varint64(end: number): void {
    const { bytes } = this;
    const start = this.at;
    let low = 0;
    let middle = 0;
    let high = 0;
    const stop = Math.min(end, start + VARINT_BYTES_MAX);
    for (let at = start; at < stop; at++) {
      const byte = bytes[at] as number;
      const bits = byte & 0x7f;
      const place = at - start;
      if (place < 4) low |= bits << (7 * place);
      else if (place < 8) middle |= bits << (7 * (place - 4));
      else high |= bits << (7 * (place - 8));
      if (byte >= 0x80) continue;
      // 28 + 28 + 8 bits; what a tenth byte holds above bit 63 is dropped, as by every other decoder.
      this.low = (low | (middle << 28)) >>> 0;
      this.high = ((middle >>> 4) | (high << 24)) >>> 0;
      this.at = at + 1;
      return;
    }
    throw new ProtoError(stop === end ? "the message ends inside a number" : "a number has more than ten bytes", start);
  }

  /** The last `varint64` as a signed integer; exact while its size is below 2^53. */
  signed(): number {
    return (this.high | 0) * TWO_32 + this.low;
  }

  /** Whether `signed` is exact. */
  isExact(): boolean {
    const high = this.high | 0;
    return high < 0x20_0000 && high >= -0x20_0000;
  }

  /** The last `varint64` as a signed integer of 64 bits. */
  signedBigInt(): bigint {
    return (BigInt(this.high | 0) << 32n) | BigInt(this.low);
  }

  /** The end of a length-delimited value that starts at `at` now. @throws ProtoError when it reaches beyond `end` */
  lengthEnd(end: number): number {
    const start = this.at;
    const first = start < end ? (this.bytes[start] as number) : 0x80;
    let length: number;
    if (first < 0x80) {
      length = first;
      this.at = start + 1;
    } else length = this.varint32(end);
    const valueEnd = this.at + length;
    if (valueEnd > end) throw new ProtoError(`a length of ${length} where ${end - this.at} bytes are left`, start);
    return valueEnd;
  }

  /** A double of eight bytes; the bits of a NaN may change. @throws ProtoError */
  double(end: number): number {
    return this.view.getFloat64(this.take(8, end), true);
  }

  /** Moves over `count` bytes and returns where they start. @throws ProtoError */
  take(count: number, end: number): number {
    const at = this.at;
    if (count > end - at) throw new ProtoError(`${count} bytes wanted where ${end - at} are left`, at);
    this.at = at + count;
    return at;
  }

  /** Moves over the value of a field that nobody wants. @throws ProtoError for a wire type that does not exist */
  skip(tag: number, end: number, depth: number = 0): void {
    switch (tag & 7) {
      case Wire.varint:
        this.varint64(end);
        return;
      case Wire.fixed64:
        this.take(8, end);
        return;
      case Wire.bytes:
        this.at = this.lengthEnd(end);
        return;
      case Wire.fixed32:
        this.take(4, end);
        return;
      case START_GROUP:
        this.skipGroup(tag >>> 3, end, depth);
        return;
      default:
        throw new ProtoError(`wire type ${tag & 7} of field ${tag >>> 3}`, this.at);
    }
  }

  private skipGroup(number: number, end: number, depth: number): void {
    if (depth === GROUP_DEPTH_MAX) throw new ProtoError(`more than ${GROUP_DEPTH_MAX} groups inside each other`, this.at);
    for (;;) {
      const start = this.at;
      const tag = this.tag(end);
      if ((tag & 7) !== END_GROUP) this.skip(tag, end, depth + 1);
      else if (tag >>> 3 === number) return;
      else throw new ProtoError(`the end of group ${tag >>> 3} inside group ${number}`, start);
    }
  }
}
