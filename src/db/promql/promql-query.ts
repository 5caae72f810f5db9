/** One PromQL query, from its text to a result whose series are made while they are read. */
import { withDeadline } from "../../base/scheduler/cancel.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import type { Expression } from "../../query/promql/syntax/ast.ts";
import { parsePromql } from "../../query/promql/syntax/parse.ts";
import { evaluate } from "../../query/promql/evaluation/evaluate.ts";
import { type SourceLimits, TableSource } from "../../query/promql/tables/table-source.ts";
import type { Catalog } from "../../table/catalog.ts";
import type { ReadPermit } from "../read-permit.ts";
import type { QueryAnswer, QueryAsk } from "./promql-db.ts";

/** What every query goes by. */
export interface PromqlLimits extends SourceLimits {
  /** Most points of a series of a range query; 0 = no limit. */
  readonly pointsMax: number;
  /** Milliseconds; 0 = none beside that of all statements. */
  readonly timeoutMillis: number;
  /** How far a selector looks back, where a query does not say. */
  readonly lookbackMillis: number;
}

/** Where a query runs. */
export interface QueryPlace {
  readonly catalog: Catalog;
  readonly database: string;
  readonly limits: PromqlLimits;
  readonly beginRead: () => ReadPermit;
  readonly paceOf: (signal: AbortSignal) => Pace;
}

/** Begins a query. @throws DbError InvalidSyntax, PlanQuery for too many points, those of evaluation */
export async function answerQuery(ask: QueryAsk, place: QueryPlace): Promise<QueryAnswer> {
  const { limits, catalog, database } = place;
  const expression = checkedQuery(ask, limits);
  const permit = place.beginRead();
  const wanted = ask.timeoutMillis ?? limits.timeoutMillis;
  const longest = limits.timeoutMillis === 0 ? wanted : Math.min(wanted, limits.timeoutMillis);
  const { signal, done } = withDeadline(permit.signal, longest, "query.promql.timeout");
  const end = (): void => {
    done();
    permit.done();
  };
  try {
    const { startMillis, endMillis, stepMillis } = ask;
    const times = { startMillis, endMillis, stepMillis, lookbackMillis: ask.lookbackMillis ?? limits.lookbackMillis };
    const annotations = { warnings: new Set<string>(), infos: new Set<string>() };
    const source = new TableSource(catalog, database, limits);
    const reserve = (bytes: number): void => permit.reserve(bytes);
    const release = (bytes: number): void => permit.release(bytes);
    const run = { signal, pace: place.paceOf(signal), reserve, release };
    const result = await evaluate(expression, times, source, run, annotations, ask.query);
    return { result, times, annotations, run, samplesRead: () => source.samplesRead, done: end };
  } catch (error) {
    end();
    throw error;
  }
}

/** @throws DbError InvalidSyntax, PlanQuery */
function checkedQuery({ query, startMillis, endMillis, stepMillis, isInstant }: QueryAsk, { pointsMax }: PromqlLimits): Expression {
  const parsed = parsePromql(query);
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
