import type { MetricRegistry } from "../../base/metrics.ts";
import type { SpillFolder } from "./spill-folder.ts";

/** Shows what queries have put on disk because it did not fit in memory, at `/metrics`. Call once a registry. */
export function registerSpillMetrics(
  metrics: MetricRegistry,
  folder: Pick<SpillFolder, "bytes" | "files" | "totalBytes"> | undefined,
): void {
  metrics.shownGauge(
    "varve_query_spill_bytes",
    "bytes on disk of rows that running queries cannot hold in memory",
    () => folder?.bytes ?? 0,
  );
  metrics.shownGauge("varve_query_spill_files", "files that hold them", () => folder?.files ?? 0);
  metrics.shownCounter(
    "varve_query_spilled_bytes_total",
    "bytes that queries have put on disk since the start",
    () => folder?.totalBytes ?? 0,
  );
}
