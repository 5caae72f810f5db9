/** `/v1/promql` (contract http.md 3): a range query as rows, in the formats of `/v1/sql`. All parameters come from the URL. */
import { DbError } from "../../../../../base/error.ts";
import { Pace } from "../../../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../../../base/status-code.ts";
import type { FailureLog } from "../../../../common/failure-log.ts";
import { answerBody, answerHooks } from "../../../answer-stream.ts";
import { sessionOf } from "../../../context.ts";
import type { Exchange } from "../../../exchange.ts";
import { formatOf } from "../../../formats/registry.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../../../http-metrics.ts";
import { databaseExists } from "../../../../common/database-name.ts";
import type { HttpServerOptions } from "../../../options.ts";
import { uniquePairs } from "../../../query-string.ts";
import { type Reply, textReply } from "../../../reply.ts";
import type { Route } from "../../../router.ts";
import { durationOf, momentOf } from "../../../../common/promql/moments.ts";

const NAMES: ReadonlySet<string> = new Set(["query", "start", "end", "step", "lookback", "format", "compression"]);

/** The route of this file. */
export function promqlRowRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  const handler = (exchange: Exchange): Promise<Reply> => answered(exchange, options, metrics, failures);
  return [{ path: "/v1/promql", methods: { GET: handler, POST: handler }, errors: "coded" }];
}

async function answered(exchange: Exchange, options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): Promise<Reply> {
  const pairs = uniquePairs(exchange.rawQuery, NAMES);
  if ("duplicate" in pairs) return unread(`duplicate field \`${pairs.duplicate}\``);
  if ("tooMany" in pairs) return unread(`more than ${pairs.tooMany} parameters`);
  const missing = ["query", "start", "end", "step"].find((name) => !pairs.has(name));
  if (missing !== undefined) return unread(`missing field \`${missing}\``);
  const request = requestOf(pairs);
  const format = formatOf(pairs.get("format"));
  const compression = pairs.get("compression")?.toLowerCase() === "zstd" ? "zstd" : undefined;
  const elapsedMillis = (): number => Math.floor(options.clock.monotonicMillis() - exchange.startedMs);
  exchange.setIdleTimeout(0);
  const db = databaseExists(exchange.database, options.db) ? exchange.database : UNKNOWN_DATABASE;
  const stop = metrics.promqlSeconds.startTimer({ db });
  const { queries } = options.scheduler;
  await queries.take();
  try {
    const results = options.db.promql.rows(request, { ...sessionOf(exchange), client: exchange.client() });
    const asked = { limit: undefined, epoch: undefined, compression, elapsedMillis, pace: new Pace(options.scheduler) } as const;
    const body = await answerBody(format.encode(results, asked), answerHooks(exchange, failures, metrics), exchange.pace);
    const time = String(elapsedMillis());
    const headers = { "content-type": format.contentType, "x-greptime-format": format.label, "x-greptime-execution-time": time };
    return { status: 200, headers, body };
  } finally {
    queries.done();
    stop();
  }
}

function unread(why: string): Reply {
  return textReply(400, `Failed to deserialize query string: ${why}`);
}

/** @throws DbError InvalidSyntax */
function requestOf(pairs: ReadonlyMap<string, string>): Parameters<HttpServerOptions["db"]["promql"]["rows"]>[0] {
  const read = (name: string, by: (text: string, name: string) => number): number => {
    try {
      return by(pairs.get(name) ?? "", name);
    } catch (error) {
      throw error instanceof DbError ? new DbError(StatusCode.InvalidSyntax, error.message) : error;
    }
  };
  const positive = (name: string): number => {
    const millis = read(name, durationOf);
    if (millis < 1) throw new DbError(StatusCode.InvalidSyntax, `invalid parameter "${name}": it must be at least a millisecond`);
    return millis;
  };
  return {
    promql: pairs.get("query") ?? "",
    span: { line: 1, column: 1 },
    startMillis: read("start", momentOf),
    endMillis: read("end", momentOf),
    stepMillis: positive("step"),
    lookbackMillis: pairs.has("lookback") ? positive("lookback") : undefined,
    alias: undefined,
  };
}
