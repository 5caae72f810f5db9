import { Counter } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { KnownPlans } from "./known-plans.ts";

/** Shows how often plans were known, at `/metrics`; their bytes are `varve_memory_bytes{part="plans"}`. Call once a registry. */
export function registerPlanMetrics(metrics: MetricRegistry, plans: Pick<KnownPlans, "hits" | "misses">): void {
  const counter = (name: string, help: string, read: () => number): void => {
    const total: Counter = new Counter({
      name,
      help,
      registers: [metrics.registry],
      collect() {
        total.reset();
        total.inc(read());
      },
    });
  };
  counter("varve_plan_cache_hits_total", "queries that a known plan was found for", () => plans.hits);
  counter("varve_plan_cache_misses_total", "queries that might have had one and were planned", () => plans.misses);
}
