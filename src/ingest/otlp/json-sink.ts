/**
 * Attributes and values as the JSON text that Varve keeps (value/json-text.ts): compact, keys sorted by code point, of
 * equal keys the last. Bytes go to bytes; strings are made for numbers only. That texts are UTF-8 is for the column to check.
 *
 * Binary values become base64 as in OTLP's own JSON, numbers that JSON does not have become null.
 */
import { longerBytes } from "../../base/bytes/longer-array.ts";
import { floatText } from "../../value/number-text.ts";
import { field, ProtoError, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { AnyValue, Attributes, Kind } from "./any-value.ts";
import { VALUE_DEPTH_MAX } from "./limits.ts";

const encoder = new TextEncoder();
const ITEM = field(1, Wire.bytes);
const QUOTE = 0x22;
const COMMA = 0x2c;
const STRING = field(1, Wire.bytes);

/** Bytes escaped at a time, so that room for the longest escapes is never much. */
const PIECE_BYTES = 1024;
const ESCAPED_BYTES_MAX = 6;
/** What stands for a byte: 0 = itself, a letter = a backslash and it. */
const CONTROL = 1;
const LINE_END = 2;
const ESCAPES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0xe2) return LINE_END;
  if (byte === QUOTE || byte === 0x5c) return byte;
  if (byte >= 0x20) return 0;
  return "\b\f\n\r\t".includes(String.fromCharCode(byte)) ? JSON.stringify(String.fromCharCode(byte)).charCodeAt(2) : CONTROL;
});

/** A buffer of JSON text. */
export class JsonSink {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  used = 0;
  private readonly reader: ProtoReader;
  private readonly nested: Attributes = new Attributes();
  private readonly values: AnyValue[] = [];

  constructor(reader: ProtoReader) {
    this.reader = reader;
  }

  /** Forgets the text, and what a failure left behind. */
  reset(): void {
    this.used = 0;
    this.nested.count = 0;
  }

  /** An object of the entries of `list` from `base` on, which are sorted on the way. @throws ProtoError */
  object(list: Attributes, base: number, depth = 0): void {
    const { bytes } = this.reader;
    const { count } = list;
    this.byte(0x7b);
    list.sort(bytes, base);
    let isFirst = true;
    for (let i = base; i < count; i++) {
      if (i + 1 < count && list.sameAsNext(bytes, i)) continue;
      if (!isFirst) this.byte(COMMA);
      isFirst = false;
      this.text(bytes, list.slots[i * 4] as number, list.slots[i * 4 + 1] as number);
      this.byte(0x3a);
      this.value(list.slots[i * 4 + 2] as number, list.slots[i * 4 + 3] as number, depth);
    }
    this.byte(0x7d);
  }

  /** The `AnyValue` at `[start, end)`. @throws ProtoError */
  value(start: number, end: number, depth = 0): void {
    if (depth > VALUE_DEPTH_MAX) throw new ProtoError(`values nest more than ${VALUE_DEPTH_MAX} levels deep`, start);
    const { bytes } = this.reader;
    // Nearly all values are short strings: one field, its length in one byte.
    const length = end - start - 2;
    if (length >= 0 && length < 0x80 && bytes[start] === STRING && bytes[start + 1] === length) {
      this.text(bytes, start + 2, end);
      return;
    }
    const value = (this.values[depth] ??= new AnyValue());
    value.read(this.reader, start, end);
    this.any(value, depth);
  }

  /** A value that was read. @throws ProtoError */
  any(value: AnyValue, depth = 0): void {
    switch (value.kind) {
      case Kind.string:
        this.text(this.reader.bytes, value.start, value.end);
        return;
      case Kind.bool:
        this.ascii(value.number === 0 ? "false" : "true");
        return;
      case Kind.int:
        this.ascii(String(value.int));
        return;
      case Kind.double:
        this.ascii(Number.isFinite(value.number) ? floatText(value.number) : "null");
        return;
      case Kind.array:
        this.array(value.start, value.end, depth);
        return;
      case Kind.list:
        this.list(value.start, value.end, depth);
        return;
      case Kind.bytes:
        this.ascii(`"${base64(this.reader.bytes, value.start, value.end)}"`);
        return;
      default:
        this.ascii("null");
    }
  }

  /** A string out of UTF-8; bytes that are none are copied as they are. */
  text(source: Uint8Array, start: number, end: number): void {
    if (end - start <= PIECE_BYTES) this.shortText(source, start, end);
    else this.longText(source, start, end);
  }

  /** Nearly all texts: room is made once, and what needs no escape is copied in one loop. */
  private shortText(source: Uint8Array, start: number, end: number): void {
    this.reserve((end - start) * ESCAPED_BYTES_MAX + 2);
    const { bytes } = this;
    let to = this.used;
    bytes[to++] = QUOTE;
    let at = start;
    for (; at < end; at++) {
      const byte = source[at] as number;
      if (ESCAPES[byte] !== 0) break;
      bytes[to++] = byte;
    }
    this.used = to;
    if (at < end) this.piece(source, at, end, end);
    bytes[this.used++] = QUOTE;
  }

  private longText(source: Uint8Array, start: number, end: number): void {
    this.byte(QUOTE);
    for (let at = start; at < end; ) {
      const stop = Math.min(end, at + PIECE_BYTES);
      this.reserve((stop - at) * ESCAPED_BYTES_MAX);
      at = this.piece(source, at, stop, end);
    }
    this.byte(QUOTE);
  }

  /** A string. */
  string(text: string): void {
    const bytes = encoder.encode(text);
    this.text(bytes, 0, bytes.length);
  }

  /** Text of ASCII characters as it is. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes } = this;
    let to = this.used;
    for (let i = 0; i < text.length; i++) bytes[to++] = text.charCodeAt(i);
    this.used = to;
  }

  /** Escapes `source[start, stop)` of a text up to `end`: as `JSON.stringify`, and two line ends that JavaScript once took for its own. */
  private piece(source: Uint8Array, start: number, stop: number, end: number): number {
    const { bytes } = this;
    let to = this.used;
    let at = start;
    while (at < stop) {
      const byte = source[at++] as number;
      const escape = ESCAPES[byte] as number;
      if (escape === 0) bytes[to++] = byte;
      else if (escape === LINE_END) {
        const last = source[at + 1] as number;
        if (at + 1 < end && source[at] === 0x80 && (last === 0xa8 || last === 0xa9)) {
          to = putAscii(bytes, to, last === 0xa8 ? "\\u2028" : "\\u2029");
          at += 2;
        } else bytes[to++] = byte;
      } else if (escape === CONTROL) to = putAscii(bytes, to, `\\u00${byte.toString(16).padStart(2, "0")}`);
      else {
        bytes[to++] = 0x5c;
        bytes[to++] = escape;
      }
    }
    this.used = to;
    return at;
  }

  private array(start: number, end: number, depth: number): void {
    const { reader } = this;
    this.byte(0x5b);
    let isFirst = true;
    for (let at = start; at < end; ) {
      reader.at = at;
      const tag = reader.tag(end);
      if (tag === ITEM) {
        const stop = reader.lengthEnd(end);
        if (!isFirst) this.byte(COMMA);
        isFirst = false;
        this.value(reader.at, stop, depth + 1);
        at = stop;
      } else {
        reader.skip(tag, end);
        at = reader.at;
      }
    }
    this.byte(0x5d);
  }

  private list(start: number, end: number, depth: number): void {
    const { reader, nested } = this;
    const base = nested.count;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === ITEM) nested.push(reader, end);
      else reader.skip(tag, end);
    }
    this.object(nested, base, depth + 1);
    nested.count = base;
  }

  /** One byte as it is. */
  byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.used++] = byte;
  }

  private reserve(count: number): void {
    const need = this.used + count;
    if (need > this.bytes.length) this.bytes = longerBytes(this.bytes, this.used, need);
  }
}

function putAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/** `bytes[start, end)` in base64. */
function base64(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("base64");
}
