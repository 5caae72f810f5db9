/**
 * Every write endpoint, as each thread serves them.
 */
import type { PipelineStore } from "../../db/pipelines/pipeline-store.ts";
import type { FailureLog } from "./errors.ts";
import type { HttpMetrics } from "./http-metrics.ts";
import { influxRoutes } from "./influx.ts";
import type { LogDoor } from "./log-door.ts";
import { LogMetrics } from "./log-metrics.ts";
import { logRoutes } from "./log-routes.ts";
import { lokiRoutes } from "./loki.ts";
import { opentsdbRoutes } from "./opentsdb.ts";
import type { IngestServerOptions } from "./options.ts";
import { otlpRoutes } from "./otlp.ts";
import { prometheusWriteRoutes } from "./prometheus-write.ts";
import type { Route } from "./router.ts";

/** @param pipelines undefined on a thread that does not have the tables: it passes on requests that name a stored pipeline */
export function writeRoutes(
  options: IngestServerOptions,
  metrics: HttpMetrics,
  failures: FailureLog,
  pipelines: PipelineStore | undefined,
): readonly Route[] {
  const door: LogDoor = { options, metrics: new LogMetrics(options.metrics), store: pipelines };
  return [
    ...influxRoutes(options, metrics),
    ...lokiRoutes(door),
    ...opentsdbRoutes(options),
    ...otlpRoutes(door),
    ...prometheusWriteRoutes(door, metrics, failures),
    ...logRoutes(door),
  ];
}
