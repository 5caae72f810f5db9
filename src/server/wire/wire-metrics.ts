/** Metric families of a wire server (contract http.md 1.4). */
import { type Counter, Gauge, type Histogram } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import { type IngestCounts, IngestMetrics } from "../../db/ingest-counts.ts";

/** The wire protocols, as metrics and settings call them. */
export type WireName = "mysql" | "postgres";

/** See the file header. */
export class WireMetrics {
  /** Seconds that statements take, by how they were sent. */
  readonly querySeconds: Histogram<"subprotocol" | "db">;
  /** Statements that were prepared. */
  readonly prepared: Counter<"db">;
  /** Connections that were refused or ended by the server, by why. */
  readonly ended: Counter<"reason">;
  /** Rows that statements bring. */
  readonly ingest: IngestCounts;

  /** @param connections how many there are */
  constructor(name: WireName, metrics: MetricRegistry, connections: () => number) {
    this.ingest = IngestMetrics.of(metrics).of(`sql_${name}`);
    const prefix = `greptime_servers_${name}`;
    this.querySeconds = metrics.seconds(`${prefix}_query_elapsed`, "seconds a statement takes", "subprotocol", "db");
    this.prepared = metrics.counter(`${prefix}_prepared_count`, "statements that were prepared", "db");
    this.ended = metrics.counter(`varve_${name}_connections_ended_total`, "connections that the server ended, by why", "reason");
    const gauge: Gauge = new Gauge({
      name: `${prefix}_connection_count`,
      help: "connections that are open",
      registers: [metrics.registry],
      collect: () => gauge.set(connections()),
    });
  }
}
