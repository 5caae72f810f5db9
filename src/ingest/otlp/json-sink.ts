/**
 * Attributes and values as the JSON text that Varve keeps (column/json-text.ts): compact, keys sorted by code point, of
 * equal keys the last. Bytes go to bytes; strings are made for numbers and for text beyond ASCII only.
 *
 * Binary values become base64 as in OTLP's own JSON, numbers that JSON does not have become null.
 */
import { floatText } from "../../column/retype-text.ts";
import { field, ProtoError, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { AnyValue, Attributes, Kind } from "./any-value.ts";
import { VALUE_DEPTH_MAX } from "./limits.ts";
import { textOf } from "./text.ts";

const encoder = new TextEncoder();
const ITEM = field(1, Wire.bytes);
const QUOTE = 0x22;
const COMMA = 0x2c;

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

  /** A string. */
  text(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start + 2);
    const { bytes } = this;
    let to = this.used;
    bytes[to++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = source[at] as number;
      if (byte < 0x20 || byte >= 0x80 || byte === QUOTE || byte === 0x5c) {
        this.string(textOf(source, start, end));
        return;
      }
      bytes[to++] = byte;
    }
    bytes[to++] = QUOTE;
    this.used = to;
  }

  /** A string. */
  string(text: string): void {
    const json = JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
    this.reserve(json.length * 3);
    this.used += encoder.encodeInto(json, this.bytes.subarray(this.used)).written;
  }

  /** Text of ASCII characters as it is. */
  ascii(text: string): void {
    this.reserve(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[this.used++] = text.charCodeAt(i);
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

  private byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.used++] = byte;
  }

  private reserve(count: number): void {
    const need = this.used + count;
    if (need <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(need, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.used));
    this.bytes = grown;
  }
}

/** `bytes[start, end)` in base64. */
function base64(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("base64");
}
