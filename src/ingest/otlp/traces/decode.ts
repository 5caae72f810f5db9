/**
 * OTLP traces to `WriteBatch`es (contract ingest.md 4.3): one of spans, one of services and operations, which is written after it.
 *
 *   request ─► spans ─► columns as they were sent ─► a type for each attribute's column ─► columns without the spans that it refuses
 *
 * A column whose values all have its type goes out as it came in; others are converted value by value.
 */
import { FIELD_TEXT_BYTES_MAX } from "../../../base/limits.ts";
import { ProtoReader } from "../../../format/proto/reader.ts";
import { tagKey } from "../../../table/rows/row-collector.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import { SERIES_DICTIONARY_BYTES_MAX, SeriesDictionary } from "../../../table/series-dictionary.ts";
import type { FieldWrite, SchemaLookup, TableWrite, WriteBatch } from "../../../table/write-batch.ts";
import { AnyValue, Kind } from "../any-value.ts";
import { pick } from "../columns/pick.ts";
import { JsonSink } from "../json-sink.ts";
import { RequestWalk, type Scope, type Visitor } from "../scope.ts";
import { textOf } from "../text.ts";
import { type OtlpResult, Rejected } from "../types.ts";
import { AttributeTable, setValue } from "./attribute-table.ts";
import { attributeFields } from "./attribute-fields.ts";
import { Auxiliary, type Service } from "./auxiliary.ts";
import { V0_COLUMNS, V1_HEAD, V1_TAIL } from "./columns.ts";
import { SpanRows } from "./rows.ts";
import { type SentAttributes, SharedAttributes } from "./shared-attributes.ts";
import { P, sentAttributes, SpanReader } from "./span.ts";

/** The two data models. */
export type TraceModel = "v0" | "v1";

/** Where spans go, and how. */
export interface TraceOptions {
  readonly database: string;
  readonly table: string;
  readonly model: TraceModel;
  readonly schemas: SchemaLookup;
}

/** Spans, and what tells of them. */
export interface TraceResult extends OtlpResult {
  /** Rows of `<table>_services` and `<table>_operations`; not borrowed. */
  readonly auxiliary: WriteBatch;
  /** Schema URL of the spans; "mixed" or "unknown". */
  readonly conventions: string;
}

const SERVICE = "service.name";
const NONE: SentAttributes = new Map();
const EMPTY = new Uint8Array(0);
/** Upper halves from here on are beyond the times that 64 bits hold. */
const TIME_HIGH_END = 0x8000_0000;
/** Spans of fewer bytes have no text that is too long: a byte of them becomes at most ten, but for events and links. */
const LONG_SPAN_BYTES: number = FIELD_TEXT_BYTES_MAX / 16;

/** Decodes the traces to one database on one thread. */
export class TraceDecoder implements Visitor {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly walk: RequestWalk = new RequestWalk(this.reader);
  private readonly span: SpanReader = new SpanReader(this.reader);
  private readonly rows: SpanRows = new SpanRows(this.reader);
  private readonly json: JsonSink = new JsonSink(this.reader);
  private readonly value: AnyValue = new AnyValue();
  private readonly dictionary: SeriesDictionary = new SeriesDictionary();
  private readonly attributes: AttributeTable = new AttributeTable("span_attributes.");
  private readonly scopes: SharedAttributes = new SharedAttributes("scope_attributes.");
  private readonly resources: SharedAttributes = new SharedAttributes("resource_attributes.", SERVICE);
  private auxiliary: Auxiliary = new Auxiliary("");
  private rejected: Rejected = new Rejected();
  private options: TraceOptions | undefined;
  private urls: Set<string> = new Set();
  /** By row; spans of one service share the object. */
  private services: { readonly from: number; readonly service: Service }[] = [];
  // What belongs to a resource and to a scope.
  private service: Service = { name: undefined, operations: new Map() };
  private serviceKey = 0;
  private resourceSent: SentAttributes = NONE;
  private scopeSent: SentAttributes = NONE;
  private resourceJson: Uint8Array = EMPTY;
  private scopeJson: Uint8Array = EMPTY;
  private scopeName: Uint8Array = EMPTY;
  private scopeVersion: Uint8Array = EMPTY;
  private sharedRows = 0;

  /** Bytes that are kept for the next request, nearly. */
  get memoryBytes(): number {
    return this.dictionary.memoryBytes + this.rows.byteSize + this.attributes.byteSize + this.json.bytes.byteLength;
  }

  /**
   * Decodes a request in protobuf. The batch of spans borrows the decoder's memory until the next call.
   *
   * @throws ProtoError when the body is no request
   * @throws DbError InvalidArguments when it has too many attributes, or unfolds to too many bytes
   */
  decode(body: Uint8Array, options: TraceOptions): TraceResult {
    if (this.dictionary.full || this.dictionary.memoryBytes > SERIES_DICTIONARY_BYTES_MAX * 2) this.dictionary.clear();
    this.options = options;
    this.reader.open(body);
    this.rows.reset(body.length);
    this.attributes.reset();
    this.scopes.reset();
    this.resources.reset();
    this.rejected = new Rejected();
    this.auxiliary = new Auxiliary(options.table);
    this.urls = new Set();
    this.services = [];
    this.sharedRows = 0;
    this.walk.walk(this);
    this.shareScope();
    const { tables, rowCount } = this.writes(options);
    return {
      batch: { dictionary: this.dictionary, tables },
      rowCount,
      rejected: this.rejected,
      auxiliary: this.auxiliary.batch(),
      conventions: this.conventions(),
    };
  }

  /** Called by the walk. */
  resource(scope: Scope): void {
    this.shareScope();
    const { reader, json } = this;
    this.resourceSent = sentAttributes(scope.attributes, reader, json);
    // Without a service's name the first attribute stands for it, as the reference has it.
    const named = this.resourceSent.get(SERVICE) ?? this.resourceSent.values().next().value;
    const name = named?.kind === "string" || named?.kind === "bytes" ? textOfSent(named.value) : "";
    this.service = { name: name === "" ? undefined : name, operations: new Map() };
    const { table } = this.opened();
    this.serviceKey = name === "" ? tagKey(this.dictionary, table, [], []) : tagKey(this.dictionary, table, ["service_name"], [name]);
    this.services.push({ from: this.rows.rowCount, service: this.service });
    this.url(scope);
    this.resourceJson = this.jsonOf(scope);
    this.scopeSent = NONE;
    this.scopeJson = this.scopeName = this.scopeVersion = EMPTY;
  }

  /** Called by the walk. */
  scope(scope: Scope): void {
    this.shareScope();
    const { reader, json } = this;
    this.url(scope);
    this.scopeSent = sentAttributes(scope.attributes, reader, json);
    this.scopeName = reader.bytes.subarray(scope.nameStart, scope.nameEnd);
    this.scopeVersion = reader.bytes.subarray(scope.versionStart, scope.versionEnd);
    this.scopeJson = this.jsonOf(scope);
  }

  /** Called by the walk. */
  record(start: number, end: number): void {
    const { span, rows, reader, value } = this;
    const isV0 = this.opened().model === "v0";
    span.read(start, end);
    span.writeEvents(rows.events.sink);
    span.writeLinks(rows.links.sink);
    const refusal = this.refusal(end - start);
    if (refusal !== undefined) {
      rows.events.cut();
      rows.links.cut();
      this.rejected.add(`Rejected span ${span.label} (InvalidArguments): ${refusal}`);
      return;
    }
    rows.events.end();
    rows.links.end();
    const row = rows.rowCount;
    const { attributes } = span;
    for (let i = 0; !isV0 && i < attributes.count; i++) {
      attributes.value(reader, i, value);
      if (value.kind === Kind.none) continue;
      const column = this.attributes.column(reader.bytes, attributes.slots[i * 4] as number, attributes.slots[i * 4 + 1] as number);
      setValue(column, row, value, reader, this.json);
    }
    this.put();
    if (!isV0) return;
    rows.attributes.sink.object(attributes, 0);
    rows.attributes.end();
  }

  /** Adds the row of the span that was read. */
  private put(): void {
    const { span, rows, reader } = this;
    const { bytes } = reader;
    const { from, to } = span;
    const [nameStart, nameEnd] = [from[P.name] as number, to[P.name] as number];
    rows.times(span.startLow, span.startHigh, span.endLow, span.endHigh);
    rows.begin(
      this.serviceKey,
      this.auxiliary.operationOf(this.service, bytes, nameStart, nameEnd, span.kind < 6 ? span.kind : 0),
      span.kind,
      span.status,
    );
    rows.traceId.addHex(bytes, from[P.traceId] as number, to[P.traceId] as number);
    rows.spanId.addHex(bytes, from[P.spanId] as number, to[P.spanId] as number);
    if (from[P.parentId] === to[P.parentId]) rows.parentId.addNull();
    else rows.parentId.addHex(bytes, from[P.parentId] as number, to[P.parentId] as number);
    rows.name.add(bytes, nameStart, nameEnd);
    rows.statusMessage.add(bytes, from[P.statusMessage] as number, to[P.statusMessage] as number);
    rows.traceState.add(bytes, from[P.traceState] as number, to[P.traceState] as number);
  }

  /** Why the span that was read cannot be kept. */
  private refusal(sentBytes: number): string | undefined {
    const { span, rows } = this;
    if (span.startHigh >= TIME_HIGH_END || span.endHigh >= TIME_HIGH_END) {
      return "its times are beyond what 64 bits hold in nanoseconds";
    }
    const written = Math.max(rows.events.sink.used - rows.events.start, rows.links.sink.used - rows.links.start);
    const isLong = written > FIELD_TEXT_BYTES_MAX || (sentBytes >= LONG_SPAN_BYTES && this.hasLongText());
    return isLong ? `it has a text of more than ${FIELD_TEXT_BYTES_MAX} bytes` : undefined;
  }

  private hasLongText(): boolean {
    if (this.opened().model === "v1") return this.span.hasLongText(this.value, this.json);
    this.json.reset();
    this.json.object(this.span.attributes, 0);
    return this.json.used > FIELD_TEXT_BYTES_MAX;
  }

  /** All rows but those whose attributes their columns refuse. */
  private writes(options: TraceOptions): { readonly tables: readonly TableWrite[]; readonly rowCount: number } {
    const { rows } = this;
    const isV0 = options.model === "v0";
    if (rows.rowCount === 0) return { tables: [], rowCount: 0 };
    const refused = new Map<number, string>();
    const columns = [...this.attributes.touched];
    const shared = [...this.scopes.columns.values(), ...this.resources.columns.values()];
    const target = { ...options, rowCount: rows.rowCount, bytesMax: rows.bytesMax, labelOf: (row: number) => rows.labelAt(row) };
    const attributes = isV0 ? [] : attributeFields(columns, shared, target, refused);
    for (const reason of refused.values()) this.rejected.add(reason);
    const rowCount = rows.rowCount - refused.size;
    const fields = [...rows.fields(isV0), ...attributes];
    const shape = isV0 ? V0_COLUMNS : [...V1_HEAD, ...attributes.map(definition), ...V1_TAIL];
    for (let row = 0, at = 0; row < rows.rowCount; row++) {
      while (at + 1 < this.services.length && (this.services[at + 1]?.from ?? 0) <= row) at++;
      const service = this.services[at]?.service;
      if (service !== undefined && !refused.has(row)) this.auxiliary.add(service, rows.operationAt(row));
    }
    const tables = rows.start.parts("nanosecond").flatMap((part): TableWrite[] => this.partOf(part, refused, fields, shape, options.table));
    return { tables, rowCount };
  }

  private partOf(
    part: ReturnType<SpanRows["start"]["parts"]>[number],
    refused: ReadonlyMap<number, string>,
    fields: readonly FieldWrite[],
    shape: readonly ColumnDefinition[],
    table: string,
  ): TableWrite[] {
    const { rows } = this;
    const all = part.rows ?? Uint32Array.from({ length: part.rowCount }, (_, row) => row);
    const kept = refused.size === 0 ? part.rows : all.filter((row) => !refused.has(row));
    const rowCount = kept?.length ?? part.rowCount;
    if (rowCount === 0) return [];
    const places = kept === undefined ? undefined : indexesOf(all, kept);
    const times = pick(part.times, places);
    if (times.kind !== "time") return [];
    const keys = Uint32Array.from(kept ?? all, (row) => rows.keyAt(row));
    const picked = kept === undefined ? fields : fields.map((each) => ({ ...each, vector: pick(each.vector, kept) }));
    return [{ table, rowCount, keys, timeUnit: "nanosecond", times, fields: picked, shape }];
  }

  /** Gives the rows since the last scope what it and its resource say. */
  private shareScope(): void {
    const { rows, sharedRows } = this;
    const { rowCount } = rows;
    if (rowCount === sharedRows) return;
    const isV0 = this.opened().model === "v0";
    const { scopeName, scopeVersion, scopeJson, resourceJson } = this;
    rows.share({ scopeName, scopeVersion, scopeAttributes: scopeJson, resourceAttributes: resourceJson }, isV0);
    if (!isV0) {
      this.scopes.add(this.scopeSent, sharedRows, rowCount);
      this.resources.add(this.resourceSent, sharedRows, rowCount);
    }
    this.sharedRows = rowCount;
  }

  private url(scope: Scope): void {
    if (scope.urlEnd > scope.urlStart) this.urls.add(textOf(this.reader.bytes, scope.urlStart, scope.urlEnd));
  }

  private conventions(): string {
    const [first] = this.urls;
    return first === undefined ? "unknown" : this.urls.size > 1 ? "mixed" : first;
  }

  /** For model v0. Sorts the attributes. */
  private jsonOf({ attributes }: Scope): Uint8Array {
    this.json.reset();
    this.json.object(attributes, 0);
    return this.json.bytes.slice(0, this.json.used);
  }

  private opened(): TraceOptions {
    return this.options as TraceOptions; // Set before the walk begins.
  }
}

function definition({ name, type }: FieldWrite): ColumnDefinition {
  return { name, type, semantic: "field", nullable: true };
}

function textOfSent(value: unknown): string {
  return value instanceof Uint8Array ? textOf(value, 0, value.length) : String(value);
}

/** Where each of `some` stands in `all`; both ascend. */
function indexesOf(all: Uint32Array, some: Uint32Array): Uint32Array {
  let at = -1;
  return some.map((row) => {
    do at++;
    while (all[at] !== row);
    return at;
  });
}
