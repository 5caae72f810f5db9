import { Gauge } from "prom-client";
import type { HeapWatch } from "./heap-watch.ts";
import type { MetricRegistry } from "../metrics.ts";
import { MEMORY_PARTS, type ServerMemory } from "./server-memory.ts";

/** Shows what each part of the server holds, what none counts, and the limit of all together, at `/metrics`. Call once a registry. */
export function registerMemoryMetrics(metrics: MetricRegistry, memory: ServerMemory, heap: Pick<HeapWatch, "uncountedBytes">): void {
  const registers = [metrics.registry];
  new Gauge({
    name: "varve_memory_bytes",
    help: "bytes that each part of the server holds, as far as they are counted",
    labelNames: ["part"],
    registers,
    collect() {
      for (const part of MEMORY_PARTS) this.set({ part }, memory.bytesOf(part));
    },
  });
  new Gauge({
    name: "varve_memory_uncounted_bytes",
    help: "resident bytes that no part counts: the runtime, live objects, garbage; less what parts have set aside and do not use",
    registers,
    collect() {
      this.set(heap.uncountedBytes);
    },
  });
  new Gauge({
    name: "varve_memory_limit_bytes",
    help: "bytes that all parts may hold together (memory.limit)",
    registers,
    collect() {
      this.set(memory.bytesMax);
    },
  });
}
