/**
 * OTLP logs to a `WriteBatch` (contract ingest.md 4.4).
 *
 *   request ─► RequestWalk ─► where the parts of a record stand ─► LogRows: bytes of texts, JSON text, hexadecimal digits
 *
 * Attributes become JSON text byte by byte; those of a resource and of a scope once for all of their records. No string a value.
 */
import { FIELD_TEXT_BYTES_MAX } from "../../../base/limits.ts";
import { type DataType, INT64 } from "../../../column/data-type.ts";
import { field, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { tagKey } from "../../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import { SERIES_DICTIONARY_BYTES_MAX, SeriesDictionary } from "../../../table/series-dictionary.ts";
import type { SchemaLookup } from "../../../table/write-batch.ts";
import { AnyValue, Attributes, Kind } from "../any-value.ts";
import { JsonSink } from "../json-sink.ts";
import { RequestWalk, type Scope, type Visitor } from "../scope.ts";
import { hexOf, textOf } from "../text.ts";
import { type OtlpResult, Rejected } from "../types.ts";
import { LOG_COLUMNS, type LogPlan, logPlanOf } from "./columns.ts";
import { ExtraColumns } from "./extra-columns.ts";
import { type Extracted, extracted } from "./extract-keys.ts";
import { C, LogRows } from "./rows.ts";

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

const NONE: ReadonlyMap<string, Extracted> = new Map();
/** Upper halves from here on are beyond the times that 64 bits hold. */
const TIME_HIGH_END = 0x8000_0000;
/** Records of fewer bytes have no text that is too long: a byte of them becomes at most ten. */
const LONG_RECORD_BYTES: number = FIELD_TEXT_BYTES_MAX / 16;
const EMPTY = new Uint8Array(0);

/** Text that stands in a buffer of its own. */
type Text = Uint8Array;

/** Decodes the logs to one database on one thread. */
export class LogDecoder implements Visitor {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly walk: RequestWalk = new RequestWalk(this.reader);
  private readonly rows: LogRows = new LogRows(this.reader);
  private readonly extra: ExtraColumns = new ExtraColumns();
  /** For what is no attribute of a record: attributes of resources and scopes, bodies that are no text. */
  private readonly json: JsonSink = new JsonSink(this.reader);
  private readonly dictionary: SeriesDictionary = new SeriesDictionary();
  private readonly attributes: Attributes = new Attributes();
  private readonly value: AnyValue = new AnyValue();
  private rejected: Rejected = new Rejected();
  private plan: LogPlan = { exists: false, timeUnit: "nanosecond", columns: [] };
  private options: LogOptions | undefined;
  /** Columns of the plan that are tags, other than the scope's name. */
  private otherTags: number[] = [];
  private extractedTypes: Map<string, DataType> = new Map();
  // What belongs to a resource and to a scope.
  private resourceText: Text = EMPTY;
  private resourceUrl: Text = EMPTY;
  private resourceTags: ReadonlyMap<string, Extracted> = NONE;
  private scopeText: Text = EMPTY;
  private scopeName: Text | undefined;
  private scopeVersion: Text = EMPTY;
  private scopeUrl: Text = EMPTY;
  private scopeTags: ReadonlyMap<string, Extracted> = NONE;
  private scopeKey = -1;
  // Where the parts of a record stand.
  private readonly from: Uint32Array = new Uint32Array(5);
  private readonly to: Uint32Array = new Uint32Array(5);
  private timeLow = 0;
  private timeHigh = 0;
  private severity = 0;
  private flags = 0;

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.dictionary.memoryBytes + this.json.bytes.byteLength + this.rows.byteSize;
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
    this.rows.reset(body.length);
    this.extra.reset();
    this.otherTags = plan.columns.flatMap(({ isTag }, i) => (isTag && i !== C.scopeName ? [i] : []));
    this.walk.walk(this);
    this.shareScope();
    const tables = this.rows.writes(options.table, plan.timeUnit, plan.columns, this.extra, this.shape());
    return {
      batch: { dictionary: this.dictionary, tables },
      rowCount: this.rows.rowCount,
      rejected: this.rejected,
    };
  }

  /** Called by the walk. */
  resource(scope: Scope): void {
    this.shareScope();
    const { extractKeys } = this.opened();
    this.resourceTags = extractKeys.length === 0 ? NONE : extracted(this.reader, scope.attributes, extractKeys);
    this.resourceText = this.jsonOf(scope.attributes);
    this.resourceUrl = this.reader.bytes.subarray(scope.urlStart, scope.urlEnd);
  }

  /** Called by the walk. */
  scope(scope: Scope): void {
    this.shareScope();
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
    this.read(start, end);
    if (this.timeHigh >= TIME_HIGH_END) {
      const time = (BigInt(this.timeHigh) << 32n) | BigInt(this.timeLow);
      this.rejected.add(`the time ${time} is beyond what 64 bits hold in nanoseconds`);
      return;
    }
    const { rows, value } = this;
    rows.attributes.sink.object(this.attributes, 0);
    value.read(this.reader, this.from[C.body] as number, this.to[C.body] as number);
    this.json.reset();
    if (value.kind !== Kind.none && value.kind !== Kind.string) this.json.any(value);
    if (end - start >= LONG_RECORD_BYTES && this.hasLongText()) {
      rows.attributes.cut();
      this.rejected.add(`a record has a text of more than ${FIELD_TEXT_BYTES_MAX} bytes`);
      return;
    }
    const { extractKeys } = this.opened();
    const own = extractKeys.length === 0 ? NONE : extracted(this.reader, this.attributes, extractKeys);
    const key = this.scopeKey >= 0 ? this.scopeKey : this.keyOf(own);
    rows.begin(this.timeLow, this.timeHigh, key, this.severity, this.flags);
    this.put();
    if (own.size > 0 || this.resourceTags.size > 0 || this.scopeTags.size > 0) this.putExtracted(own);
  }

  /** Reads the time of a record and where its parts stand. */
  private read(start: number, end: number): void {
    const { reader, from, to, attributes } = this;
    from.fill(0);
    to.fill(0);
    attributes.count = 0;
    this.severity = 0;
    this.flags = 0;
    let [low, high, observedLow, observedHigh] = [0, 0, 0, 0];
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      switch (tag) {
        case TIME: {
          const at = reader.take(8, end);
          low = reader.view.getUint32(at, true);
          high = reader.view.getUint32(at + 4, true);
          break;
        }
        case OBSERVED_TIME: {
          const at = reader.take(8, end);
          observedLow = reader.view.getUint32(at, true);
          observedHigh = reader.view.getUint32(at + 4, true);
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
    const hasTime = low !== 0 || high !== 0;
    this.timeLow = hasTime ? low : observedLow;
    this.timeHigh = hasTime ? high : observedHigh;
  }

  private span(place: number, end: number): void {
    const stop = this.reader.lengthEnd(end);
    this.from[place] = this.reader.at;
    this.to[place] = stop;
    this.reader.at = stop;
  }

  /** Whether a text of the record that was read is longer than a column keeps. */
  private hasLongText(): boolean {
    const { from, to, value, json, rows } = this;
    const length = (place: number): number => (to[place] as number) - (from[place] as number);
    const body = value.kind === Kind.string ? value.end - value.start : json.used;
    const attributes = rows.attributes.sink.used - rows.attributes.start;
    return Math.max(body, attributes, length(C.severityText), 2 * length(C.traceId), 2 * length(C.spanId)) > FIELD_TEXT_BYTES_MAX;
  }

  /** Adds the texts of the row begun last; its attributes are there. */
  private put(): void {
    const { rows, from, to, value, json } = this;
    const { bytes } = this.reader;
    rows.traceId.addHex(bytes, from[C.traceId] as number, to[C.traceId] as number);
    rows.spanId.addHex(bytes, from[C.spanId] as number, to[C.spanId] as number);
    rows.severityText.add(bytes, from[C.severityText] as number, to[C.severityText] as number);
    if (value.kind === Kind.string) rows.body.add(bytes, value.start, value.end);
    else if (value.kind === Kind.none) rows.body.addNull();
    else rows.body.add(json.bytes, 0, json.used);
    rows.attributes.end();
  }

  /** Gives the rows since the last scope what it and its resource say. */
  private shareScope(): void {
    const { scopeName, scopeVersion, scopeText, scopeUrl, resourceText, resourceUrl } = this;
    this.rows.share([scopeName, scopeVersion, scopeText, scopeUrl, resourceText, resourceUrl]);
  }

  /** The key of a record's tags where they are not those of its scope alone. */
  private keyOf(own: ReadonlyMap<string, Extracted>): number {
    const { options, plan } = this;
    const tags = new Map<string, string>();
    if (plan.columns[C.scopeName]?.isTag === true) tags.set("scope_name", this.nameOfScope());
    for (const place of this.otherTags) tags.set(plan.columns[place]?.name ?? "", this.textAt(place));
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
      this.extra.set(this.rows.rowCount - 1, name, to.kind === "string" ? to : type, to.kind === "string" ? String(value) : value);
    }
  }

  /** Text of a column that the table has as a tag. */
  private textAt(place: number): string {
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
        return textOf(this.json.bytes, 0, this.json.used);
      case C.attributes:
        return textOf(this.rows.attributes.sink.bytes, this.rows.attributes.start, this.rows.attributes.sink.used);
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
    this.json.reset();
    this.json.object(list, 0);
    return this.json.bytes.slice(0, this.json.used);
  }

  private opened(): LogOptions {
    return this.options as LogOptions; // Set before the walk begins.
  }
}
