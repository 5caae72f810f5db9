import type { MetricRegistry } from "../../base/metrics.ts";
import type { CompactionTotals } from "./compactor.ts";

/** Families by name: which total they show, and what it is. */
const FAMILIES: readonly (readonly [name: string, total: keyof CompactionTotals, help: string])[] = [
  ["greptime_mito_compaction_requests_total", "merges", "Merges of data files that were completed"],
  ["greptime_mito_compaction_failure_total", "failures", "Merges of data files that failed and are tried again"],
  ["greptime_mito_compaction_input_files_total", "inputFiles", "Data files merged"],
  ["greptime_mito_compaction_input_bytes", "bytesRead", "Bytes of the data files merged"],
  ["greptime_mito_compaction_output_bytes", "bytesWritten", "Bytes of the data files made by merges"],
  ["greptime_mito_compaction_output_rows_total", "rowsWritten", "Rows of the data files made by merges"],
  ["greptime_mito_compaction_seconds_total", "seconds", "Time spent in merges"],
];

/** Shows rows that had expired when they came; `rows` is asked at each scrape. Call once a registry. */
export function registerExpiryMetric(metrics: MetricRegistry, rows: () => number): void {
  metrics.shownCounter(
    "varve_expired_rows_total",
    "Rows that were taken and not kept, since they were older than the ttl of their table",
    rows,
  );
}

/** Shows the totals at `/metrics`; `totals` is asked at each scrape. Call once a registry. */
export function registerCompactionMetrics(metrics: MetricRegistry, totals: () => Readonly<CompactionTotals>): void {
  for (const [name, total, help] of FAMILIES) metrics.shownCounter(name, help, () => totals()[total]);
}
