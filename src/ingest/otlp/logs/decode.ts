/**
 * OTLP logs to a `WriteBatch` (contract ingest.md 4.4).
 *
 *   request ─► RequestWalk ─► where the parts of a record stand ─► cells of its columns
 *
 * Attributes become JSON text byte by byte; those of a resource and of a scope once for all of their records.
 */
import { FIELD_TEXT_BYTES_MAX } from "../../../base/limits.ts";
import { type DataType, INT64, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { field, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { type FieldCells, RowCollector, tagKey } from "../../../table/row-collector.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import { SERIES_DICTIONARY_BYTES_MAX, SeriesDictionary } from "../../../table/series-dictionary.ts";
import type { SchemaLookup } from "../../../table/write-batch.ts";
import { AnyValue, Attributes, Kind } from "../any-value.ts";
import { JsonSink } from "../json-sink.ts";
import { RequestWalk, type Scope, type Visitor } from "../scope.ts";
import { hexOf, setHex, setText, textOf } from "../text.ts";
import { type OtlpResult, Rejected } from "../types.ts";
import { LOG_COLUMNS, type LogPlan, logPlanOf } from "./columns.ts";
import { type Extracted, extracted } from "./extract-keys.ts";

/** Where records go, and how. */
export interface LogOptions {
  readonly database: string;
  readonly table: string;
  /** Attributes that become tags, sorted. */
  readonly extractKeys: readonly string[];
  readonly schemas: SchemaLookup;
}

const TIME = field(1, Wire.fixed64);
const OBSERVED_TIME = field(11, Wire.fixed64);
const SEVERITY_NUMBER = field(2, Wire.varint);
const SEVERITY_TEXT = field(3, Wire.bytes);
const BODY = field(5, Wire.bytes);
const ATTRIBUTES = field(6, Wire.bytes);
const FLAGS = field(8, Wire.fixed32);
const TRACE_ID = field(9, Wire.bytes);
const SPAN_ID = field(10, Wire.bytes);

/** Places of columns in `LogPlan.columns`. */
const C = {
  traceId: 0,
  spanId: 1,
  severityText: 2,
  severityNumber: 3,
  body: 4,
  attributes: 5,
  flags: 6,
  scopeName: 7,
  scopeVersion: 8,
  scopeAttributes: 9,
  scopeUrl: 10,
  resourceAttributes: 11,
  resourceUrl: 12,
} as const;

const NONE: ReadonlyMap<string, Extracted> = new Map();
const NANOS_MAX = 2n ** 63n - 1n;

/** Text that stands in a buffer of its own. */
type Text = Uint8Array;

/** Decodes the logs to one database on one thread. */
export class LogDecoder implements Visitor {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly walk: RequestWalk = new RequestWalk(this.reader);
  private readonly json: JsonSink = new JsonSink(this.reader);
  private readonly dictionary: SeriesDictionary = new SeriesDictionary();
  private readonly attributes: Attributes = new Attributes();
  private readonly value: AnyValue = new AnyValue();
  private rejected: Rejected = new Rejected();
  private plan: LogPlan = { exists: false, timeUnit: "nanosecond", columns: [] };
  private options: LogOptions | undefined;
  private rows: RowCollector = new RowCollector("", "nanosecond");
  private cells: (FieldCells | undefined)[] = [];
  private unitNanos = 1n;
  /** Columns of the plan that are tags, other than the scope's name. */
  private otherTags: number[] = [];
  private extractedTypes: Map<string, DataType> = new Map();
  // What belongs to a resource and to a scope.
  private resourceText: Text = new Uint8Array(0);
  private resourceUrl: Text = new Uint8Array(0);
  private resourceTags: ReadonlyMap<string, Extracted> = NONE;
  private scopeText: Text = new Uint8Array(0);
  private scopeName: Text | undefined;
  private scopeVersion: Text = new Uint8Array(0);
  private scopeUrl: Text = new Uint8Array(0);
  private scopeTags: ReadonlyMap<string, Extracted> = NONE;
  private scopeKey = -1;
  // Where the parts of a record stand.
  private readonly from: Uint32Array = new Uint32Array(5);
  private readonly to: Uint32Array = new Uint32Array(5);
  private severity = 0;
  private flags = 0;

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.dictionary.memoryBytes + this.json.bytes.byteLength;
  }

  /**
   * Decodes a request in protobuf. The batch borrows the decoder's memory until the next call.
   *
   * @throws ProtoError when the body is no request
   * @throws DbError InvalidArguments when a column of the table or an extracted key cannot take what is sent
   */
  decode(body: Uint8Array, options: LogOptions): OtlpResult {
    if (this.dictionary.full || this.dictionary.memoryBytes > SERIES_DICTIONARY_BYTES_MAX * 2) this.dictionary.clear();
    this.options = options;
    this.reader.open(body);
    this.rejected = new Rejected();
    this.extractedTypes = new Map();
    const plan = logPlanOf(options.schemas, options.database, options.table);
    this.plan = plan;
    this.unitNanos = 1_000_000_000n / BigInt(UNITS_PER_SECOND[plan.timeUnit]);
    this.rows = new RowCollector(options.table, plan.timeUnit);
    this.cells = plan.columns.map(({ name, type, isTag }) => (isTag ? undefined : this.rows.field(name, type)));
    this.otherTags = plan.columns.flatMap(({ isTag }, i) => (isTag && i !== C.scopeName ? [i] : []));
    this.walk.walk(this);
    return {
      batch: { dictionary: this.dictionary, tables: this.rows.writes(this.shape()) },
      rowCount: this.rows.rowCount,
      rejected: this.rejected,
    };
  }

  /** Called by the walk. */
  resource(scope: Scope): void {
    const { extractKeys } = this.opened();
    this.resourceTags = extractKeys.length === 0 ? NONE : extracted(this.reader, scope.attributes, extractKeys);
    this.resourceText = this.jsonOf(scope.attributes);
    this.resourceUrl = this.reader.bytes.subarray(scope.urlStart, scope.urlEnd);
  }

  /** Called by the walk. */
  scope(scope: Scope): void {
    const { extractKeys, table } = this.opened();
    const { bytes } = this.reader;
    this.scopeTags = extractKeys.length === 0 ? NONE : extracted(this.reader, scope.attributes, extractKeys);
    this.scopeText = this.jsonOf(scope.attributes);
    this.scopeName = scope.isSet ? bytes.subarray(scope.nameStart, scope.nameEnd) : undefined;
    this.scopeVersion = bytes.subarray(scope.versionStart, scope.versionEnd);
    this.scopeUrl = bytes.subarray(scope.urlStart, scope.urlEnd);
    this.scopeKey = -1;
    if (extractKeys.length > 0 || this.otherTags.length > 0) return;
    const name = this.plan.columns[C.scopeName]?.isTag === true ? this.nameOfScope() : "";
    this.scopeKey = name === "" ? tagKey(this.dictionary, table, [], []) : tagKey(this.dictionary, table, ["scope_name"], [name]);
  }

  /** Called by the walk. */
  record(start: number, end: number): void {
    const time = this.read(start, end);
    if (time > NANOS_MAX) {
      this.rejected.add(`the time ${time} is beyond what 64 bits hold in nanoseconds`);
      return;
    }
    // The body's value comes last, since its text may be made in the same buffer as the attributes'.
    const attributes = this.jsonStart(this.attributes);
    const bodyEnd = this.bodyText();
    if (attributes > FIELD_TEXT_BYTES_MAX || bodyEnd > FIELD_TEXT_BYTES_MAX) {
      this.rejected.add(`a record has a text of more than ${FIELD_TEXT_BYTES_MAX} bytes`);
      return;
    }
    const own = this.opened().extractKeys.length === 0 ? NONE : extracted(this.reader, this.attributes, this.opened().extractKeys);
    const key = this.scopeKey >= 0 ? this.scopeKey : this.keyOf(own, attributes);
    this.rows.begin(this.unitNanos === 1n ? time : time / this.unitNanos, key);
    this.put(attributes);
    if (own.size > 0 || this.resourceTags.size > 0 || this.scopeTags.size > 0) this.putExtracted(own);
  }

  /** Reads where the parts of a record stand, and gives its time. */
  private read(start: number, end: number): bigint {
    const { reader, from, to, attributes } = this;
    from.fill(0);
    to.fill(0);
    attributes.count = 0;
    this.severity = 0;
    this.flags = 0;
    let time = 0n;
    let observed = 0n;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      switch (tag) {
        case TIME:
          time = reader.view.getBigUint64(reader.take(8, end), true);
          break;
        case OBSERVED_TIME: {
          const at = reader.take(8, end);
          if (time === 0n) observed = reader.view.getBigUint64(at, true);
          break;
        }
        case SEVERITY_NUMBER:
          reader.varint64(end);
          this.severity = reader.low | 0;
          break;
        case FLAGS:
          this.flags = reader.view.getUint32(reader.take(4, end), true);
          break;
        case ATTRIBUTES:
          attributes.push(reader, end);
          break;
        case SEVERITY_TEXT:
          this.span(C.severityText, end);
          break;
        case TRACE_ID:
          this.span(C.traceId, end);
          break;
        case SPAN_ID:
          this.span(C.spanId, end);
          break;
        case BODY:
          this.span(C.body, end);
          break;
        default:
          reader.skip(tag, end);
      }
    }
    return time === 0n ? observed : time;
  }

  private span(place: number, end: number): void {
    const stop = this.reader.lengthEnd(end);
    this.from[place] = this.reader.at;
    this.to[place] = stop;
    this.reader.at = stop;
  }

  /** Reads the body's value, and gives how long its text is where it stands as it is. */
  private bodyText(): number {
    const { value } = this;
    value.read(this.reader, this.from[C.body] as number, this.to[C.body] as number);
    if (value.kind === Kind.string) return value.end - value.start;
    const before = this.json.used;
    if (value.kind !== Kind.none) this.json.any(value);
    return this.json.used - before;
  }

  /** Sets the cells of the row begun last. The buffer holds the attributes, then what the body was if it was no text. */
  private put(attributesEnd: number): void {
    const { cells, from, to, json, value } = this;
    const { bytes } = this.reader;
    const traceId = cells[C.traceId];
    if (traceId !== undefined) setHex(traceId, bytes, from[C.traceId] as number, to[C.traceId] as number);
    const spanId = cells[C.spanId];
    if (spanId !== undefined) setHex(spanId, bytes, from[C.spanId] as number, to[C.spanId] as number);
    const severityText = cells[C.severityText];
    if (severityText !== undefined) setText(severityText, bytes, from[C.severityText] as number, to[C.severityText] as number);
    cells[C.severityNumber]?.set(this.severity);
    cells[C.flags]?.set(this.flags);
    const body = cells[C.body];
    if (body !== undefined) {
      if (value.kind === Kind.string) setText(body, bytes, value.start, value.end);
      else if (value.kind !== Kind.none) body.setBytes(json.bytes, attributesEnd, json.used);
    }
    cells[C.attributes]?.setBytes(json.bytes, 0, attributesEnd);
    putText(cells[C.scopeName], this.scopeName);
    putText(cells[C.scopeVersion], this.scopeVersion);
    putText(cells[C.scopeAttributes], this.scopeText);
    putText(cells[C.scopeUrl], this.scopeUrl);
    putText(cells[C.resourceAttributes], this.resourceText);
    putText(cells[C.resourceUrl], this.resourceUrl);
  }

  /** The key of a record's tags where they are not those of its scope alone. */
  private keyOf(own: ReadonlyMap<string, Extracted>, attributesEnd: number): number {
    const { options, plan } = this;
    const tags = new Map<string, string>();
    if (plan.columns[C.scopeName]?.isTag === true) tags.set("scope_name", this.nameOfScope());
    for (const place of this.otherTags) tags.set(plan.columns[place]?.name ?? "", this.textAt(place, attributesEnd));
    for (const list of [this.resourceTags, this.scopeTags, own]) {
      for (const [name, { type, value }] of list) {
        if (!this.isTag(name)) continue;
        this.extractedTypes.set(name, type);
        tags.set(name, String(value));
      }
    }
    const names = [...tags.keys()].filter((name) => tags.get(name) !== "");
    return tagKey(
      this.dictionary,
      options?.table ?? "",
      names,
      names.map((name) => tags.get(name) ?? ""),
    );
  }

  /** Whether an extracted key is a tag: in a new table, and where the table has it as one. */
  private isTag(name: string): boolean {
    const { schemas, database, table } = this.opened();
    if (LOG_COLUMNS.some((column) => column.name === name)) return false; // The record's own column of that name stays.
    const known = schemas.columnOf(database, table, name);
    return known === undefined ? !this.plan.exists : known.semantic === "tag";
  }

  private putExtracted(own: ReadonlyMap<string, Extracted>): void {
    const { schemas, database, table } = this.opened();
    for (const [name, { type, value }] of new Map([...this.resourceTags, ...this.scopeTags, ...own])) {
      if (this.isTag(name) || LOG_COLUMNS.some((column) => column.name === name)) continue;
      const to = schemas.columnOf(database, table, name)?.type ?? type;
      this.rows.field(name, to.kind === "string" ? to : type).set(to.kind === "string" ? String(value) : value);
    }
  }

  /** Text of a column that the table has as a tag. */
  private textAt(place: number, attributesEnd: number): string {
    const { bytes } = this.reader;
    const [from, to] = [this.from[place] ?? 0, this.to[place] ?? 0];
    switch (place) {
      case C.traceId:
      case C.spanId:
        return hexOf(bytes, from, to);
      case C.severityText:
        return textOf(bytes, from, to);
      case C.severityNumber:
        return String(this.severity);
      case C.flags:
        return String(this.flags);
      case C.body:
        if (this.value.kind === Kind.string) return textOf(bytes, this.value.start, this.value.end);
        return textOf(this.json.bytes, attributesEnd, this.json.used);
      case C.attributes:
        return textOf(this.json.bytes, 0, attributesEnd);
      default: {
        const texts = [this.scopeVersion, this.scopeText, this.scopeUrl, this.resourceText, this.resourceUrl];
        const text = texts[place - C.scopeVersion] ?? new Uint8Array(0);
        return textOf(text, 0, text.length);
      }
    }
  }

  /** Columns of a new table: those that every record has, then the extracted keys. */
  private shape(): readonly ColumnDefinition[] {
    if (this.extractedTypes.size === 0) return LOG_COLUMNS;
    const tags = Array.from(this.extractedTypes, ([name, type]): ColumnDefinition => {
      return { name, type: type.kind === "int" ? INT64 : type, semantic: "tag", nullable: true };
    });
    return [...LOG_COLUMNS, ...tags];
  }

  private nameOfScope(): string {
    return this.scopeName === undefined ? "" : textOf(this.scopeName, 0, this.scopeName.length);
  }

  private jsonOf(list: Attributes): Text {
    return this.json.bytes.slice(0, this.jsonStart(list));
  }

  /** Begins the buffer with a list of attributes, and gives where they end. */
  private jsonStart(list: Attributes): number {
    this.json.reset();
    this.json.object(list, 0);
    return this.json.used;
  }

  private opened(): LogOptions {
    return this.options as LogOptions; // Set before the walk begins.
  }
}

function putText(cells: FieldCells | undefined, text: Text | undefined): void {
  if (cells !== undefined && text !== undefined) setText(cells, text, 0, text.length);
}
