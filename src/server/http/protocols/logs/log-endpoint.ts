/** What the endpoints of logs are given, and how each request is counted. */
import type { PipelineStore } from "../../../../db/pipelines/pipeline-store.ts";
import { databaseExists } from "../../../common/database-name.ts";
import type { Exchange } from "../../exchange.ts";
import { UNKNOWN_DATABASE } from "../../http-metrics.ts";
import type { LogCounters, LogProtocol } from "../../../common/logs/log-counters.ts";
import type { LogMetrics } from "./log-metrics.ts";
import type { IngestServerOptions } from "../../options.ts";
import type { Reply } from "../../reply.ts";
import type { Handler } from "../../router.ts";

/** See the file header. */
export interface LogEndpoint {
  readonly options: IngestServerOptions;
  readonly metrics: LogMetrics;
  readonly counters: LogCounters;
  /** Absent on a thread that serves the built-in pipeline only. */
  readonly store: PipelineStore | undefined;
}

/** The label of a request's database. */
function databaseLabel(exchange: Exchange, { options }: LogEndpoint): string {
  return databaseExists(exchange.database, options.db) ? exchange.database : UNKNOWN_DATABASE;
}

/** A handler that counts what it answers. */
export function counted(
  protocol: LogProtocol,
  endpoint: LogEndpoint,
  answer: (exchange: Exchange, endpoint: LogEndpoint) => Promise<Reply>,
): Handler {
  const { clock } = endpoint.options;
  return async (exchange) => {
    let status = 500;
    try {
      const reply = await answer(exchange, endpoint);
      status = reply.status;
      return reply;
    } finally {
      endpoint.metrics.answered(protocol, databaseLabel(exchange, endpoint), status, (clock.monotonicMillis() - exchange.startedMs) / 1000);
    }
  };
}
