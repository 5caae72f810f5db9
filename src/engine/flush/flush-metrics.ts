/** Flushes at `/metrics` (contract http.md 1.4). */
import type { MetricRegistry } from "../../base/metrics.ts";
import type { BackgroundWork } from "../background-work.ts";

/** Counts each flush that it is told of. Call once a registry. */
export function flushCounter(metrics: MetricRegistry): (work: BackgroundWork) => void {
  const count = metrics.counter("greptime_mito_flush_requests_total", "tables whose rows were flushed to files");
  const rows = metrics.counter("greptime_mito_flush_rows_total", "rows that flushes wrote");
  const bytes = metrics.counter("greptime_mito_flush_bytes_total", "bytes of the files that flushes wrote");
  const seconds = metrics.seconds("greptime_mito_flush_elapsed", "seconds that a flush takes, with the tables flushed together with it");
  return (work) => {
    if (work.kind !== "flush") return;
    count.inc();
    rows.inc(work.rows);
    bytes.inc(work.bytes);
    seconds.observe(work.millis / 1000);
  };
}
