/**
 * The columns of tables of traces, models v1 and v0, and of their services and operations (contract ingest.md 4.3).
 */
import { type DataType, JSON_TYPE, STRING, TIMESTAMP_NANOSECOND, UINT64 } from "../../../column/data-type.ts";
import type { ColumnDefinition } from "../../../table/schema.ts";

const SKIPPING: readonly string[] = ["SKIPPING INDEX WITH(false_positive_rate = '0.01', granularity = '10240', type = 'BLOOM')"];

function column(name: string, type: DataType = STRING, indexes?: readonly string[]): ColumnDefinition {
  return { name, type, semantic: "field", nullable: true, ...(indexes === undefined ? {} : { indexes }) };
}

/** The time index of every table of traces. */
const TIME: ColumnDefinition = { name: "timestamp", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false };

function tag(name: string, indexes?: readonly string[]): ColumnDefinition {
  return { ...column(name, STRING, indexes), semantic: "tag" };
}

/** Columns of a v1 table before its attributes. */
export const V1_HEAD: readonly ColumnDefinition[] = [
  TIME,
  column("timestamp_end", TIMESTAMP_NANOSECOND),
  column("duration_nano", UINT64),
  column("parent_span_id", STRING, SKIPPING),
  column("trace_id", STRING, SKIPPING),
  ...["span_id", "span_kind", "span_name", "span_status_code", "span_status_message", "trace_state", "scope_name", "scope_version"].map(
    (name) => column(name),
  ),
  tag("service_name", SKIPPING),
];

/** Columns of a v1 table behind its attributes. */
export const V1_TAIL: readonly ColumnDefinition[] = [column("span_events", JSON_TYPE), column("span_links", JSON_TYPE)];

/** Columns of a v0 table. */
export const V0_COLUMNS: readonly ColumnDefinition[] = [
  TIME,
  column("timestamp_end", TIMESTAMP_NANOSECOND),
  column("duration_nano", UINT64),
  ...["trace_id", "span_id", "parent_span_id", "span_kind", "span_name", "span_status_code", "span_status_message", "trace_state"].map(
    (name) => column(name),
  ),
  tag("service_name"),
  ...["span_attributes", "span_events", "span_links"].map((name) => column(name, JSON_TYPE)),
  column("scope_name"),
  column("scope_version"),
  column("scope_attributes", JSON_TYPE),
  column("resource_attributes", JSON_TYPE),
];

/** Columns of `<table>_services`; of `<table>_operations` with the span's name and kind. */
export function auxiliaryColumns(names: readonly string[]): readonly ColumnDefinition[] {
  return [TIME, ...names.map((name) => tag(name))];
}
