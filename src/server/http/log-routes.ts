/** Routes of logs that only write, so that ingest threads serve them too. Requests that name a stored pipeline go to the main thread. */
import { elasticsearchRoutes } from "./elasticsearch.ts";
import { ingestLogRoutes } from "./ingest-logs.ts";
import type { LogDoor } from "./log-door.ts";
import type { Route } from "./router.ts";
import { splunkRoutes } from "./splunk.ts";

/** Routes of log documents, `_bulk` and the event collector. */
export function logRoutes(door: LogDoor): readonly Route[] {
  return [...ingestLogRoutes(door), ...elasticsearchRoutes(door), ...splunkRoutes(door)];
}
