/**
 * `/v1/prometheus/api/v1/format_query` and `parse_query` (contract ingest.md 3.11): a query printed, and its tree.
 */
import { DbError } from "../../../../base/error.ts";
import { inTurns, Pace } from "../../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { formattedQuery, queryTreeJson } from "../../../../db/promql/query-text.ts";
import { readForm } from "../../body/form.ts";
import { sessionOf } from "../../context.ts";
import type { Exchange } from "../../exchange.ts";
import type { HttpServerOptions } from "../../options.ts";
import { type UniquePairs, uniquePairs } from "../../query-string.ts";
import type { Reply } from "../../reply.ts";
import type { Handler, Route } from "../../router.ts";
import { prometheusErrorReply, successReply } from "./envelope.ts";

const NAMES: ReadonlySet<string> = new Set(["query"]);
/** Where the query API stands. */
export const API_PATH = "/v1/prometheus/api/v1";

/** The JSON text of an answer's data, made in steps. */
type Answer = (query: string) => Generator<undefined, string>;

/** The routes of this file; none when the protocol is off. */
export function prometheusTextRoutes(options: HttpServerOptions): readonly Route[] {
  if (!options.prometheus.enabled) return [];
  return [route(`${API_PATH}/format_query`, formatted, options), route(`${API_PATH}/parse_query`, queryTreeJson, options)];
}

function* formatted(query: string): Generator<undefined, string> {
  return JSON.stringify(yield* formattedQuery(query));
}

function route(path: string, answer: Answer, options: HttpServerOptions): Route {
  const handler: Handler = (exchange) => answered(exchange, answer, options);
  return { path, methods: { GET: handler, POST: handler }, errors: prometheusErrorReply };
}

async function answered(exchange: Exchange, answer: Answer, options: HttpServerOptions): Promise<Reply> {
  options.db.authorize(sessionOf(exchange), "read");
  const query = await queryOf(exchange, options);
  if (typeof query !== "string") return query;
  const { scheduler } = options;
  await scheduler.queries.take();
  try {
    return successReply(await inTurns(answer(query), { signal: exchange.signal, pace: new Pace(scheduler) }));
  } catch (error) {
    if (!(error instanceof DbError) || error.code !== StatusCode.InvalidSyntax) throw error;
    throw new DbError(error.code, `invalid parameter "query": ${error.message}`);
  } finally {
    scheduler.queries.done();
  }
}

/** The parameter, of the URL before that of a form; a missing one is empty. Or the answer that refuses the form. */
async function queryOf(exchange: Exchange, options: HttpServerOptions): Promise<string | Reply> {
  const inUrl = valueOf(uniquePairs(exchange.rawQuery, NAMES));
  if (exchange.method !== "POST") return inUrl ?? "";
  const form = await readForm(exchange, options, NAMES);
  if ("status" in form) return form;
  return inUrl ?? valueOf(form) ?? "";
}

/** @throws DbError InvalidArguments */
function valueOf(pairs: UniquePairs): string | undefined {
  if ("duplicate" in pairs) throw new DbError(StatusCode.InvalidArguments, `the parameter "${pairs.duplicate}" is there twice`);
  if ("tooMany" in pairs) throw new DbError(StatusCode.InvalidArguments, `more than ${pairs.tooMany} parameters`);
  return pairs.get("query");
}
