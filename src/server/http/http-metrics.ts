/**
 * Metric families of the HTTP server (contract http.md 1.4).
 */
import { availableParallelism } from "node:os";
import { type Counter, Gauge, type Histogram } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import { authFailures, serverErrors } from "../common/shared-counters.ts";
import type { InFlightBytes } from "./body/in-flight.ts";
import type { HttpServerOptions } from "./options.ts";

/** Label of requests whose database does not exist: names come from clients and must not make series without end. */
export const UNKNOWN_DATABASE = "unknown";

export class HttpMetrics {
  readonly authFailures: Counter<"code">;
  readonly errors: Counter<"protocol">;
  readonly sqlSeconds: Histogram<"db">;
  readonly influxWriteSeconds: Histogram<"db">;
  readonly prometheusWriteSeconds: Histogram<"db" | "version">;
  readonly prometheusReadSeconds: Histogram<"db">;
  /** By `instant_query` and `range_query`. */
  readonly promqlApiSeconds: Histogram<"db" | "method">;
  readonly promqlSeconds: Histogram<"db">;
  /** Unfolding and decoding alone. */
  readonly prometheusCodecSeconds: Histogram<"type" | "version">;
  readonly prometheusSamples: Counter<"db" | "version">;
  /** Native histograms of Prometheus remote writes. */
  readonly prometheusHistograms: Counter<"db" | "version">;
  /** Requests of other sites' pages, and under foreign names. */
  readonly browserRefusals: Counter;
  /** Requests that found no room for their body. */
  readonly bodiesRejected: Counter<"reason">;
  private readonly metrics: MetricRegistry;
  private readonly requests: Counter<"method" | "path" | "code" | "db">;
  private readonly requestSeconds: Histogram<"method" | "path" | "code" | "db">;

  constructor(metrics: MetricRegistry) {
    this.metrics = metrics;
    const labels = ["method", "path", "code", "db"] as const;
    this.requests = metrics.counter("greptime_servers_http_requests_total", "http requests", ...labels);
    this.requestSeconds = metrics.seconds("greptime_servers_http_requests_elapsed", "seconds an http request takes", ...labels);
    this.sqlSeconds = metrics.seconds("greptime_servers_http_sql_elapsed", "seconds a request to /v1/sql takes", "db");
    this.influxWriteSeconds = metrics.seconds(
      "greptime_servers_http_influxdb_write_elapsed",
      "seconds a write of line protocol takes",
      "db",
    );
    this.prometheusWriteSeconds = metrics.seconds(
      "greptime_servers_http_prometheus_write_elapsed",
      "seconds a Prometheus remote write takes",
      "db",
      "version",
    );
    this.prometheusReadSeconds = metrics.seconds(
      "greptime_servers_http_prometheus_read_elapsed",
      "seconds a Prometheus remote read takes",
      "db",
    );
    this.promqlApiSeconds = metrics.seconds(
      "greptime_servers_http_prometheus_promql_elapsed",
      "seconds a query of Prometheus' API takes",
      "db",
      "method",
    );
    this.promqlSeconds = metrics.seconds("greptime_servers_http_promql_elapsed", "seconds a request to /v1/promql takes", "db");
    this.prometheusCodecSeconds = metrics.seconds(
      "greptime_servers_http_prometheus_codec_elapsed",
      "seconds that unfolding and decoding a Prometheus request takes",
      "type",
      "version",
    );
    this.prometheusSamples = metrics.counter(
      "greptime_servers_prometheus_remote_write_samples",
      "samples of Prometheus remote writes that were stored",
      "db",
      "version",
    );
    this.prometheusHistograms = metrics.counter(
      "greptime_servers_prometheus_remote_write_histograms",
      "native histograms of Prometheus remote writes that were stored",
      "db",
      "version",
    );
    this.authFailures = authFailures(metrics);
    this.errors = serverErrors(metrics);
    this.browserRefusals = metrics.counter(
      "varve_http_browser_refusals_total",
      "requests refused because pages of other sites sent them, or because they came under a foreign name",
    );
    this.bodiesRejected = metrics.counter(
      "greptime_servers_request_memory_rejected_total",
      "requests refused because bodies take as much memory as they may",
      "reason",
    );
  }

  /** Shows what bodies take. */
  showInFlight(inFlight: InFlightBytes): void {
    const { metrics } = this;
    metrics.shownGauge("greptime_servers_request_memory_in_use_bytes", "bytes of request bodies that are worked on", () => inFlight.bytes);
    metrics.shownGauge(
      "greptime_servers_request_memory_limit_bytes",
      "most bytes of request bodies that are worked on; 0 = no limit",
      () => inFlight.bytesMax,
    );
  }

  /** Counts an answered request. `path` is the route's template. */
  answered(method: string, path: string, status: number, database: string, seconds: number): void {
    const labels = { method, path, code: String(status), db: database };
    this.requests.inc(labels);
    this.requestSeconds.observe(labels, seconds);
  }
}

/** Gauges that are read off the server when they are asked for. */
export function registerFacts({ metrics, db, build, memory }: HttpServerOptions): void {
  const registers = [metrics.registry];
  const version = new Gauge({
    name: "greptime_app_version",
    help: "app version",
    labelNames: ["app", "short_version", "version"],
    registers,
  });
  const short = build.commit.slice(0, 9);
  version.set({ app: build.app, short_version: build.branch === "" ? short : `${build.branch}-${short}`, version: build.version }, 1);
  const { app } = build;
  if (Number.isFinite(memory.bytesMax)) {
    const limit = new Gauge({
      name: "greptime_memory_limit_in_bytes",
      help: "the limit of the server's memory",
      labelNames: ["app"],
      registers,
    });
    limit.set({ app }, memory.bytesMax);
  }
  const cores = new Gauge({ name: "greptime_cpu_limit_in_millicores", help: "cores that are there", labelNames: ["app"], registers });
  cores.set({ app }, availableParallelism() * 1000);
  const pool: Gauge = new Gauge({
    name: "greptime_query_memory_pool_usage_bytes",
    help: "bytes that queries hold",
    registers,
    collect: () => pool.set(memory.bytesOf("queries")),
  });
  new Gauge({ name: "greptime_catalog_catalog_count", help: "catalog catalog count", registers }).set(1);
  const schemas: Gauge = new Gauge({
    name: "greptime_catalog_schema_count",
    help: "catalog schema count",
    registers,
    collect: () => schemas.set(db.databases().length),
  });
}

/** The exposition text 0.0.4 of all threads, families sorted by name; a family without samples is left out. */
export async function exposition(metrics: MetricRegistry): Promise<string> {
  const registry = await metrics.ofAllThreads();
  const families = registry.getMetricsAsArray().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const texts = await Promise.all(families.map(async ({ name }) => registry.getSingleMetricAsString(name)));
  return texts
    .filter((text) => text.split("\n").some((line) => line !== "" && !line.startsWith("#")))
    .map((text) => `${text.trimEnd()}\n`)
    .join("");
}
