/** What a node counts of the requests of frontends. */
import type { Counter, Histogram } from "prom-client";
import { Gauge } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { RunningRequests } from "./running-requests.ts";

/** See the file header. */
export interface ServeMetrics {
  /** Requests that ended, by what they were and how they ended. */
  readonly ended: Counter<"kind" | "result">;
  readonly seconds: Histogram<"kind">;
  /** Bytes of answers. */
  readonly bytes: Counter;
  /** Requests that were not let in, by why. */
  readonly refused: Counter<"reason">;
}

/** Registers the families. */
export function serveMetrics(metrics: MetricRegistry, running: RunningRequests): ServeMetrics {
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [metrics.registry],
      collect() {
        this.set(value());
      },
    });
  };
  gauge("varve_shard_requests_running", "fragments and calls of frontends under way", () => running.size);
  gauge("varve_shard_requests_waiting", "fragments and calls of frontends that wait for their turn", () => running.waitingCount);
  return {
    ended: metrics.counter("varve_shard_requests_total", "fragments and calls of frontends that ended", "kind", "result"),
    seconds: metrics.seconds("varve_shard_request_seconds", "how long fragments and calls of frontends took", "kind"),
    bytes: metrics.counter("varve_shard_answer_bytes_total", "bytes of answers to frontends"),
    refused: metrics.counter("varve_shard_requests_refused_total", "requests that were not let in", "reason"),
  };
}
