/** Routes of logs that only write, so that ingest threads serve them too. Requests that name a stored pipeline go to the main thread. */
import { elasticsearchRoutes } from "./elasticsearch.ts";
import { ingestLogRoutes } from "./ingest.ts";
import type { LogEndpoint } from "./log-endpoint.ts";
import type { Route } from "../../router.ts";
import { splunkRoutes } from "./splunk.ts";

/** Routes of log documents, `_bulk` and the event collector. */
export function logRoutes(endpoint: LogEndpoint): readonly Route[] {
  return [...ingestLogRoutes(endpoint), ...elasticsearchRoutes(endpoint), ...splunkRoutes(endpoint)];
}
