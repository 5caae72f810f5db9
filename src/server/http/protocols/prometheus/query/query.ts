/** `query` and `query_range` (contract ingest.md 3.3, 3.4, README row 5). */
import { DbError } from "../../../../../base/error.ts";
import { StatusCode } from "../../../../../base/status-code.ts";
import type { QueryAsk } from "../../../../../db/promql/promql-db.ts";
import { answerBody, answerHooks } from "../../../answer-stream.ts";
import { sessionOf } from "../../../context.ts";
import type { FailureLog } from "../../../../common/failure-log.ts";
import type { Exchange } from "../../../exchange.ts";
import { type HttpMetrics, UNKNOWN_DATABASE } from "../../../http-metrics.ts";
import { databaseExists } from "../../../../common/database-name.ts";
import type { HttpServerOptions } from "../../../options.ts";
import { JSON_TYPE, type Reply } from "../../../reply.ts";
import type { Handler, Route } from "../../../router.ts";
import { badQuery, queryFailure } from "../../../../common/promql/failures.ts";
import { failureReply, readErrorReply } from "../envelope.ts";
import { durationOf, invalidParameter, momentOf } from "../../../../common/promql/moments.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import { resultPieces } from "../../../../common/promql/result-json.ts";
import { API_PATH } from "../query-text.ts";

const COMMON = ["query", "timeout", "limit", "stats", "lookback_delta", "lookback"] as const;
const INSTANT_NAMES: ReadonlySet<string> = new Set([...COMMON, "time"]);
const RANGE_NAMES: ReadonlySet<string> = new Set([...COMMON, "start", "end", "step"]);

/** What a request asks for. */
type AskOf = (parameters: Parameters, options: HttpServerOptions) => QueryAsk;

/** The routes of this file; none when the protocol is off. */
export function prometheusQueryRoutes(options: HttpServerOptions, metrics: HttpMetrics, failures: FailureLog): readonly Route[] {
  if (!options.prometheus.enabled) return [];
  const both = (path: string, names: ReadonlySet<string>, askOf: AskOf): Route => {
    const handler: Handler = async (exchange) => {
      const parameters = await readParameters(exchange, options, names);
      if ("status" in parameters) return parameters;
      return answered(exchange, askOf(parameters, options), parameters, { options, metrics, failures });
    };
    return { path: `${API_PATH}/${path}`, methods: { GET: handler, POST: handler }, errors: readErrorReply };
  };
  return [both("query", INSTANT_NAMES, instantOf), both("query_range", RANGE_NAMES, rangeOf)];
}

function instantOf(parameters: Parameters, { clock }: HttpServerOptions): QueryAsk {
  const text = parameters.one("time");
  const millis = text === undefined ? Number(clock.nowNanos() / 1_000_000n) : momentOf(text, "time");
  return { ...commonOf(parameters), startMillis: millis, endMillis: millis, stepMillis: 1, isInstant: true };
}

function rangeOf(parameters: Parameters): QueryAsk {
  const startMillis = momentOf(parameters.all("start")[0] ?? "", "start");
  const endMillis = momentOf(parameters.all("end")[0] ?? "", "end");
  if (endMillis < startMillis) throw invalidParameter("end", "end timestamp must not be before start time");
  const stepMillis = durationOf(parameters.all("step")[0] ?? "", "step");
  if (stepMillis < 1)
    throw invalidParameter("step", "zero or negative query resolution step widths are not accepted. Try a positive integer");
  return { ...commonOf(parameters), startMillis, endMillis, stepMillis, isInstant: false };
}

function commonOf(parameters: Parameters): Pick<QueryAsk, "query" | "timeoutMillis" | "lookbackMillis"> {
  const positive = (name: string): number | undefined => {
    const text = parameters.one(name);
    if (text === undefined) return undefined;
    const millis = durationOf(text, name);
    if (millis < 1) throw invalidParameter(name, "it must be at least a millisecond");
    return millis;
  };
  const lookbackMillis = positive("lookback_delta") ?? positive("lookback");
  return { query: parameters.one("query") ?? "", timeoutMillis: positive("timeout"), lookbackMillis };
}

/** What an answer is made with. */
interface Server {
  readonly options: HttpServerOptions;
  readonly metrics: HttpMetrics;
  readonly failures: FailureLog;
}

async function answered(exchange: Exchange, ask: QueryAsk, parameters: Parameters, server: Server): Promise<Reply> {
  const { options, metrics, failures } = server;
  const limit = parameters.limit();
  const session = { ...sessionOf(exchange), client: exchange.client() };
  exchange.setIdleTimeout(0);
  const db = databaseExists(session.database, options.db) ? session.database : UNKNOWN_DATABASE;
  const stop = metrics.promqlApiSeconds.startTimer({ db, method: ask.isInstant ? "instant_query" : "range_query" });
  const { queries } = options.scheduler;
  await queries.take();
  try {
    const began = options.clock.monotonicMillis();
    const answer = await options.db.promql.query(ask, session);
    const seconds = (): number => (options.clock.monotonicMillis() - began) / 1000;
    const stats = parameters.one("stats") === undefined ? undefined : (): string => statsJson(seconds(), answer.samplesRead());
    const pieces = resultPieces(answer, { isInstant: ask.isInstant, limit, stats });
    const body = await answerBody(pieces, answerHooks(exchange, failures, metrics), exchange.pace);
    return { status: 200, headers: { "content-type": JSON_TYPE }, body };
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return failed(error);
  } finally {
    queries.done();
    stop();
  }
}

/** A query that failed, as Prometheus tells it. @throws DbError what is no failure of the query itself */
function failed(error: DbError): Reply {
  if (error.code === StatusCode.InvalidSyntax) throw badQuery(error);
  const told = queryFailure(error);
  if (told === undefined) throw error;
  return failureReply(told, error);
}

function statsJson(seconds: number, samples: number): string {
  const timings = { evalTotalTime: seconds, resultSortTime: 0, queryPreparationTime: 0, innerEvalTime: seconds, execQueueTime: 0 };
  const counted = { totalQueryableSamples: samples, peakSamples: samples };
  return JSON.stringify({ timings: { ...timings, execTotalTime: seconds }, samples: counted });
}
