/** TQL's engine: PromQL over the tables of the catalog, as rows. A sample that is a native histogram is no row. */
import { DbError } from "../../../base/error.ts";
import { throwIfCancelled, withDeadline } from "../../../base/scheduler/cancel.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { PromqlEngine, PromqlPlan, PromqlRequest, PromqlRun, PromqlSources } from "../../promql-engine.ts";
import { evaluate } from "../evaluation/evaluate.ts";
import type { QueryResult, QueryTimes, SteppedSeries } from "../evaluation/series-source.ts";
import type { Expression } from "../syntax/ast.ts";
import { parsePromql } from "../syntax/parse.ts";
import { printPromql } from "../syntax/printer.ts";
import { type SourceLimits, TableSource } from "../tables/table-source.ts";
import { columnsOf, type RowColumn } from "./columns.ts";

/** Rows of a batch. */
const BATCH_ROWS = 8192;
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

  /** @throws DbError InvalidSyntax, InvalidArguments */
  plan(request: PromqlRequest, { catalog, environment }: PromqlSources): PromqlPlan {
    const { promql, alias, startMillis, endMillis, stepMillis } = request;
    const expression = rowQuery(promql);
    const { database } = environment;
    const columns = columnsOf(expression, alias, { catalog, database });
    const lookbackMillis = request.lookbackMillis ?? this.limits.lookbackMillis;
    const times = { startMillis, endMillis, stepMillis, lookbackMillis };
    const source = (): TableSource => new TableSource(catalog, database, this.limits);
    const run = (given: PromqlRun): AsyncIterable<Batch> => this.rows(expression, times, columns, source(), given);
    return { columns: columns.map(({ name, type }) => ({ name, type })), summary: summaryOf(expression, times), run };
  }

  private async *rows(
    expression: Expression,
    times: QueryTimes,
    columns: readonly RowColumn[],
    source: TableSource,
    { signal: given, reserve, release }: PromqlRun,
  ): AsyncGenerator<Batch> {
    if (times.endMillis < times.startMillis) return;
    const { signal, done } = withDeadline(given, this.limits.timeoutMillis, "query.promql.timeout");
    const pace = new Pace(this.scheduler, () => throwIfCancelled(signal));
    const annotations = { warnings: new Set<string>(), infos: new Set<string>() };
    try {
      const result = await evaluate(expression, times, source, { signal, pace, reserve, release }, annotations);
      for await (const series of seriesOf(result)) {
        for (const batch of batchesOf(series, times, columns)) yield batch;
        await pace.turn();
      }
    } finally {
      done();
    }
  }
}

/** @throws DbError InvalidSyntax */
function rowQuery(text: string): Expression {
  const parsed = parsePromql(text);
  if (!parsed.ok) throw new DbError(StatusCode.InvalidSyntax, parsed.problem.message);
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

async function* seriesOf(result: QueryResult): AsyncGenerator<SteppedSeries> {
  if (result.kind === "scalar") yield { labels: [], values: result.values, present: undefined, histograms: undefined };
  if (result.kind === "vector") yield* result.series;
}

function* batchesOf(series: SteppedSeries, times: QueryTimes, columns: readonly RowColumn[]): Generator<Batch> {
  const { values, present, histograms } = series;
  const { startMillis, endMillis, stepMillis } = times;
  const count = Math.floor((endMillis - startMillis) / stepMillis) + 1;
  for (let step = 0; step < count; ) {
    const offsets = new Float64Array(Math.min(BATCH_ROWS, count - step));
    const numbers = new Float64Array(offsets.length);
    let rowCount = 0;
    for (; step < count && rowCount < offsets.length; step++) {
      if (present?.[step] === 0 || histograms?.[step] !== undefined) continue;
      offsets[rowCount] = startMillis + step * stepMillis;
      numbers[rowCount++] = values[step] as number;
    }
    if (rowCount === 0) return;
    yield { rowCount, vectors: columns.map((column) => vectorOf(column, series, offsets, numbers)) };
  }
}

function vectorOf(column: RowColumn, { labels }: SteppedSeries, offsets: Float64Array, numbers: Float64Array): Vector {
  if (column.role === "time") return { kind: "time", base: 0n, offsets, validity: undefined };
  if (column.role === "value") return { kind: "number", values: numbers, validity: undefined };
  const value = labels.find(([name]) => name === column.name)?.[1];
  const codes = new Uint32Array(offsets.length).fill(value === undefined ? 0 : 1);
  return { kind: "dictionary", codes, dictionary: [undefined, value] };
}
