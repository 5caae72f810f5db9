/** Routes of logs that only write, so that ingest threads serve them too. Requests that name a stored pipeline go to the main thread. */
import type { PipelineStore } from "../../db/pipelines/pipeline-store.ts";
import { elasticsearchRoutes } from "./elasticsearch.ts";
import { ingestLogRoutes } from "./ingest-logs.ts";
import type { LogDoor } from "./log-door.ts";
import { LogMetrics } from "./log-metrics.ts";
import type { IngestServerOptions } from "./options.ts";
import type { Route } from "./router.ts";
import { splunkRoutes } from "./splunk.ts";

/** The routes. `store`: absent on an ingest thread. */
export function logRoutes(options: IngestServerOptions, store: PipelineStore | undefined): readonly Route[] {
  const door: LogDoor = { options, metrics: new LogMetrics(options.metrics), store };
  return [...ingestLogRoutes(door), ...elasticsearchRoutes(door), ...splunkRoutes(door)];
}
