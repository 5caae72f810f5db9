/**
 * `/v1/sql` (contract http.md 2): parameters → `Db.sql` → one of the result formats.
 */
import { Pace } from "../../../../base/scheduler/pace.ts";
import { invalidArguments } from "../../../../base/error.ts";
import { answerBody, answerHooks } from "../../answer-stream.ts";
import { sessionOf } from "../../context.ts";
import { databaseExists, databaseOf } from "../../../common/database-name.ts";
import { IngestMetrics } from "../../../../db/ingest-counts.ts";
import type { FailureLog } from "../../../common/failure-log.ts";
import type { Exchange } from "../../exchange.ts";
import { formatOf } from "../../formats/registry.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../../http-metrics.ts";
import type { HttpServerOptions } from "../../options.ts";
import type { Reply } from "../../reply.ts";
import type { Route } from "../../router.ts";
import { analyzeRoutes } from "./analyze-stream.ts";
import { readSqlParameters } from "./sql-parameters.ts";
import { syntaxRoutes } from "./syntax.ts";

/** The routes of this file. */
export function sqlRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  const handler = async (exchange: Exchange): Promise<Reply> => runSql(exchange, options, metrics, failures);
  return [
    { path: "/v1/sql", methods: { GET: handler, POST: handler }, errors: "coded" },
    ...syntaxRoutes(options, metrics, failures),
    ...analyzeRoutes(options, metrics, failures),
  ];
}

async function runSql(exchange: Exchange, options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): Promise<Reply> {
  const ingest = IngestMetrics.of(options.metrics).of("sql_http");
  const parameters = await readSqlParameters(exchange, options);
  if ("status" in parameters) return parameters;
  const database = parameters.db === undefined ? exchange.database : databaseOf(parameters.db, options.db);
  if (parameters.sql === undefined) throw invalidArguments("sql parameter is required.");
  const session = { ...sessionOf(exchange, database), client: exchange.client(), ingest };
  const format = formatOf(parameters.format);
  const elapsedMillis = (): number => Math.floor(options.clock.monotonicMillis() - exchange.startedMs);
  exchange.setIdleTimeout(0);
  const label = databaseExists(database, options.db) ? database : UNKNOWN_DATABASE;
  const stop = metrics.sqlSeconds.startTimer({ db: label });
  const { queries } = options.scheduler;
  await queries.take();
  try {
    const chunks = format.encode(options.db.sql(parameters.sql, session), {
      limit: parameters.limit,
      epoch: parameters.epoch,
      compression: parameters.compression,
      elapsedMillis,
      pace: new Pace(options.scheduler),
    });
    const body = await answerBody(chunks, answerHooks(exchange, failures, metrics), exchange.pace);
    return {
      status: 200,
      headers: {
        "content-type": format.contentType,
        "x-greptime-format": format.label,
        "x-greptime-execution-time": String(elapsedMillis()),
      },
      body,
    };
  } finally {
    queries.done();
    stop();
  }
}
