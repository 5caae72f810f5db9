import { expect, test } from "bun:test";
import { put, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { MetricRegistry } from "../../base/metrics.ts";
import { registerHealthMetrics } from "./health-metrics.ts";

test("trouble, failures, room and the log are shown", async () => {
  const machine = await Machine.start({ disk: { paths: ["/data"], freeBytesMin: 1000, freeBytesOf: async () => 5000 } });
  const metrics = new MetricRegistry();
  registerHealthMetrics(metrics, machine.engine);
  await put(machine.engine, "cpu,host=a v=1i 1");
  const before = await metrics.registry.metrics();
  expect(before).toContain('varve_degraded{part="log"} 0');
  expect(before).toContain("varve_disk_free_bytes 5000");
  expect(before).toMatch(/varve_log_bytes [1-9]/);
  machine.wal.hold();
  const waiting = put(machine.engine, "cpu,host=a v=2i 2");
  expect(await metrics.registry.metrics()).toContain("varve_log_queue_records 1");
  machine.wal.release();
  await waiting;
  machine.wal.failNextSync("EIO: i/o error");
  await refusal(put(machine.engine, "cpu,host=a v=3i 3"));
  const after = await metrics.registry.metrics();
  expect(after).toContain('varve_degraded{part="log"} 1');
  expect(after).toContain('varve_degraded{part="flush"} 0');
  expect(after).toContain('varve_storage_failures_total{part="log"} 1');
  expect(after).toContain("varve_log_queue_records 0");
});
