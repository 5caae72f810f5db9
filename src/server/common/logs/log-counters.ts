/** What is counted of rows that went through pipelines, by whichever protocol they came (contract http.md 1.4). */
import type { Counter, Histogram } from "prom-client";
import type { MetricRegistry } from "../../../base/metrics.ts";
import { sharedCounter, sharedSeconds } from "../shared-counters.ts";

/** The protocols whose rows may go through pipelines; Loki and Prometheus count what they write in families of their own. */
export type LogProtocol = "ingest" | "elasticsearch" | "splunk" | "loki" | "prometheus" | "otlp";

/** See the file header. */
export class LogCounters {
  /** Rows that pipelines filtered, and rows that failed and were left out. */
  readonly skipped: Counter<"protocol" | "outcome">;
  /** Seconds that pipelines take for the rows of a request. */
  readonly transformSeconds: Histogram<"db" | "result">;
  private readonly rows: Counter<"db">;
  private readonly documents: Counter<"db">;

  constructor(metrics: MetricRegistry) {
    this.rows = sharedCounter(metrics, "greptime_servers_http_logs_ingestion_counter", "rows of logs that were written", "db");
    this.documents = sharedCounter(metrics, "greptime_servers_elasticsearch_logs_docs_count", "documents of bulk requests", "db");
    const transform = "seconds that the rows of a request take in their pipeline";
    this.transformSeconds = sharedSeconds(metrics, "greptime_servers_http_logs_transform_elapsed", transform, "db", "result");
    const skipped = "rows that a pipeline filtered, or that failed and were left out";
    this.skipped = sharedCounter(metrics, "varve_log_rows_skipped_total", skipped, "protocol", "outcome");
  }

  /** Counts rows that were written. */
  wrote(protocol: LogProtocol, db: string, rowCount: number): void {
    if (protocol === "loki" || protocol === "prometheus") return;
    this.rows.inc({ db }, rowCount);
    if (protocol === "elasticsearch") this.documents.inc({ db }, rowCount);
  }
}
