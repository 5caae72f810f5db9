import { expect, test } from "bun:test";
import { registerMemoryMetrics } from "./memory-metrics.ts";
import { MetricRegistry } from "../metrics.ts";
import { MemoryCounter, ServerMemory } from "./server-memory.ts";

test("each part is shown with what it holds when it is asked for, and the limit", async () => {
  const memory = new ServerMemory(1000);
  const workers = new MemoryCounter();
  memory.register("workers", workers);
  const metrics = new MetricRegistry();
  registerMemoryMetrics(metrics, memory, { uncountedBytes: -7 });
  workers.take(70);
  const text = await metrics.registry.metrics();
  expect(text).toContain('varve_memory_bytes{part="workers"} 70');
  expect(text).toContain('varve_memory_bytes{part="memtables"} 0');
  expect(text).toContain("varve_memory_uncounted_bytes -7");
  expect(text).toContain("varve_memory_limit_bytes 1000");
});
