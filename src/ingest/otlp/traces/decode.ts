/**
 * OTLP traces to `WriteBatch`es (contract ingest.md 4.3): one of spans, one of services and operations, which is written after it.
 *
 *   request ─► spans ─► a type for each attribute's column ─► spans whose values it takes ─► rows
 *
 * All types are settled before a row is made, so a span is rejected by itself and needs no second try.
 */
import { type DataType, displayName } from "../../../column/data-type.ts";
import { ProtoReader } from "../../../format/proto/reader.ts";
import { RowCollector, tagKey } from "../../../table/row-collector.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";
import { SeriesDictionary } from "../../../table/series-dictionary.ts";
import type { SchemaLookup, WriteBatch } from "../../../table/write-batch.ts";
import { AnyValue } from "../any-value.ts";
import { RequestWalk, type Scope, type Visitor } from "../scope.ts";
import { textOf } from "../text.ts";
import { type OtlpResult, Rejected } from "../types.ts";
import { auxiliaryColumns, V0_COLUMNS, V1_HEAD, V1_TAIL } from "./columns.ts";
import { coerced, type Kept, type SentKind, shown, typeOfNew } from "./reconcile.ts";
import { SEMANTIC_TYPES } from "./semantic-types.ts";
import { type SentAttributes, type Span, SpanReader } from "./span.ts";

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
  /** Rows of `<table>_services` and `<table>_operations`. */
  readonly auxiliary: WriteBatch;
  /** Schema URL of the spans; "mixed" or "unknown". */
  readonly conventions: string;
}

interface Placed {
  readonly span: Span;
  readonly service: string | undefined;
  readonly resource: SentAttributes;
  readonly resourceJson: string;
  readonly scope: SentAttributes;
  readonly scopeJson: string;
  readonly scopeName: string;
  readonly scopeVersion: string;
}

/** 2100-01-01: services and operations stand at one time, so that each is kept once. */
const AUXILIARY_TIME = 4_102_444_800_000_000_000n;
const NANOS_MAX = 2n ** 63n - 1n;
const SERVICE = "service.name";

/** Decodes the traces of one thread. It keeps nothing between requests. */
export class TraceDecoder implements Visitor {
  private readonly reader: ProtoReader = new ProtoReader();
  private readonly walk: RequestWalk = new RequestWalk(this.reader);
  private readonly spans: SpanReader = new SpanReader(this.reader, new AnyValue());
  private placed: Placed[] = [];
  private around: Omit<Placed, "span"> = emptyAround();
  private urls: Set<string> = new Set();

  /**
   * Decodes a request in protobuf.
   *
   * @throws ProtoError when the body is no request
   */
  decode(body: Uint8Array, options: TraceOptions): TraceResult {
    this.reader.open(body);
    this.placed = [];
    this.urls = new Set();
    this.walk.walk(this);
    const rejected = new Rejected();
    const dictionary = new SeriesDictionary();
    const auxiliary = new Auxiliary(options.table);
    const rows = new RowCollector(options.table, "nanosecond");
    const types = options.model === "v1" ? typesOf(this.placed, options) : new Map<string, DataType>();
    for (const placed of this.placed) {
      const refusal = refusalOf(placed.span) ?? this.add(rows, placed, types, dictionary, options);
      if (refusal === undefined) auxiliary.add(placed);
      else rejected.add(refusal);
    }
    const shape = options.model === "v0" ? V0_COLUMNS : v1Shape(types);
    this.placed = [];
    return {
      batch: { dictionary, tables: rows.writes(shape) },
      rowCount: rows.rowCount,
      rejected,
      auxiliary: auxiliary.batch(),
      conventions: this.conventions(),
    };
  }

  /** Called by the walk. */
  resource(scope: Scope): void {
    const resource = this.spans.attributes(scope.attributes);
    // Without a service's name the first attribute stands for it, as the reference has it.
    const named = resource.get(SERVICE) ?? [...resource.values()][0];
    const service = named?.kind === "string" ? (named.value as string) : undefined;
    this.url(scope);
    const resourceJson = this.spans.attributesJson(scope.attributes);
    this.around = { ...emptyAround(), service: service === "" ? undefined : service, resource, resourceJson };
  }

  /** Called by the walk. */
  scope(scope: Scope): void {
    const { bytes } = this.reader;
    this.url(scope);
    this.around = {
      ...this.around,
      scope: this.spans.attributes(scope.attributes),
      scopeJson: this.spans.attributesJson(scope.attributes),
      scopeName: textOf(bytes, scope.nameStart, scope.nameEnd),
      scopeVersion: textOf(bytes, scope.versionStart, scope.versionEnd),
    };
  }

  /** Called by the walk. */
  record(start: number, end: number): void {
    this.placed.push({ ...this.around, span: this.spans.span(start, end) });
  }

  private url(scope: Scope): void {
    if (scope.urlEnd > scope.urlStart) this.urls.add(textOf(this.reader.bytes, scope.urlStart, scope.urlEnd));
  }

  private conventions(): string {
    const [first] = this.urls;
    return first === undefined ? "unknown" : this.urls.size > 1 ? "mixed" : first;
  }

  /** Adds a span's row, or says why it cannot be kept. */
  private add(
    rows: RowCollector,
    placed: Placed,
    types: ReadonlyMap<string, DataType>,
    dictionary: SeriesDictionary,
    { table, model }: TraceOptions,
  ): string | undefined {
    const values: [string, DataType, Kept][] = [];
    if (model === "v1") {
      for (const [column, sent] of attributeColumns(placed)) {
        const type = types.get(column);
        if (type === undefined) continue;
        const kept = coerced(sent, type);
        if (kept === undefined) {
          const { traceId, spanId } = placed.span;
          const why = `failed to coerce trace column '${column}' in table '${table}' from ${shown(sent)} to ${displayName(type)}`;
          return `Rejected span ${traceId}:${spanId} (InvalidArguments): ${why}`;
        }
        values.push([column, type, kept]);
      }
    }
    const { span, service } = placed;
    const key = service === undefined ? tagKey(dictionary, table, [], []) : tagKey(dictionary, table, ["service_name"], [service]);
    rows.begin(span.start, key);
    putSpan(rows, placed, model);
    for (const [column, type, kept] of values) rows.field(column, type).set(kept);
    return undefined;
  }
}

function emptyAround(): Omit<Placed, "span"> {
  const none: SentAttributes = new Map();
  return { service: undefined, resource: none, resourceJson: "{}", scope: none, scopeJson: "{}", scopeName: "", scopeVersion: "" };
}

function refusalOf(span: Span): string | undefined {
  if (span.start <= NANOS_MAX && span.end <= NANOS_MAX) return undefined;
  return `Rejected span ${span.traceId}:${span.spanId} (InvalidArguments): its times are beyond what 64 bits hold in nanoseconds`;
}

function putSpan(rows: RowCollector, placed: Placed, model: TraceModel): void {
  const { span, scopeName, scopeVersion } = placed;
  const duration = span.end > span.start ? span.end - span.start : 0n;
  const common: Readonly<Record<string, Kept>> = {
    timestamp_end: span.end,
    duration_nano: duration <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(duration) : duration,
    parent_span_id: span.parentId === "" ? undefined : span.parentId,
    trace_id: span.traceId,
    span_id: span.spanId,
    span_kind: span.kind,
    span_name: span.name,
    span_status_code: span.statusCode,
    span_status_message: span.statusMessage,
    trace_state: span.traceState,
    scope_name: scopeName,
    scope_version: scopeVersion,
    span_events: span.events,
    span_links: span.links,
  };
  const json = {
    span_attributes: span.attributesJson,
    scope_attributes: placed.scopeJson,
    resource_attributes: placed.resourceJson,
  };
  const values: Readonly<Record<string, Kept>> = model === "v0" ? { ...common, ...json } : common;
  for (const { name, type, semantic } of model === "v0" ? V0_COLUMNS : [...V1_HEAD, ...V1_TAIL]) {
    if (semantic === "field") rows.field(name, type).set(values[name]);
  }
}

/** Columns of a span's attributes, with what was sent for each. */
function* attributeColumns({ span, scope, resource }: Placed): Generator<readonly [string, { kind: SentKind; value: Kept & {} }]> {
  for (const [key, sent] of span.attributes) yield [`span_attributes.${key}`, sent];
  for (const [key, sent] of scope) yield [`scope_attributes.${key}`, sent];
  for (const [key, sent] of resource) if (key !== SERVICE) yield [`resource_attributes.${key}`, sent];
}

/** The type of each attribute's column: that of the table, that of the conventions, or one that all of its values go to. */
function typesOf(spans: readonly Placed[], { schemas, database, table }: TraceOptions): Map<string, DataType> {
  const kinds = new Map<string, Set<SentKind>>();
  for (const placed of spans) {
    for (const [column, { kind }] of attributeColumns(placed)) {
      const known = kinds.get(column);
      if (known === undefined) kinds.set(column, new Set([kind]));
      else known.add(kind);
    }
  }
  const typed = Array.from(kinds, ([column, sent]): [string, DataType] => {
    return [column, schemas.columnOf(database, table, column)?.type ?? SEMANTIC_TYPES.get(column) ?? typeOfNew(sent)];
  });
  return new Map(typed);
}

function v1Shape(types: ReadonlyMap<string, DataType>): readonly ColumnDefinition[] {
  const attributes = Array.from(types, ([name, type]): ColumnDefinition => ({ name, type, semantic: "field", nullable: true }));
  return [...V1_HEAD, ...attributes, ...V1_TAIL];
}

/** Services and operations of a request, each once. */
class Auxiliary {
  private readonly dictionary: SeriesDictionary = new SeriesDictionary();
  private readonly table: string;
  private readonly services: Set<number> = new Set();
  private readonly operations: Set<number> = new Set();

  constructor(table: string) {
    this.table = table;
  }

  add({ service, span }: Placed): void {
    if (service === undefined) return;
    this.services.add(tagKey(this.dictionary, `${this.table}_services`, ["service_name"], [service]));
    const tags = [
      ["service_name", service],
      ["span_name", span.name],
      ["span_kind", span.kind],
    ].filter(([, value]) => value !== "") as [string, string][];
    const names = tags.map(([name]) => name);
    const values = tags.map(([, value]) => value);
    this.operations.add(tagKey(this.dictionary, `${this.table}_operations`, names, values));
  }

  batch(): WriteBatch {
    const rowsOf = (suffix: string, keys: Iterable<number>, names: readonly string[]): ReturnType<RowCollector["writes"]> => {
      const rows = new RowCollector(`${this.table}_${suffix}`, "nanosecond");
      for (const key of keys) rows.begin(AUXILIARY_TIME, key);
      return rows.writes(auxiliaryColumns(names));
    };
    const services = rowsOf("services", this.services, ["service_name"]);
    return {
      dictionary: this.dictionary,
      tables: [...services, ...rowsOf("operations", this.operations, ["service_name", "span_name", "span_kind"])],
    };
  }
}
