/** TQL's engine: PromQL over the tables of the catalog, as rows. A sample that is a native histogram is no row. */
import { DbError } from "../../../base/error.ts";
import { throwIfCancelled, withDeadline } from "../../../base/scheduler/cancel.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Batch } from "../../../column/batch.ts";
import type { PromqlEngine, PromqlPlan, PromqlRequest, PromqlRun, PromqlSources } from "../../promql-engine.ts";
import { evaluate } from "../evaluation/evaluate.ts";
import type { QueryResult, QueryTimes } from "../evaluation/series-source.ts";
import type { Expression } from "../syntax/ast.ts";
import { parsePromql } from "../syntax/parse.ts";
import { problemText } from "../syntax/refusal.ts";
import { printPromql } from "../syntax/printer.ts";
import { type SourceLimits, TableSource } from "../tables/table-source.ts";
import { columnsOf, type RowColumn } from "./columns.ts";
import { batchesInOrder, batchesOf } from "./row-batches.ts";
import { type RowOrder, rowOrderOf, rowsInOrder } from "./row-order.ts";
import { held, joined, type RowSeries, seriesOf, stepCount } from "./row-series.ts";
import { fieldQueries } from "./selected-fields.ts";

/** Characters of the query that EXPLAIN shows. */
const SUMMARY_CHARACTERS_MAX = 200;

/** What every query goes by. */
export interface RowLimits extends SourceLimits {
  /** How far a selector looks back where a statement does not say. */
  readonly lookbackMillis: number;
  /** Longest that a query runs, in milliseconds; 0 = as long as its statement may. */
  readonly timeoutMillis: number;
}

/** See the file header. */
export class RowEngine implements PromqlEngine {
  private readonly scheduler: Scheduler;
  private readonly limits: RowLimits;

  constructor(scheduler: Scheduler, limits: RowLimits) {
    this.scheduler = scheduler;
    this.limits = limits;
  }

  /** @throws DbError InvalidSyntax, InvalidArguments, Unsupported, EngineExecuteQuery */
  plan(request: PromqlRequest, { catalog, environment }: PromqlSources): PromqlPlan {
    const { promql, alias, startMillis, endMillis, stepMillis } = request;
    const expression = rowQuery(promql, request.span);
    const { database } = environment;
    const place = { catalog, database };
    const fields = fieldQueries(expression, place);
    const columns = columnsOf(expression, fields, alias, place);
    const lookbackMillis = request.lookbackMillis ?? this.limits.lookbackMillis;
    const times = { startMillis, endMillis, stepMillis, lookbackMillis };
    const source = (scan: PromqlRun["scan"]): TableSource => new TableSource(catalog, database, this.limits, scan);
    const query = { fields, times, columns, order: rowOrderOf(expression) };
    const run = (given: PromqlRun): AsyncIterable<Batch> => this.rows(query, source(given.scan), given);
    return { columns: columns.map(({ name, type }) => ({ name, type })), summary: summaryOf(expression, times), run };
  }

  private async *rows(query: RowQuery, source: TableSource, { signal: given, reserve, release }: PromqlRun): AsyncGenerator<Batch> {
    const { fields, times, columns, order } = query;
    if (times.endMillis < times.startMillis) return;
    const { signal, done } = withDeadline(given, this.limits.timeoutMillis, "query.promql.timeout");
    const pace = new Pace(this.scheduler, () => throwIfCancelled(signal));
    const run = { signal, pace, reserve, release };
    const annotations = { warnings: new Set<string>(), infos: new Set<string>() };
    try {
      const results = fields.map((field) => () => evaluate(field, times, source, run, annotations));
      const series = results.length === 1 ? ofOneField(results) : joined(results, run);
      if (order === undefined) yield* batchesOf(series, columns, times, run);
      else yield* batchesInOrder(await rowsInOrder(await held(series, run), stepCount(times), order, run), columns, times, run);
    } finally {
      done();
    }
  }
}

/** A query that was planned. */
interface RowQuery {
  readonly fields: readonly Expression[];
  readonly times: QueryTimes;
  readonly columns: readonly RowColumn[];
  readonly order: RowOrder | undefined;
}

async function* ofOneField([result]: readonly (() => Promise<QueryResult>)[]): AsyncGenerator<RowSeries> {
  if (result === undefined) return;
  for await (const series of seriesOf(await result())) yield { labels: series.labels, fields: [series] };
}

/** @throws DbError InvalidSyntax */
function rowQuery(text: string, { line, column }: PromqlRequest["span"]): Expression {
  const parsed = parsePromql(text);
  if (!parsed.ok) {
    // A place in the statement, of which the query is a part.
    const { what, place = { line: 1, column: 1 } } = parsed.problem;
    const inStatement = { line: place.line + line - 1, column: place.line === 1 ? place.column + column - 1 : place.column };
    throw new DbError(StatusCode.InvalidSyntax, problemText(what, inStatement));
  }
  const { expression } = parsed;
  if (expression.valueType === "vector" || expression.valueType === "scalar") return expression;
  const type = expression.valueType === "matrix" ? "range vector" : "string";
  throw new DbError(StatusCode.InvalidSyntax, `invalid expression type "${type}" for range query, must be Scalar or instant Vector`);
}

function summaryOf(expression: Expression, { startMillis, endMillis, stepMillis }: QueryTimes): string {
  const text = printPromql(expression);
  const shown = text.length > SUMMARY_CHARACTERS_MAX ? `${text.slice(0, SUMMARY_CHARACTERS_MAX)}…` : text;
  return `PromQL: ${shown}, from ${startMillis} to ${endMillis} ms by ${stepMillis} ms`;
}
