/**
 * Log records as the rows that a pipeline takes (contract ingest.md 4.4): one object a record, attributes as objects in it.
 */
import { field, ProtoError, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { floatValue, PipelineTime, type PipelineObject, type PipelineValue, setField } from "../../common/value.ts";
import { AnyValue, Attributes, Kind } from "../any-value.ts";
import { eachField } from "../each-field.ts";
import { JsonSink } from "../json-sink.ts";
import { VALUE_DEPTH_MAX } from "../limits.ts";
import { RequestWalk, type Scope } from "../scope.ts";
import { hexOf, textOf } from "../text.ts";

const R = {
  time: field(1, Wire.fixed64),
  severityNumber: field(2, Wire.varint),
  severityText: field(3, Wire.bytes),
  body: field(5, Wire.bytes),
  attributes: field(6, Wire.bytes),
  flags: field(8, Wire.fixed32),
  traceId: field(9, Wire.bytes),
  spanId: field(10, Wire.bytes),
  observedTime: field(11, Wire.fixed64),
} as const;
const ITEM = field(1, Wire.bytes);

/** The records of a request in protobuf. @throws ProtoError when the body is no request */
export function pipelineItems(body: Uint8Array): PipelineObject[] {
  return new ItemReader(body).items();
}

class ItemReader {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly json: JsonSink = new JsonSink(this.reader);

  constructor(body: Uint8Array) {
    this.reader.open(body);
  }

  items(): PipelineObject[] {
    const found: PipelineObject[] = [];
    let resource: PipelineObject = {};
    let scope: PipelineObject = {};
    new RequestWalk(this.reader).walk({
      resource: (head) => {
        resource = this.resourceFields(head);
      },
      scope: (head) => {
        scope = this.scopeFields(head);
      },
      record: (start, end) => {
        // A pipeline changes its rows, so each has objects of its own.
        found.push({ ...this.record(start, end), ...structuredCopy(resource), ...structuredCopy(scope) });
      },
    });
    return found;
  }

  private resourceFields({ attributes, urlStart, urlEnd }: Scope): PipelineObject {
    const { bytes } = this.reader;
    return { ResourceSchemaUrl: textOf(bytes, urlStart, urlEnd), ResourceAttributes: this.object(attributes, 0) };
  }

  private scopeFields(scope: Scope): PipelineObject {
    const { bytes } = this.reader;
    return {
      ScopeSchemaUrl: textOf(bytes, scope.urlStart, scope.urlEnd),
      ScopeName: scope.isSet ? textOf(bytes, scope.nameStart, scope.nameEnd) : null,
      ScopeVersion: textOf(bytes, scope.versionStart, scope.versionEnd),
      ScopeAttributes: this.object(scope.attributes, 0),
    };
  }

  private record(start: number, end: number): PipelineObject {
    const { reader } = this;
    const row: PipelineObject = {
      Timestamp: nanos(0n),
      ObservedTimestamp: nanos(0n),
      TraceId: "",
      SpanId: "",
      TraceFlags: 0,
      SeverityText: "",
      SeverityNumber: 0,
      Body: null,
    };
    const attributes = new Attributes();
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === R.time) row["Timestamp"] = this.time(end);
      else if (tag === R.observedTime) row["ObservedTimestamp"] = this.time(end);
      else if (tag === R.severityNumber) {
        reader.varint64(end);
        row["SeverityNumber"] = reader.low | 0;
      } else if (tag === R.flags) row["TraceFlags"] = reader.view.getUint32(reader.take(4, end), true);
      else if (tag === R.severityText) row["SeverityText"] = this.text(end);
      else if (tag === R.traceId) row["TraceId"] = this.hex(end);
      else if (tag === R.spanId) row["SpanId"] = this.hex(end);
      else if (tag === R.body) row["Body"] = this.body(end);
      else if (tag === R.attributes) attributes.push(reader, end);
      else reader.skip(tag, end);
    }
    row["LogAttributes"] = this.object(attributes, 0);
    return row;
  }

  /** The body as text: JSON when it is none. */
  private body(outerEnd: number): PipelineValue {
    const { reader, json } = this;
    const end = reader.lengthEnd(outerEnd);
    const value = new AnyValue();
    value.read(reader, reader.at, end);
    reader.at = end;
    if (value.kind === Kind.none) return null;
    if (value.kind === Kind.string) return textOf(reader.bytes, value.start, value.end);
    json.reset();
    json.any(value);
    reader.at = end;
    return textOf(json.bytes, 0, json.used);
  }

  /** Attributes from `base` on as an object, of equal keys the last. Moves the reader. */
  private object(list: Attributes, base: number, depth = 0): PipelineObject {
    const object: PipelineObject = {};
    const value = new AnyValue();
    for (let i = base; i < list.count; i++) {
      list.value(this.reader, i, value);
      setField(object, list.key(this.reader.bytes, i), this.value(value, depth));
    }
    return object;
  }

  private value(value: AnyValue, depth: number): PipelineValue {
    const { reader } = this;
    const { start, end } = value;
    if (depth > VALUE_DEPTH_MAX) throw new ProtoError(`values nest more than ${VALUE_DEPTH_MAX} levels deep`, start);
    switch (value.kind) {
      case Kind.string:
        return textOf(reader.bytes, start, end);
      case Kind.bool:
        return value.number === 1;
      case Kind.int:
        return value.int;
      case Kind.double:
        return floatValue(value.number);
      case Kind.bytes:
        return Buffer.from(reader.bytes.subarray(start, end)).toString("base64");
      case Kind.array: {
        const items: PipelineValue[] = [];
        eachField(reader, start, end, ITEM, (itemStart, itemEnd) => {
          const item = new AnyValue();
          item.read(reader, itemStart, itemEnd);
          items.push(this.value(item, depth + 1));
        });
        return items;
      }
      case Kind.list: {
        const list = new Attributes();
        reader.at = start;
        while (reader.at < end) {
          const tag = reader.tag(end);
          if (tag === ITEM) list.push(reader, end);
          else reader.skip(tag, end);
        }
        return this.object(list, 0, depth + 1);
      }
      default:
        return null;
    }
  }

  private time(end: number): PipelineTime {
    return nanos(BigInt.asIntN(64, this.reader.view.getBigUint64(this.reader.take(8, end), true)));
  }

  private text(end: number): string {
    const stop = this.reader.lengthEnd(end);
    const text = textOf(this.reader.bytes, this.reader.at, stop);
    this.reader.at = stop;
    return text;
  }

  private hex(end: number): string {
    const stop = this.reader.lengthEnd(end);
    const text = hexOf(this.reader.bytes, this.reader.at, stop);
    this.reader.at = stop;
    return text;
  }
}

function nanos(value: bigint): PipelineTime {
  return new PipelineTime(value, "nanosecond");
}

/** Objects and arrays copied, all else shared. */
function structuredCopy(object: PipelineObject): PipelineObject {
  const copy: PipelineObject = {};
  for (const key of Object.keys(object)) setField(copy, key, copied(object[key]));
  return copy;
}

function copied(value: PipelineValue): PipelineValue {
  if (Array.isArray(value)) return (value as readonly PipelineValue[]).map(copied);
  return isPlain(value) ? structuredCopy(value) : value;
}

function isPlain(value: PipelineValue): value is PipelineObject {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
