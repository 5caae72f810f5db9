/** Type and unit of a metric, from the options of its table (contract ingest.md 2.4, 3.10). */
import { holdsHistograms } from "../../table/native-histogram.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { MetricMetadata } from "./promql-db.ts";

const TYPE_OPTION = "greptime.semantic.metric.type";
const UNIT_OPTION = "greptime.semantic.metric.unit";
const TEMPORALITY_OPTION = "greptime.semantic.metric.temporality";

/** Types that Prometheus calls otherwise. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["updown_counter", "gauge"],
  ["gauge_histogram", "gaugehistogram"],
  ["mixed", "unknown"],
]);

/** UCUM to OpenMetrics. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ["s", "seconds"],
  ["Cel", "celsius"],
  ["m", "meters"],
  ["By", "bytes"],
  ["1", "ratios"],
  ["V", "volts"],
  ["A", "amperes"],
  ["J", "joules"],
  ["g", "grams"],
]);

/** What the options of a table say of its metric. */
export function metadataOf({ name, options, columns }: TableSchema): MetricMetadata {
  const unit = options[UNIT_OPTION] ?? "";
  return { metric: name, type: typeOf(options, columns.some(holdsHistograms)), unit: UNITS.get(unit) ?? unit };
}

function typeOf(options: TableSchema["options"], isHistogram: boolean): string {
  if (options[TEMPORALITY_OPTION] === "delta") return "unknown";
  const type = options[TYPE_OPTION];
  if (type !== undefined) return TYPES.get(type) ?? type;
  return isHistogram ? "histogram" : "";
}
