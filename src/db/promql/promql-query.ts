/** One PromQL query, from its text to a result whose series are made while they are read. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import type { Expression } from "../../query/promql/syntax/ast.ts";
import { evaluate } from "../../query/promql/evaluation/evaluate.ts";
import type { QueryResult, SteppedSeries } from "../../query/promql/evaluation/series-source.ts";
import { type SourceLimits, TableSource } from "../../query/promql/tables/table-source.ts";
import type { Catalog } from "../../table/catalog.ts";
import type { QueryPermit } from "../read-permit.ts";
import type { KnownQueries } from "./known-queries.ts";
import type { QueryAnswer, QueryAsk } from "./promql-db.ts";

/** What every query goes by. */
export interface PromqlLimits extends SourceLimits {
  /** Most points of a series of a range query; 0 = no limit. */
  readonly pointsMax: number;
  /** Milliseconds that a permit may last; 0 = no limit beside that of all statements. */
  readonly timeoutMillis: number;
  /** How far a selector looks back, where a query does not say. */
  readonly lookbackMillis: number;
}

/** Where a query runs. */
export interface QueryPlace {
  readonly catalog: Catalog;
  readonly database: string;
  readonly limits: PromqlLimits;
  readonly permit: QueryPermit;
  /** @throws DbError PermissionDenied */
  readonly mayRead: () => void;
  readonly paceOf: (signal: AbortSignal) => Pace;
  readonly queries: KnownQueries;
}

/**
 * Begins a query; ends its permit when it is done or has failed.
 *
 * @throws DbError InvalidSyntax, PlanQuery for too many points, those of evaluation
 */
export async function answerQuery(ask: QueryAsk, place: QueryPlace): Promise<QueryAnswer> {
  const { limits, catalog, database, permit } = place;
  const { signal } = permit;
  try {
    place.mayRead();
    const expression = checkedQuery(ask, limits, place.queries);
    const { startMillis, endMillis, stepMillis } = ask;
    const times = { startMillis, endMillis, stepMillis, lookbackMillis: ask.lookbackMillis ?? limits.lookbackMillis };
    const annotations = { warnings: new Set<string>(), infos: new Set<string>() };
    const source = new TableSource(catalog, database, limits);
    const reserve = (bytes: number): void => permit.reserve(bytes);
    const release = (bytes: number): void => permit.release(bytes);
    const run = { signal, pace: place.paceOf(signal), reserve, release };
    const result = await evaluate(expression, times, source, run, annotations, ask.query);
    return { result: timed(result, permit), times, annotations, run, samplesRead: () => source.samplesRead, done: () => permit.done() };
  } catch (error) {
    permit.failed(error);
    permit.done();
    throw error;
  }
}

/** The result, which works only while its series are asked for; its rows are its points. */
function timed(result: QueryResult, permit: QueryPermit): QueryResult {
  switch (result.kind) {
    case "scalar":
      permit.gave(result.values.length);
      return result;
    case "string":
      permit.gave(1);
      return result;
    case "vector":
      return { ...result, series: permit.over(result.series, (some) => some.reduce((points, series) => points + pointsOf(series), 0)) };
    case "matrix":
      return { ...result, series: permit.over(result.series, ({ count }) => count) };
  }
}

function pointsOf({ values, present }: SteppedSeries): number {
  if (present === undefined) return values.length;
  let points = 0;
  for (let step = 0; step < present.length; step++) points += present[step] as number;
  return points;
}

/** @throws DbError InvalidSyntax, PlanQuery */
function checkedQuery(ask: QueryAsk, { pointsMax }: PromqlLimits, queries: KnownQueries): Expression {
  const { query, startMillis, endMillis, stepMillis, isInstant } = ask;
  const parsed = queries.parse(query);
  if (!parsed.ok) throw new DbError(StatusCode.InvalidSyntax, parsed.problem.message);
  const { expression } = parsed;
  if (isInstant) return expression;
  if (pointsMax > 0 && (endMillis - startMillis) / stepMillis > pointsMax) {
    const most = pointsMax.toLocaleString("en-US");
    const why = `exceeded maximum resolution of ${most} points per timeseries. Try decreasing the query resolution (?step=XX)`;
    throw new DbError(StatusCode.PlanQuery, why);
  }
  if (expression.valueType === "vector" || expression.valueType === "scalar") return expression;
  const type = expression.valueType === "matrix" ? "range vector" : "string";
  const why = `invalid expression type "${type}" for range query, must be Scalar or instant Vector`;
  throw new DbError(StatusCode.InvalidSyntax, why);
}
