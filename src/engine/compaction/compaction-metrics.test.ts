import { expect, test } from "bun:test";
import { MetricRegistry } from "../../base/metrics.ts";
import { registerCompactionMetrics } from "./compaction-metrics.ts";

test("metrics show the totals of the moment", async () => {
  const metrics = new MetricRegistry();
  const totals = { merges: 2, failures: 1, inputFiles: 8, rowsWritten: 100, bytesRead: 3000, bytesWritten: 2000, seconds: 0.5 };
  registerCompactionMetrics(metrics, () => totals);
  const check = async (line: string): Promise<void> => expect((await metrics.registry.metrics()).split("\n")).toContain(line);
  await check("greptime_mito_compaction_requests_total 2");
  await check("greptime_mito_compaction_input_bytes 3000");
  totals.bytesWritten = 2500;
  await check("greptime_mito_compaction_output_bytes 2500");
  await check("greptime_mito_compaction_seconds_total 0.5");
});
