/**
 * The type of the column that holds native histograms of Prometheus: one struct a sample (contract ingest.md 2.4).
 *
 * Counts come in two families, whole numbers and floats: the children of the other one are NULL, and empty lists. Buckets are absolute
 * counts, in the order of the spans, which say which buckets they are: so many left out (offset), so many present (length).
 */
import { type DataType, FLOAT64, INT32, INT64, type StructField, TIMESTAMP_MILLISECOND } from "../column/data-type.ts";
import type { ColumnDefinition } from "./schema.ts";

const listOf = (element: DataType): DataType => ({ kind: "list", element });

const FIELDS: readonly StructField[] = [
  { name: "schema", type: INT32 },
  { name: "zero_threshold", type: FLOAT64 },
  { name: "sum", type: FLOAT64 },
  { name: "reset_hint", type: INT32 },
  { name: "start_timestamp", type: TIMESTAMP_MILLISECOND },
  { name: "custom_values", type: listOf(FLOAT64) },
  { name: "positive_span_offsets", type: listOf(INT32) },
  { name: "positive_span_lengths", type: listOf(INT32) },
  { name: "negative_span_offsets", type: listOf(INT32) },
  { name: "negative_span_lengths", type: listOf(INT32) },
  { name: "count_i64", type: INT64 },
  { name: "zero_count_i64", type: INT64 },
  { name: "positive_buckets_i64", type: listOf(INT64) },
  { name: "negative_buckets_i64", type: listOf(INT64) },
  { name: "count_f64", type: FLOAT64 },
  { name: "zero_count_f64", type: FLOAT64 },
  { name: "positive_buckets_f64", type: listOf(FLOAT64) },
  { name: "negative_buckets_f64", type: listOf(FLOAT64) },
];

/** The type of native histograms. Its values are bytes (`column/nested.ts`). */
export const NATIVE_HISTOGRAM: Extract<DataType, { kind: "struct" }> = { kind: "struct", fields: FIELDS };

/** Whether a column is of native histograms; no other column is a struct. */
export function holdsHistograms({ type }: Pick<ColumnDefinition, "type">): boolean {
  return type.kind === "struct";
}
