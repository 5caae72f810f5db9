/**
 * What a search for traces asks, as SQL: first the newest traces that have a span that matches, then all spans of these. Texts of clients
 * stand in it as literals, never as they are.
 */
import { invalidArguments } from "../../base/error.ts";
import { printString, quoteName } from "../../query/sql/print/print-name.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { SPANS_MAX } from "./limits.ts";
import { type AttributeColumn, selectedColumns, type SpanColumn, type TraceTable } from "./trace-table.ts";

/** A search. Times are microseconds since the epoch, durations microseconds. */
export interface TraceSearch {
  readonly service: string;
  readonly operation: string | undefined;
  readonly tags: readonly (readonly [key: string, value: string])[];
  readonly startMicros: number;
  readonly endMicros: number;
  readonly minMicros: number | undefined;
  readonly maxMicros: number | undefined;
  readonly limit: number;
}

/** What a tag means that is no attribute: the column and the value that it has there. */
const FIXED: Readonly<Record<string, readonly [SpanColumn, (value: string) => string]>> = {
  "span.kind": ["span_kind", (value) => `SPAN_KIND_${value.toUpperCase()}`],
  "otel.status_code": ["span_status_code", (value) => `STATUS_CODE_${value.toUpperCase()}`],
  "otel.status_description": ["span_status_message", (value) => value],
  "otel.scope.name": ["scope_name", (value) => value],
  "otel.scope.version": ["scope_version", (value) => value],
  "w3c.tracestate": ["trace_state", (value) => value],
};
const ERROR_STATUS = "STATUS_CODE_ERROR";
const NEVER = "false";

/** SELECT of the ids of the traces that match, the newest first, in one column. */
export function searchSql(table: TraceTable, search: TraceSearch): string {
  const { service, operation, tags, startMicros, endMicros, minMicros, maxMicros, limit } = search;
  const conditions = [
    `service_name = ${printString(service)}`,
    `"timestamp" >= ${timeLiteral(startMicros)}`,
    `"timestamp" <= ${timeLiteral(endMicros)}`,
  ];
  if (operation !== undefined) conditions.push(`span_name = ${printString(operation)}`);
  if (minMicros !== undefined) conditions.push(`duration_nano >= ${nanosText(minMicros)}`);
  if (maxMicros !== undefined) conditions.push(`duration_nano <= ${nanosText(maxMicros)}`);
  for (const [key, value] of tags) conditions.push(tagCondition(table, key, value));
  const where = conditions.join(" AND ");
  return `SELECT trace_id FROM ${table.sqlName} WHERE ${where} GROUP BY trace_id ORDER BY max("timestamp") DESC, trace_id LIMIT ${limit}`;
}

/** SELECT of the spans of some traces by time: one more than an answer may have. @param ids not empty */
export function spansSql(table: TraceTable, ids: readonly string[]): string {
  const list = ids.map(printString).join(", ");
  const where = `trace_id IN (${list})`;
  return `SELECT ${selectedColumns(table)} FROM ${table.sqlName} WHERE ${where} ORDER BY "timestamp" LIMIT ${SPANS_MAX + 1}`;
}

/** What spans with that tag fulfil: an attribute of the span, its scope or its resource has the value, under the type of its column. */
function tagCondition({ attributes }: TraceTable, key: string, value: string): string {
  if (key === "error") {
    if (value !== "true" && value !== "false") throw invalidArguments("the tag 'error' is either true or false");
    return `span_status_code ${value === "true" ? "=" : "<>"} ${printString(ERROR_STATUS)}`;
  }
  const either: string[] = [];
  const fixed = Object.hasOwn(FIXED, key) ? FIXED[key] : undefined;
  if (fixed !== undefined) either.push(`${fixed[0]} = ${printString(fixed[1](value))}`);
  for (const attribute of attributes) {
    const condition = attributeCondition(attribute, key, value);
    if (condition !== undefined) either.push(condition);
  }
  return either.length === 0 ? NEVER : `(${either.join(" OR ")})`;
}

function attributeCondition({ column, key: own, type }: AttributeColumn, key: string, value: string): string | undefined {
  const name = quoteName(column);
  if (own === undefined) return `json_get_string(${name}, ${printString(`$[${JSON.stringify(key)}]`)}) = ${printString(value)}`;
  if (own !== key) return undefined;
  switch (type.kind) {
    case "string":
      return `${name} = ${printString(value)}`;
    case "boolean":
      return value === "true" || value === "false" ? `${name} = ${value}` : undefined;
    case "int":
      return /^-?\d{1,19}$/.test(value) ? `${name} = ${value}` : undefined;
    case "float":
      return /^-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/.test(value) ? `${name} = CAST(${printString(value)} AS DOUBLE)` : undefined;
    default:
      return undefined;
  }
}

function timeLiteral(micros: number): string {
  return printString(formatTimestamp(BigInt(micros), "microsecond"));
}

function nanosText(micros: number): string {
  return String(BigInt(micros) * 1000n);
}
