/**
 * Every write endpoint, as each thread serves them.
 */
import type { PipelineStore } from "../../../db/pipelines/pipeline-store.ts";
import type { FailureLog } from "../../common/failure-log.ts";
import type { HttpMetrics } from "../http-metrics.ts";
import { influxRoutes } from "./influx/write.ts";
import type { LogEndpoint } from "./logs/log-endpoint.ts";
import { LogCounters } from "../../common/logs/log-counters.ts";
import { LogMetrics } from "./logs/log-metrics.ts";
import { logRoutes } from "./logs/log-routes.ts";
import { lokiRoutes } from "./loki.ts";
import { opentsdbRoutes } from "./opentsdb.ts";
import type { IngestServerOptions } from "../options.ts";
import { otlpRoutes } from "./otlp/otlp.ts";
import { prometheusWriteRoutes } from "./prometheus/write.ts";
import type { Route } from "../router.ts";

/** @param pipelines undefined on a thread that does not have the tables: it passes on requests that name a stored pipeline */
export function writeRoutes(
  options: IngestServerOptions,
  metrics: HttpMetrics,
  failures: FailureLog,
  pipelines: PipelineStore | undefined,
): readonly Route[] {
  const endpoint: LogEndpoint = {
    options,
    metrics: new LogMetrics(options.metrics),
    counters: new LogCounters(options.metrics),
    store: pipelines,
  };
  return [
    ...influxRoutes(options, metrics),
    ...lokiRoutes(endpoint),
    ...opentsdbRoutes(options),
    ...otlpRoutes(endpoint),
    ...prometheusWriteRoutes(endpoint, metrics, failures),
    ...logRoutes(endpoint),
  ];
}
