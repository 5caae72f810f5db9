/**
 * A row of a table of spans as a span of Jaeger's query API, printed. Times are microseconds; events are logs; the parent is a reference
 * CHILD_OF, links are references FOLLOWS_FROM. Shape: `ui.Span` of jaegertracing/jaeger, as its page and Grafana's data source read it.
 */
import { scalarAt } from "../../column/scalar.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { Scalar } from "../../column/vector.ts";
import { parseTimestamp } from "../../value/parse-time.ts";
import { boolTag, cellTag, documentTags, objectOf, parsedJson, type Tag, tagList, textTag, valueTag } from "./tags.ts";
import { type AttributeOwner, SPAN_COLUMNS, type SpanColumn, type TraceTable } from "./trace-table.ts";

/** A span. */
export interface TraceSpan {
  readonly traceId: string;
  readonly startMicros: number;
  /** JSON of the service with the tags of its resource: spans that have the same one have the same process. */
  readonly process: string;
  /** JSON of the span up to the number of its process, and behind it. */
  readonly head: string;
  readonly tail: string;
}

const PLACES: ReadonlyMap<SpanColumn, number> = new Map(SPAN_COLUMNS.map((name, place) => [name, place]));

/** The span of one row. `headers` and `batch` are of a SELECT of `selectedColumns`. */
export function spanOf(table: TraceTable, headers: readonly ColumnHeader[], batch: Batch, row: number): TraceSpan {
  const cell = (name: SpanColumn): Scalar => cellAt(headers, batch, PLACES.get(name) ?? 0, row);
  const text = (name: SpanColumn): string => String(cell(name) ?? "");
  const traceId = text("trace_id");
  const startMicros = microsOf(cell("timestamp"));
  const own = attributeTags(table, headers, batch, row);
  const tags = [...own.span, ...own.scope, ...fixedTags(text)];
  const process = `{"serviceName":${JSON.stringify(text("service_name"))},"tags":${tagList(own.resource)}}`;
  const head =
    `{"traceID":${JSON.stringify(traceId)},"spanID":${JSON.stringify(text("span_id"))},` +
    `"operationName":${JSON.stringify(text("span_name"))},` +
    `"references":${referencesOf(traceId, text("parent_span_id"), cell("span_links"))},` +
    `"startTime":${startMicros},"duration":${microsOf(cell("duration_nano"))},` +
    `"tags":${tagList(tags)},"logs":${logsOf(cell("span_events"))},"processID":"`;
  return { traceId, startMicros, process, head, tail: `","warnings":null}` };
}

function cellAt(headers: readonly ColumnHeader[], { vectors }: Batch, column: number, row: number): Scalar {
  const [vector, header] = [vectors[column], headers[column]];
  return vector === undefined || header === undefined ? undefined : scalarAt(vector, header.type, row);
}

/** Whole microseconds of nanoseconds: a number wherever times lie. */
function microsOf(nanos: Scalar): number {
  return typeof nanos === "bigint" ? Number(nanos / 1000n) : Math.floor(Number(nanos ?? 0) / 1000);
}

function attributeTags(
  { attributes }: TraceTable,
  headers: readonly ColumnHeader[],
  batch: Batch,
  row: number,
): Readonly<Record<AttributeOwner, Tag[]>> {
  const found: Record<AttributeOwner, Tag[]> = { span: [], scope: [], resource: [] };
  for (const [index, { owner, key, type }] of attributes.entries()) {
    const value = cellAt(headers, batch, SPAN_COLUMNS.length + index, row);
    if (key === undefined) for (const each of documentTags(value)) if (!isService(owner, each.key)) found[owner].push(each);
    const tag = key === undefined ? undefined : cellTag(key, value, type);
    if (tag !== undefined) found[owner].push(tag);
  }
  return found;
}

/** The name of the service stands beside the tags. */
function isService(owner: AttributeOwner, key: string): boolean {
  return owner === "resource" && key === "service.name";
}

/** Tags for what is no attribute. */
function fixedTags(text: (name: SpanColumn) => string): Tag[] {
  const tags: Tag[] = [];
  const kind = kindOf(text("span_kind"));
  if (kind !== "" && kind !== "unspecified") tags.push(textTag("span.kind", kind));
  const status = text("span_status_code").replace("STATUS_CODE_", "");
  if (status === "OK" || status === "ERROR") tags.push(textTag("otel.status_code", status));
  if (status === "ERROR") tags.push(boolTag("error", true));
  const others = [
    ["otel.status_description", "span_status_message"],
    ["otel.scope.name", "scope_name"],
    ["otel.scope.version", "scope_version"],
    ["w3c.tracestate", "trace_state"],
  ] as const;
  for (const [key, column] of others) if (text(column) !== "") tags.push(textTag(key, text(column)));
  return tags;
}

/** `SPAN_KIND_SERVER` as Jaeger has it: `server`. */
export function kindOf(stored: string): string {
  return stored.replace("SPAN_KIND_", "").toLowerCase();
}

function referencesOf(traceId: string, parent: string, links: Scalar): string {
  const references = parent === "" ? [] : [{ refType: "CHILD_OF", traceID: traceId, spanID: parent }];
  for (const link of listOf(parsedJson(links))) {
    const { trace_id: linked, span_id: spanId } = objectOf(link);
    if (typeof linked === "string" && typeof spanId === "string")
      references.push({ refType: "FOLLOWS_FROM", traceID: linked, spanID: spanId });
  }
  return JSON.stringify(references);
}

function logsOf(events: Scalar): string {
  const logs = listOf(parsedJson(events)).map((event) => {
    const { name, time, attributes } = objectOf(event);
    const nanos = typeof time === "string" ? parseTimestamp(time, "UTC") : undefined;
    const fields = Object.entries(objectOf(attributes)).flatMap(([key, value]) => valueTag(key, value) ?? []);
    if (typeof name === "string" && name !== "") fields.unshift(textTag("event", name));
    return `{"timestamp":${microsOf(nanos)},"fields":[${fields.map(({ json }) => json).join(",")}]}`;
  });
  return `[${logs.join(",")}]`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
