/**
 * `/v1/logs` (contract http.md 8.2): a structured query of logs as JSON, answered in the default form of `/v1/sql`. The runtime hands on no
 * body of a GET, so that the query then stands in the parameter `query`.
 */
import { utf8Document } from "../../../../base/bytes/utf8.ts";
import { DbError, invalidArguments } from "../../../../base/error.ts";
import { Pace } from "../../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import type { Session } from "../../../../db/session.ts";
import { logQueryOf } from "../../../../db/log-query/log-query.ts";
import { logSql } from "../../../../db/log-query/log-sql.ts";
import { timeRangeOf } from "../../../../db/log-query/time-range.ts";
import { databaseExists, databaseOf } from "../../../common/database-name.ts";
import type { FailureLog } from "../../../common/failure-log.ts";
import { answerBody, answerHooks } from "../../answer-stream.ts";
import { readBody } from "../../body/body.ts";
import { sessionOf } from "../../context.ts";
import type { Exchange } from "../../exchange.ts";
import { formatOf } from "../../formats/registry.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../../http-metrics.ts";
import { LOG_QUERY_BYTES_MAX } from "../../limits.ts";
import type { HttpServerOptions } from "../../options.ts";
import { decodedValueOf } from "../../query-string.ts";
import { type Reply, textReply } from "../../reply.ts";
import type { Route } from "../../router.ts";

/** The route of this file. */
export function logQueryRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  const seconds = options.metrics.seconds("greptime_servers_http_logs_elapsed", "seconds a query of logs takes", "db");
  const handler = async (exchange: Exchange): Promise<Reply> => {
    const known = databaseExists(exchange.database, options.db);
    const stop = seconds.startTimer({ db: known ? exchange.database : UNKNOWN_DATABASE });
    try {
      options.db.authorize(sessionOf(exchange), "read");
      const text = await textOf(exchange, options);
      return typeof text === "string" ? await answer(text, exchange, options, metrics, failures) : text;
    } finally {
      stop();
    }
  };
  return [{ path: "/v1/logs", methods: { GET: handler, POST: handler }, errors: "coded" }];
}

async function textOf(exchange: Exchange, { bodyBytesMax }: HttpServerOptions): Promise<string | Reply> {
  if (exchange.method !== "POST") {
    const query = decodedValueOf(exchange.rawQuery, "query");
    if (query === undefined) throw invalidArguments("cannot read the query: send it as the body of a POST, or as the parameter query");
    return query;
  }
  const type = exchange.request.headers.get("content-type") ?? "";
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type.trim()))
    return textReply(415, "Expected request with `Content-Type: application/json`");
  const bytesMax = bodyBytesMax === 0 ? LOG_QUERY_BYTES_MAX : Math.min(bodyBytesMax, LOG_QUERY_BYTES_MAX);
  const body = await readBody(exchange, { bytesMax, decode: false });
  if (!(body instanceof Uint8Array)) return body;
  const text = utf8Document(body);
  if (text === undefined) throw invalidArguments("cannot read the query: it is not UTF-8");
  return text;
}

async function answer(
  text: string,
  exchange: Exchange,
  options: HttpServerOptions,
  metrics: HttpMetrics,
  failures: FailureLog,
): Promise<Reply> {
  const { db, clock, scheduler } = options;
  const query = logQueryOf(parsed(text));
  const { database, name } = query.table;
  const session: Session = {
    ...sessionOf(exchange, database === undefined ? exchange.database : databaseOf(database, db)),
    client: exchange.client(),
  };
  const schema = db.table(name, session)?.schema;
  if (schema === undefined) {
    throw new DbError(StatusCode.TableNotFound, `Table not found: greptime.${session.database}.${name.slice(0, 256)}`);
  }
  const sql = logSql(query, schema, timeRangeOf(query.time, session.timeZone, clock));
  const format = formatOf("greptimedb_v1");
  const elapsedMillis = (): number => Math.floor(clock.monotonicMillis() - exchange.startedMs);
  exchange.setIdleTimeout(0);
  const { queries } = scheduler;
  await queries.take();
  try {
    const asked = { limit: undefined, epoch: undefined, compression: undefined, elapsedMillis, pace: new Pace(scheduler) } as const;
    const body = await answerBody(format.encode(db.sql(sql, session), asked), answerHooks(exchange, failures, metrics), exchange.pace);
    const headers = {
      "content-type": format.contentType,
      "x-greptime-format": format.label,
      "x-greptime-execution-time": String(elapsedMillis()),
    };
    return { status: 200, headers, body };
  } finally {
    queries.done();
  }
}

/** @throws DbError InvalidArguments */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // A text that is no JSON, or nested deeper than the parser's stack.
    if (error instanceof SyntaxError || error instanceof RangeError) throw invalidArguments(`cannot read the query: ${error.message}`);
    throw error;
  }
}
