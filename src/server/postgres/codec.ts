/**
 * Fields of messages: read with every bound checked, written with lengths put in afterwards. Numbers are big-endian.
 */
import { utf8Text } from "../../base/bytes/utf8.ts";
import type { Outgoing } from "../wire/outgoing.ts";

/** A message that is not as its letter says. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

/** Text of UTF-8. @throws MalformedMessage for bytes that are none */
export function utf8(bytes: Uint8Array): string {
  const text = utf8Text(bytes);
  if (text === undefined) throw new MalformedMessage("invalid byte sequence for encoding UTF8");
  return text;
}

/** Reads one message. @throws MalformedMessage where it ends too early */
export class MessageReader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at: number;

  /** @param start behind the header */
  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = start;
  }

  /** Bytes of the whole message. */
  get length(): number {
    return this.bytes.length;
  }

  get remaining(): number {
    return this.bytes.length - this.at;
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }

  i16(): number {
    return this.view.getInt16(this.take(2));
  }

  u16(): number {
    return this.view.getUint16(this.take(2));
  }

  i32(): number {
    return this.view.getInt32(this.take(4));
  }

  u32(): number {
    return this.view.getUint32(this.take(4));
  }

  i64(): bigint {
    return this.view.getBigInt64(this.take(8));
  }

  f32(): number {
    return this.view.getFloat32(this.take(4));
  }

  f64(): number {
    return this.view.getFloat64(this.take(8));
  }

  /** A view of the next bytes. */
  raw(count: number): Uint8Array {
    const at = this.take(count);
    return this.bytes.subarray(at, at + count);
  }

  /** A length and as many bytes; undefined for -1, which is NULL. */
  value(): Uint8Array | undefined {
    const length = this.i32();
    return length === -1 ? undefined : this.raw(length);
  }

  /** A text that a zero byte ends. */
  text(): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end < 0) throw new MalformedMessage("invalid string in message");
    const text = utf8(this.bytes.subarray(this.at, end));
    this.at = end + 1;
    return text;
  }

  /** How many of something follow, each of `bytesEach` at least. */
  count(bytesEach: number): number {
    const count = this.u16();
    if (count * bytesEach > this.remaining) throw new MalformedMessage("insufficient data left in message");
    return count;
  }

  /** @throws MalformedMessage where more follows */
  end(): void {
    if (this.remaining !== 0) throw new MalformedMessage("invalid message format");
  }

  private take(count: number): number {
    const { at } = this;
    if (count < 0 || count > this.bytes.length - at) throw new MalformedMessage("insufficient data left in message");
    this.at = at + count;
    return at;
  }
}

/** Begins a message. @returns its place, for `endMessage` */
export function beginMessage(outgoing: Outgoing, letter: number): number {
  outgoing.u8(letter);
  outgoing.i32be(0);
  return outgoing.used - 4;
}

/** Ends it: its length is known. Nothing may have been sent in between. */
export function endMessage(outgoing: Outgoing, place: number): void {
  outgoing.view.setInt32(place, outgoing.used - place);
}

/** A message without fields. */
export function tell(outgoing: Outgoing, letter: number): void {
  outgoing.u8(letter);
  outgoing.i32be(4);
}

/** A message of one text. */
export function tellText(outgoing: Outgoing, letter: number, text: string): void {
  const place = beginMessage(outgoing, letter);
  outgoing.textZero(text);
  endMessage(outgoing, place);
}
