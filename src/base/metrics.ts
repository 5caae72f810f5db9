import { collectDefaultMetrics, Registry } from "prom-client";

/** The process's metric registry, served at `/metrics`. Each part registers its families once, at load, on the registry it is given. */
export class MetricRegistry {
  readonly registry: Registry = new Registry();

  /** Adds the standard process families (`process_cpu_seconds_total`, …). */
  withProcessMetrics(): this {
    collectDefaultMetrics({ register: this.registry });
    return this;
  }
}

/** Bucket bounds in seconds of the request histograms (http.md 1.4). */
export const REQUEST_SECONDS_BUCKETS: readonly number[] = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300];
