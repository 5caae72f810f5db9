/**
 * Spans as plain objects: their attributes need one type a column over the whole request before a row is made (contract ingest.md 4.3).
 */
import { field, type ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { type AnyValue, Attributes, Kind } from "../any-value.ts";
import { JsonSink } from "../json-sink.ts";
import { SPAN_KINDS, STATUS_CODES } from "../messages.ts";
import { hexOf, textOf } from "../text.ts";
import type { Sent } from "./reconcile.ts";

/** Attributes by key, of equal ones the last; empty values are left out. */
export type SentAttributes = ReadonlyMap<string, Sent>;

/** One span. Times in nanoseconds since 1970. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly statusCode: string;
  readonly statusMessage: string;
  readonly attributes: SentAttributes;
  /** JSON texts. */
  readonly attributesJson: string;
  readonly events: string;
  readonly links: string;
}

const T = {
  traceId: field(1, Wire.bytes),
  spanId: field(2, Wire.bytes),
  traceState: field(3, Wire.bytes),
  parentId: field(4, Wire.bytes),
  name: field(5, Wire.bytes),
  kind: field(6, Wire.varint),
  start: field(7, Wire.fixed64),
  end: field(8, Wire.fixed64),
  attributes: field(9, Wire.bytes),
  events: field(11, Wire.bytes),
  links: field(13, Wire.bytes),
  status: field(15, Wire.bytes),
} as const;
const STATUS_MESSAGE = field(2, Wire.bytes);
const STATUS_CODE = field(3, Wire.varint);
const EVENT_TIME = field(1, Wire.fixed64);
const EVENT_NAME = field(2, Wire.bytes);
const EVENT_ATTRIBUTES = field(3, Wire.bytes);
const LINK_TRACE = field(1, Wire.bytes);
const LINK_SPAN = field(2, Wire.bytes);
const LINK_STATE = field(3, Wire.bytes);
const LINK_ATTRIBUTES = field(4, Wire.bytes);

/** Reads spans out of the message that the reader has open. */
export class SpanReader {
  private readonly reader: ProtoReader;
  private readonly json: JsonSink;
  private readonly value: AnyValue;
  private readonly list: Attributes = new Attributes();

  constructor(reader: ProtoReader, value: AnyValue) {
    this.reader = reader;
    this.json = new JsonSink(reader);
    this.value = value;
  }

  /** The span at `[start, end)`. @throws ProtoError */
  span(start: number, end: number): Span {
    const { reader } = this;
    const texts = { traceId: "", spanId: "", parentId: "", traceState: "", name: "" };
    const attributes = new Attributes();
    const events: string[] = [];
    const links: string[] = [];
    let status = { statusCode: "", statusMessage: "" };
    let kind = 0;
    const times = { start: 0n, end: 0n };
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === T.traceId) texts.traceId = this.hex(end);
      else if (tag === T.spanId) texts.spanId = this.hex(end);
      else if (tag === T.parentId) texts.parentId = this.hex(end);
      else if (tag === T.traceState) texts.traceState = this.text(end);
      else if (tag === T.name) texts.name = this.text(end);
      else if (tag === T.kind) kind = reader.varint32(end);
      else if (tag === T.start) times.start = this.time(end);
      else if (tag === T.end) times.end = this.time(end);
      else if (tag === T.attributes) attributes.push(reader, end);
      else if (tag === T.events) events.push(this.event(reader.lengthEnd(end)));
      else if (tag === T.links) links.push(this.link(reader.lengthEnd(end)));
      else if (tag === T.status) status = this.status(reader.lengthEnd(end));
      else reader.skip(tag, end);
    }
    return {
      ...texts,
      ...times,
      ...status,
      kind: SPAN_KINDS[kind] ?? "SPAN_KIND_UNSPECIFIED",
      attributes: this.attributes(attributes),
      attributesJson: this.attributesJson(attributes),
      events: `[${events.join(",")}]`,
      links: `[${links.join(",")}]`,
    };
  }

  /** Attributes as values. @throws ProtoError */
  attributes(list: Attributes): SentAttributes {
    const found = new Map<string, Sent>();
    for (let i = 0; i < list.count; i++) {
      const key = list.key(this.reader.bytes, i);
      list.value(this.reader, i, this.value);
      const sent = this.sent();
      if (sent !== undefined) found.set(key, sent);
    }
    return found;
  }

  /** Attributes as a JSON object. Sorts the list. @throws ProtoError */
  attributesJson(list: Attributes): string {
    this.json.reset();
    this.json.object(list, 0);
    return textOf(this.json.bytes, 0, this.json.used);
  }

  private sent(): Sent | undefined {
    const { value, reader, json } = this;
    switch (value.kind) {
      case Kind.none:
        return undefined;
      case Kind.string:
        return { kind: "string", value: textOf(reader.bytes, value.start, value.end) };
      case Kind.bool:
        return { kind: "bool", value: value.number === 1 };
      case Kind.int:
        return { kind: "int", value: value.int };
      case Kind.double:
        return { kind: "double", value: value.number };
      case Kind.bytes:
        return { kind: "bytes", value: reader.bytes.slice(value.start, value.end) };
      default:
        json.reset();
        json.any(value);
        return { kind: "json", value: textOf(json.bytes, 0, json.used) };
    }
  }

  /** Keys of the objects below are written in the order in which JSON is kept. */
  private event(end: number): string {
    const { reader, list } = this;
    list.count = 0;
    let time = 0n;
    let name = "";
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === EVENT_TIME) time = this.time(end);
      else if (tag === EVENT_NAME) name = this.text(end);
      else if (tag === EVENT_ATTRIBUTES) list.push(reader, end);
      else reader.skip(tag, end);
    }
    const attributes = this.attributesJson(list);
    reader.at = end;
    return `{"attributes":${attributes},"name":${jsonText(name)},"time":"${eventTime(time)}"}`;
  }

  private link(end: number): string {
    const { reader, list } = this;
    list.count = 0;
    const texts = { traceId: "", spanId: "", state: "" };
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === LINK_TRACE) texts.traceId = this.hex(end);
      else if (tag === LINK_SPAN) texts.spanId = this.hex(end);
      else if (tag === LINK_STATE) texts.state = this.text(end);
      else if (tag === LINK_ATTRIBUTES) list.push(reader, end);
      else reader.skip(tag, end);
    }
    const attributes = this.attributesJson(list);
    reader.at = end;
    const { traceId, spanId, state } = texts;
    return `{"attributes":${attributes},"span_id":"${spanId}","trace_id":"${traceId}","trace_state":${jsonText(state)}}`;
  }

  private status(end: number): { statusCode: string; statusMessage: string } {
    const { reader } = this;
    let code = 0;
    let statusMessage = "";
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === STATUS_CODE) code = reader.varint32(end);
      else if (tag === STATUS_MESSAGE) statusMessage = this.text(end);
      else reader.skip(tag, end);
    }
    return { statusCode: STATUS_CODES[code] ?? "STATUS_CODE_UNSET", statusMessage };
  }

  private time(end: number): bigint {
    return this.reader.view.getBigUint64(this.reader.take(8, end), true);
  }

  private hex(end: number): string {
    const stop = this.reader.lengthEnd(end);
    const text = hexOf(this.reader.bytes, this.reader.at, stop);
    this.reader.at = stop;
    return text;
  }

  private text(end: number): string {
    const stop = this.reader.lengthEnd(end);
    const text = textOf(this.reader.bytes, this.reader.at, stop);
    this.reader.at = stop;
    return text;
  }
}

function jsonText(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** `2024-05-08 07:01:00.000000000+0000`. */
function eventTime(nanos: bigint): string {
  const seconds = new Date(Number(nanos / 1_000_000_000n) * 1000).toISOString().slice(0, 19).replace("T", " ");
  return `${seconds}.${String(nanos % 1_000_000_000n).padStart(9, "0")}+0000`;
}
