import { Counter, Gauge } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import { TROUBLE_PARTS, type Trouble, type TroublePart } from "../../base/process/troubles.ts";
import type { WalQueue } from "../../storage/wal/wal.ts";

/** What of an engine the families show. */
export interface EngineHealth {
  troubles(): { readonly now: readonly Trouble[]; readonly failures: Readonly<Record<TroublePart, number>> };
  readonly tableCounts: ReadonlyMap<string, number>;
  readonly seriesState: { readonly count: number; readonly renewals: number };
  readonly storageState: { readonly freeBytes: number; readonly queued: WalQueue; readonly logBytes: number };
}

/** Shows what does not work, room on the disk, and what waits for the log, at `/metrics`. Call once a registry. */
export function registerHealthMetrics(metrics: MetricRegistry, engine: EngineHealth): void {
  const registers = [metrics.registry];
  new Gauge({
    name: "varve_degraded",
    help: "1 while a part does not work; it is tried again until it does",
    labelNames: ["part"],
    registers,
    collect() {
      const now = new Set(engine.troubles().now.map(({ part }) => part));
      for (const part of TROUBLE_PARTS) this.set({ part }, now.has(part) ? 1 : 0);
    },
  });
  new Gauge({
    name: "greptime_catalog_table_count",
    help: "tables of each database",
    labelNames: ["db"],
    registers,
    collect() {
      this.reset();
      for (const [db, count] of engine.tableCounts) this.set({ db }, count);
    },
  });
  new Counter({
    name: "varve_storage_failures_total",
    help: "failures of each part since the start",
    labelNames: ["part"],
    registers,
    collect() {
      this.reset();
      for (const [part, count] of Object.entries(engine.troubles().failures)) this.inc({ part }, count);
    },
  });
  metrics.shownGauge(
    "varve_disk_free_bytes",
    "bytes free on the fullest disk of log and data; +Inf when none is watched",
    () => engine.storageState.freeBytes,
  );
  metrics.shownGauge("varve_log_queue_records", "writes that wait for the log's disk", () => engine.storageState.queued.records);
  metrics.shownGauge(
    "varve_log_queue_bytes",
    "bytes of the writes that wait for the log's disk; most are memtables' memory",
    () => engine.storageState.queued.bytes,
  );
  metrics.shownGauge(
    "varve_series",
    "series that are held in memory, also those without rows until they are let go",
    () => engine.seriesState.count,
  );
  metrics.shownCounter(
    "varve_series_renewals_total",
    "how often a table let go of the series that have no rows, since the start",
    () => engine.seriesState.renewals,
  );
  metrics.shownGauge("varve_log_bytes", "bytes of the log on disk", () => engine.storageState.logBytes);
}

/** Shows below how many free bytes writes are refused. Call once a registry. */
export function registerDiskFloor(metrics: MetricRegistry, bytes: number): void {
  const help =
    "bytes that must stay free on the disks of log and data: below, writes are refused (storage.free_space_min); 0 = not watched";
  new Gauge({ name: "varve_disk_free_bytes_min", help, registers: [metrics.registry] }).set(bytes);
}
