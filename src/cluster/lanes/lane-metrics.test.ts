import { expect, test } from "bun:test";
import { MetricRegistry } from "../../base/metrics.ts";
import { registerLaneMetrics } from "./lane-metrics.ts";

test("figures of lanes are shown as they are, each time", async () => {
  const registry = new MetricRegistry();
  let records = 1;
  const others = { bytes: 2, messages: 3, resends: 4, restored: 8, failures: 5, waits: 6, bytesHeld: 7, bytesKept: 9 };
  registerLaneMetrics(registry, () => ({ records, ...others }));
  const lines = async (): Promise<readonly string[]> =>
    (await registry.registry.metrics()).split("\n").filter((line) => line.startsWith("varve_"));
  expect(await lines()).toEqual([
    "varve_lane_records_total 1",
    "varve_lane_bytes_total 2",
    "varve_lane_messages_total 3",
    "varve_lane_resends_total 4",
    "varve_lane_restored_total 8",
    "varve_lane_failures_total 5",
    "varve_lane_waits_total 6",
    "varve_lane_held_bytes 7",
    "varve_lane_kept_bytes 9",
  ]);
  records = 9;
  expect((await lines())[0]).toBe("varve_lane_records_total 9");
});
