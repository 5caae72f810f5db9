/**
 * Fields of packets: read with every bound checked, written with lengths put in afterwards. Numbers are little-endian; texts and lists
 * say how long they are by a number of 1, 3, 4 or 9 bytes ("lenenc"): one below 251 is a byte, others follow 0xfc, 0xfd or 0xfe.
 */
import { utf8Text } from "../../base/bytes/utf8.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import { HEADER_BYTES, PART_BYTES } from "./packets.ts";

/** A packet that is not as its command says. */
export class MalformedPacket extends Error {
  override readonly name = "MalformedPacket";
}

/** Text of UTF-8. @throws MalformedPacket for bytes that are none */
export function utf8(bytes: Uint8Array): string {
  const text = utf8Text(bytes);
  if (text === undefined) throw new MalformedPacket("a text is not valid UTF-8");
  return text;
}

/** Reads one payload. @throws MalformedPacket where it ends too early */
export class PacketReader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at = 0;

  constructor(payload: Uint8Array) {
    this.bytes = payload;
    this.view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  get remaining(): number {
    return this.bytes.length - this.at;
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }

  i8(): number {
    return this.view.getInt8(this.take(1));
  }

  u16(): number {
    return this.view.getUint16(this.take(2), true);
  }

  i16(): number {
    return this.view.getInt16(this.take(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  i32(): number {
    return this.view.getInt32(this.take(4), true);
  }

  i64(): bigint {
    return this.view.getBigInt64(this.take(8), true);
  }

  u64(): bigint {
    return this.view.getBigUint64(this.take(8), true);
  }

  f32(): number {
    return this.view.getFloat32(this.take(4), true);
  }

  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  /** A view of the next bytes. */
  raw(count: number): Uint8Array {
    const at = this.take(count);
    return this.bytes.subarray(at, at + count);
  }

  /** A view of all that follows. */
  rest(): Uint8Array {
    return this.raw(this.remaining);
  }

  /** A lenenc number, which may lie beyond what there is. */
  lenenc(): number {
    const first = this.u8();
    if (first < 0xfb) return first;
    if (first === 0xfc) return this.u16();
    if (first === 0xfd) return this.u16() + this.u8() * 0x1_0000;
    if (first === 0xfe) return Number(this.u64());
    throw new MalformedPacket("a length begins with a byte that begins none");
  }

  /** Bytes behind their lenenc length. */
  lenencBytes(): Uint8Array {
    return this.raw(this.lenenc());
  }

  /** A text that a zero byte ends, or the packet. */
  textZero(): string {
    return utf8(this.bytesZero());
  }

  /** Bytes that a zero byte ends, or the packet. */
  bytesZero(): Uint8Array {
    const found = this.bytes.indexOf(0, this.at);
    const end = found < 0 ? this.bytes.length : found;
    const bytes = this.bytes.subarray(this.at, end);
    this.at = Math.min(end + 1, this.bytes.length);
    return bytes;
  }

  private take(count: number): number {
    const { at } = this;
    if (count > this.bytes.length - at) throw new MalformedPacket("a packet ends before its fields do");
    this.at = at + count;
    return at;
  }
}

/** Writes packets, numbered as the protocol wants: each answer goes on from the request's number. */
export class PacketWriter {
  readonly outgoing: Outgoing;
  /** Number of the next packet. */
  sequence = 0;

  constructor(outgoing: Outgoing) {
    this.outgoing = outgoing;
  }

  /** Begins a packet. @returns its place, for `end` */
  begin(): number {
    const { outgoing } = this;
    outgoing.reserve(HEADER_BYTES);
    outgoing.used += HEADER_BYTES;
    return outgoing.used - HEADER_BYTES;
  }

  /** Ends it: its length is known. Nothing may have been sent in between. One that is too long becomes several. */
  end(place: number): void {
    const { outgoing } = this;
    const length = outgoing.used - place - HEADER_BYTES;
    const furtherParts = Math.floor(length / PART_BYTES);
    outgoing.reserve(furtherParts * HEADER_BYTES);
    const { bytes } = outgoing;
    // From the last part to the first, each behind its header.
    for (let part = furtherParts; part >= 0; part--) {
      const from = place + HEADER_BYTES + part * PART_BYTES;
      const partLength = Math.min(PART_BYTES, length - part * PART_BYTES);
      const to = from + part * HEADER_BYTES;
      if (part > 0) bytes.copyWithin(to, from, from + partLength);
      bytes[to - 4] = partLength & 0xff;
      bytes[to - 3] = (partLength >> 8) & 0xff;
      bytes[to - 2] = partLength >> 16;
      bytes[to - 1] = (this.sequence + part) & 0xff;
    }
    outgoing.used += furtherParts * HEADER_BYTES;
    this.sequence = (this.sequence + furtherParts + 1) & 0xff;
  }

  u16(value: number): void {
    this.outgoing.u8(value & 0xff);
    this.outgoing.u8((value >> 8) & 0xff);
  }

  u32(value: number): void {
    this.u16(value & 0xffff);
    this.u16(value >>> 16);
  }

  lenenc(value: number): void {
    const { outgoing } = this;
    if (value < 0xfb) outgoing.u8(value);
    else if (value < 2 ** 16) {
      outgoing.u8(0xfc);
      this.u16(value);
    } else if (value < 2 ** 24) {
      outgoing.u8(0xfd);
      this.u16(value & 0xffff);
      outgoing.u8(value >> 16);
    } else {
      outgoing.u8(0xfe);
      this.u32(value % 2 ** 32);
      this.u32(Math.floor(value / 2 ** 32));
    }
  }

  /** A text behind its lenenc length. */
  lenencText(text: string): void {
    const length = Buffer.byteLength(text);
    this.lenenc(length);
    this.outgoing.text(text);
  }
}
