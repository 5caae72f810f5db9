/** Metric families of the endpoints of logs (contract http.md 1.4). */
import type { Counter, Histogram } from "prom-client";
import type { MetricRegistry } from "../../../../base/metrics.ts";

/** The protocols whose rows may go through pipelines; Loki and Prometheus count what they write in families of their own. */
export type LogProtocol = "ingest" | "elasticsearch" | "splunk" | "loki" | "prometheus" | "otlp";

/** See the file header. */
export class LogMetrics {
  /** Rows that pipelines filtered, and rows that failed and were left out. */
  readonly skipped: Counter<"protocol" | "outcome">;
  private readonly rows: Counter<"db">;
  private readonly documents: Counter<"db">;
  private readonly seconds: Histogram<"db" | "result">;
  private readonly bulkSeconds: Histogram<"db">;

  constructor(metrics: MetricRegistry) {
    this.rows = metrics.counter("greptime_servers_http_logs_ingestion_counter", "rows of logs that were written", "db");
    this.seconds = metrics.seconds("greptime_servers_http_logs_ingestion_elapsed", "seconds a request of logs takes", "db", "result");
    this.bulkSeconds = metrics.seconds("greptime_servers_elasticsearch_logs_ingestion_elapsed", "seconds a bulk request takes", "db");
    this.documents = metrics.counter("greptime_servers_elasticsearch_logs_docs_count", "documents of bulk requests", "db");
    this.skipped = metrics.counter(
      "varve_log_rows_skipped_total",
      "rows that a pipeline filtered, or that failed and were left out",
      "protocol",
      "outcome",
    );
  }

  /** Counts rows that were written. */
  wrote(protocol: LogProtocol, db: string, rowCount: number): void {
    if (protocol === "loki" || protocol === "prometheus") return;
    this.rows.inc({ db }, rowCount);
    if (protocol === "elasticsearch") this.documents.inc({ db }, rowCount);
  }

  /** Counts a request. */
  answered(protocol: LogProtocol, db: string, status: number, seconds: number): void {
    this.seconds.observe({ db, result: status < 400 ? "success" : "failure" }, seconds);
    if (protocol === "elasticsearch") this.bulkSeconds.observe({ db }, seconds);
  }
}
