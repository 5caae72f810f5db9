/** Metric families of the endpoints of logs (contract http.md 1.4). */
import { Counter, Histogram } from "prom-client";
import { type MetricRegistry, REQUEST_SECONDS_BUCKETS } from "../../../../base/metrics.ts";

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

  constructor({ registry }: MetricRegistry) {
    const registers = [registry];
    const buckets = [...REQUEST_SECONDS_BUCKETS];
    this.rows = new Counter({
      name: "greptime_servers_http_logs_ingestion_counter",
      help: "rows of logs that were written",
      labelNames: ["db"],
      registers,
    });
    this.seconds = new Histogram({
      name: "greptime_servers_http_logs_ingestion_elapsed",
      help: "seconds a request of logs takes",
      labelNames: ["db", "result"],
      buckets,
      registers,
    });
    this.bulkSeconds = new Histogram({
      name: "greptime_servers_elasticsearch_logs_ingestion_elapsed",
      help: "seconds a bulk request takes",
      labelNames: ["db"],
      buckets,
      registers,
    });
    this.documents = new Counter({
      name: "greptime_servers_elasticsearch_logs_docs_count",
      help: "documents of bulk requests",
      labelNames: ["db"],
      registers,
    });
    this.skipped = new Counter({
      name: "varve_log_rows_skipped_total",
      help: "rows that a pipeline filtered, or that failed and were left out",
      labelNames: ["protocol", "outcome"],
      registers,
    });
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
