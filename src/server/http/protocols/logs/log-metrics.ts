/** Metric families of the endpoints of logs (contract http.md 1.4). */
import type { Histogram } from "prom-client";
import type { MetricRegistry } from "../../../../base/metrics.ts";
import type { LogProtocol } from "../../../common/logs/log-counters.ts";

/** See the file header. */
export class LogMetrics {
  private readonly seconds: Histogram<"db" | "result">;
  private readonly bulkSeconds: Histogram<"db">;

  constructor(metrics: MetricRegistry) {
    this.seconds = metrics.seconds("greptime_servers_http_logs_ingestion_elapsed", "seconds a request of logs takes", "db", "result");
    this.bulkSeconds = metrics.seconds("greptime_servers_elasticsearch_logs_ingestion_elapsed", "seconds a bulk request takes", "db");
  }

  /** Counts a request. */
  answered(protocol: LogProtocol, db: string, status: number, seconds: number): void {
    this.seconds.observe({ db, result: status < 400 ? "success" : "failure" }, seconds);
    if (protocol === "elasticsearch") this.bulkSeconds.observe({ db }, seconds);
  }
}
