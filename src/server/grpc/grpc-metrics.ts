/** Metric families of the gRPC server (contract http.md 1.4). */
import { type Counter, Gauge, type Histogram } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import { IngestMetrics } from "../../db/ingest-counts.ts";
import { authFailures, serverErrors } from "../common/shared-counters.ts";

/** See the file header. */
export class GrpcMetrics {
  readonly authFailures: Counter<"code">;
  readonly errors: Counter<"protocol">;
  /** Seconds of requests to GreptimeDatabase. */
  readonly databaseSeconds: Histogram<"db" | "type" | "code">;
  readonly promqlSeconds: Histogram<"db">;
  /** Seconds from the arrival of a batch of DoPut to its acknowledgement. */
  readonly bulkSeconds: Histogram;
  /** Connections that were refused or ended by the server, by why. */
  readonly ended: Counter<"reason">;
  /** Rows that calls bring. */
  readonly ingest: IngestMetrics;
  private readonly calls: Counter<"path" | "code">;
  private readonly callSeconds: Histogram<"path" | "code">;

  /** @param connections how many there are */
  constructor(metrics: MetricRegistry, connections: () => number) {
    this.authFailures = authFailures(metrics);
    this.errors = serverErrors(metrics);
    this.ingest = IngestMetrics.of(metrics);
    this.calls = metrics.counter("greptime_servers_grpc_requests_total", "gRPC calls", "path", "code");
    this.callSeconds = metrics.seconds("greptime_servers_grpc_requests_elapsed", "seconds a gRPC call takes", "path", "code");
    const seconds = "seconds a request to GreptimeDatabase takes";
    this.databaseSeconds = metrics.seconds("greptime_servers_grpc_db_request_elapsed", seconds, "db", "type", "code");
    this.promqlSeconds = metrics.seconds("greptime_servers_grpc_prom_request_elapsed", "seconds a PromQL query over gRPC takes", "db");
    this.bulkSeconds = metrics.seconds("greptime_servers_bulk_insert_elapsed", "seconds a batch of DoPut takes to be durable");
    this.ended = metrics.counter("varve_grpc_connections_ended_total", "connections that the server ended, by why", "reason");
    const gauge: Gauge = new Gauge({
      name: "varve_grpc_connections",
      help: "connections that are open",
      registers: [metrics.registry],
      collect: () => gauge.set(connections()),
    });
  }

  /** A call ended. @param path of a service that there is @param code number of gRPC's status */
  answered(path: string, code: number, seconds: number): void {
    const labels = { path, code: String(code) };
    this.calls.inc(labels);
    this.callSeconds.observe(labels, seconds);
  }
}
