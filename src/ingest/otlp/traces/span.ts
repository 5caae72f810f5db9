/**
 * One span: where its parts stand in the message, and its events and links as JSON text (contract ingest.md 4.3).
 */
import { FIELD_TEXT_BYTES_MAX } from "../../../base/limits.ts";
import { formatTimestamp } from "../../../value/format-time.ts";
import { field, type ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { AnyValue, Attributes, Kind } from "../any-value.ts";
import type { JsonSink } from "../json-sink.ts";
import type { Sent } from "./reconcile.ts";
import type { SentAttributes } from "./shared-attributes.ts";
import { hexOf, textOf } from "../text.ts";

/** Places of parts in `SpanReader.from` and `to`. */
export const P = { traceId: 0, spanId: 1, parentId: 2, traceState: 3, name: 4, statusMessage: 5 } as const;

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
const COMMA = 0x2c;

/** Reads spans out of the message that the reader has open. */
export class SpanReader {
  readonly attributes: Attributes = new Attributes();
  readonly from: Uint32Array = new Uint32Array(6);
  readonly to: Uint32Array = new Uint32Array(6);
  /** Where events and links stand: start and end of each. */
  readonly events: number[] = [];
  readonly links: number[] = [];
  kind = 0;
  /** Undefined without a status. */
  status: number | undefined;
  startLow = 0;
  startHigh = 0;
  endLow = 0;
  endHigh = 0;
  private readonly reader: ProtoReader;
  private readonly list: Attributes = new Attributes();

  constructor(reader: ProtoReader) {
    this.reader = reader;
  }

  /** Reads the span at `[start, end)`. @throws ProtoError */
  read(start: number, end: number): void {
    const { reader, from, to, attributes, events, links } = this;
    from.fill(0);
    to.fill(0);
    attributes.count = 0;
    events.length = 0;
    links.length = 0;
    this.kind = 0;
    this.status = undefined;
    this.startLow = this.startHigh = this.endLow = this.endHigh = 0;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      switch (tag) {
        case T.traceId:
          this.span(P.traceId, end);
          break;
        case T.spanId:
          this.span(P.spanId, end);
          break;
        case T.parentId:
          this.span(P.parentId, end);
          break;
        case T.traceState:
          this.span(P.traceState, end);
          break;
        case T.name:
          this.span(P.name, end);
          break;
        case T.kind:
          reader.varint64(end);
          this.kind = reader.high === 0 ? reader.low : 0;
          break;
        case T.start: {
          const at = reader.take(8, end);
          this.startLow = reader.view.getUint32(at, true);
          this.startHigh = reader.view.getUint32(at + 4, true);
          break;
        }
        case T.end: {
          const at = reader.take(8, end);
          this.endLow = reader.view.getUint32(at, true);
          this.endHigh = reader.view.getUint32(at + 4, true);
          break;
        }
        case T.attributes:
          attributes.push(reader, end);
          break;
        case T.events:
          this.place(events, end);
          break;
        case T.links:
          this.place(links, end);
          break;
        case T.status:
          this.readStatus(reader.lengthEnd(end));
          break;
        default:
          reader.skip(tag, end);
      }
    }
  }

  /** Writes the events as a JSON array; keys stand in the order in which JSON is kept. @throws ProtoError */
  writeEvents(json: JsonSink): void {
    json.ascii("[");
    for (let i = 0; i < this.events.length; i += 2) {
      if (i > 0) json.byte(COMMA);
      this.writeEvent(json, this.events[i] as number, this.events[i + 1] as number);
    }
    json.ascii("]");
  }

  /** Writes the links as a JSON array. @throws ProtoError */
  writeLinks(json: JsonSink): void {
    json.ascii("[");
    for (let i = 0; i < this.links.length; i += 2) {
      if (i > 0) json.byte(COMMA);
      this.writeLink(json, this.links[i] as number, this.links[i + 1] as number);
    }
    json.ascii("]");
  }

  /** Whether a text of the span, long as it is, is longer than a column keeps. `json` is for arrays and lists. @throws ProtoError */
  hasLongText(value: AnyValue, json: JsonSink): boolean {
    const { from, to, attributes, reader } = this;
    for (let place = 0; place < from.length; place++) {
      if (((to[place] as number) - (from[place] as number)) * 2 > FIELD_TEXT_BYTES_MAX) return true;
    }
    for (let i = 0; i < attributes.count; i++) {
      attributes.value(reader, i, value);
      if (value.end - value.start > FIELD_TEXT_BYTES_MAX && value.kind !== Kind.none) return true;
      if (value.kind !== Kind.array && value.kind !== Kind.list) continue;
      json.reset();
      json.any(value);
      if (json.used > FIELD_TEXT_BYTES_MAX) return true;
    }
    return false;
  }

  /** The trace's and the span's identifier, as reasons name them. */
  get label(): string {
    const { bytes } = this.reader;
    const hex = (place: number): string => hexOf(bytes, this.from[place] as number, this.to[place] as number);
    return `${hex(P.traceId)}:${hex(P.spanId)}`;
  }

  private writeEvent(json: JsonSink, start: number, end: number): void {
    const { reader, list } = this;
    const [base, time] = [list.count, { nanos: 0n }];
    let [nameStart, nameEnd] = [0, 0];
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === EVENT_TIME) time.nanos = reader.view.getBigUint64(reader.take(8, end), true);
      else if (tag === EVENT_NAME) {
        nameEnd = reader.lengthEnd(end);
        nameStart = reader.at;
        reader.at = nameEnd;
      } else if (tag === EVENT_ATTRIBUTES) list.push(reader, end);
      else reader.skip(tag, end);
    }
    json.ascii('{"attributes":');
    json.object(list, base);
    list.count = base;
    json.ascii(',"name":');
    json.text(reader.bytes, nameStart, nameEnd);
    json.ascii(`,"time":"${eventTime(time.nanos)}"}`);
  }

  private writeLink(json: JsonSink, start: number, end: number): void {
    const { reader, list } = this;
    const base = list.count;
    let [traceId, spanId] = ["", ""];
    let [stateStart, stateEnd] = [0, 0];
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === LINK_TRACE || tag === LINK_SPAN) {
        const stop = reader.lengthEnd(end);
        const id = hexOf(reader.bytes, reader.at, stop);
        if (tag === LINK_TRACE) traceId = id;
        else spanId = id;
        reader.at = stop;
      } else if (tag === LINK_STATE) {
        stateEnd = reader.lengthEnd(end);
        stateStart = reader.at;
        reader.at = stateEnd;
      } else if (tag === LINK_ATTRIBUTES) list.push(reader, end);
      else reader.skip(tag, end);
    }
    json.ascii('{"attributes":');
    json.object(list, base);
    list.count = base;
    json.ascii(`,"span_id":"${spanId}","trace_id":"${traceId}","trace_state":`);
    json.text(reader.bytes, stateStart, stateEnd);
    json.ascii("}");
  }

  private readStatus(end: number): void {
    const { reader } = this;
    this.status ??= 0;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === STATUS_CODE) {
        reader.varint64(end);
        this.status = reader.high === 0 ? reader.low : 0;
      } else if (tag === STATUS_MESSAGE) this.span(P.statusMessage, end);
      else reader.skip(tag, end);
    }
  }

  private span(place: number, end: number): void {
    const stop = this.reader.lengthEnd(end);
    this.from[place] = this.reader.at;
    this.to[place] = stop;
    this.reader.at = stop;
  }

  private place(places: number[], end: number): void {
    const stop = this.reader.lengthEnd(end);
    places.push(this.reader.at, stop);
    this.reader.at = stop;
  }
}

/** The attributes of a resource or a scope as values, of equal keys the last. @throws ProtoError */
export function sentAttributes(list: Attributes, reader: ProtoReader, json: JsonSink): SentAttributes {
  const found = new Map<string, Sent>();
  const value = new AnyValue();
  for (let i = 0; i < list.count; i++) {
    list.value(reader, i, value);
    const sent = sentOf(value, reader, json);
    if (sent !== undefined) found.set(list.key(reader.bytes, i), sent);
  }
  return found;
}

function sentOf(value: AnyValue, reader: ProtoReader, json: JsonSink): Sent | undefined {
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

/** `2024-05-08 07:01:00.000000000+0000`. */
function eventTime(nanos: bigint): string {
  const seconds = formatTimestamp(nanos / 1_000_000_000n, "second").replace("T", " ");
  return `${seconds}.${String(nanos % 1_000_000_000n).padStart(9, "0")}+0000`;
}
