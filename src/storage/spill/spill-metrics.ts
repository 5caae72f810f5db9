import { Counter, Gauge } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { SpillFolder } from "./spill-folder.ts";

/** Shows what queries have put on disk because it did not fit in memory, at `/metrics`. Call once a registry. */
export function registerSpillMetrics(
  metrics: MetricRegistry,
  folder: Pick<SpillFolder, "bytes" | "files" | "totalBytes"> | undefined,
): void {
  const registers = [metrics.registry];
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) });
  };
  gauge("varve_query_spill_bytes", "bytes on disk of rows that running queries cannot hold in memory", () => folder?.bytes ?? 0);
  gauge("varve_query_spill_files", "files that hold them", () => folder?.files ?? 0);
  const total: Counter = new Counter({
    name: "varve_query_spilled_bytes_total",
    help: "bytes that queries have put on disk since the start",
    registers,
    collect() {
      total.reset();
      total.inc(folder?.totalBytes ?? 0);
    },
  });
}
