import type { MetricRegistry } from "../../../base/metrics.ts";
import type { CachedFileStore } from "./cached-file-store.ts";

/** Shows what copies of files there are and what came and went, at `/metrics`. Call once a registry. */
export function registerCacheMetrics(metrics: MetricRegistry, store: Pick<CachedFileStore, "counts">): void {
  metrics.shownGauge("varve_file_cache_bytes", "bytes of data files that have a copy here", () => store.counts.bytes);
  metrics.shownGauge("varve_file_cache_files", "data files that have a copy here", () => store.counts.files);
  metrics.shownCounter("varve_file_fetches_total", "data files fetched from the store", () => store.counts.fetches);
  metrics.shownCounter("varve_file_fetched_bytes_total", "bytes of data files fetched from the store", () => store.counts.fetchedBytes);
  metrics.shownCounter("varve_file_uploads_total", "data files uploaded to the store", () => store.counts.uploads);
  metrics.shownCounter("varve_file_uploaded_bytes_total", "bytes of data files uploaded to the store", () => store.counts.uploadedBytes);
  metrics.shownCounter(
    "varve_file_passes_total",
    "times that a data file was opened without a copy: it is long, or has no room",
    () => store.counts.passedBy,
  );
}
