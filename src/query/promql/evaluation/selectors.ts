/**
 * Selectors and sub-queries: the moments that they look at, and what they see there.
 */
import type { AtModifier, DurationValue, MatrixSelector, SubqueryExpression, VectorSelector } from "../syntax/ast.ts";
import { warnHistograms } from "./annotation.ts";
import { durationMillis, positiveMillis } from "./durations.ts";
import { smoothedValues } from "./functions/kernels/extended.ts";
import { labelValue, METRIC_NAME } from "./labels.ts";
import { numberSamples } from "./kernels/number-samples.ts";
import { samplesOf } from "./kernels/steps.ts";
import { newestSamples, withoutStale } from "./kernels/windows.ts";
import { evaluationError, isTurnDue, type Moments, type QueryScope, type Scope, type StepSeries, takeTurn } from "./scope.ts";
import type { Labels, SampledSeries } from "./series-source.ts";

/** Step of a sub-query that says none. Reason: Prometheus' default evaluation interval. */
const SUBQUERY_STEP_MILLIS = 60_000;
/** Most steps of a sub-query. Reason: each series has an array of them; thirty days of seconds fit. */
const SUBQUERY_STEPS_MAX = 4_000_000;

/** Samples of one series for windows: no stale markers, arrays borrowed until the next series. */
export interface RangeSeries {
  readonly labels: Labels;
  readonly dropsName: boolean;
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly count: number;
}

/** A range vector: at each moment the samples of `(moment - rangeMillis, moment]`. */
export interface RangeVector {
  readonly moments: Moments;
  readonly rangeMillis: number;
  readonly series: AsyncIterable<RangeSeries>;
}

/** Where a selector looks at each step, `@` and `offset` applied. */
export function momentsOf(
  node: { readonly at: AtModifier | undefined; readonly offset: DurationValue },
  { query, moments }: Scope,
): Moments {
  const offset = durationMillis(node.offset, query.times);
  if (node.at === undefined) return { ...moments, startMillis: moments.startMillis - offset };
  return { startMillis: fixedMillis(node.at, query) - offset, stepMillis: 0, count: moments.count };
}

function fixedMillis(at: AtModifier, { times }: QueryScope): number {
  if (at.kind === "time") return at.millis;
  return at.kind === "start" ? times.startMillis : times.endMillis;
}

function lastMillis({ startMillis, stepMillis, count }: Moments): number {
  return startMillis + stepMillis * (count - 1);
}

async function* selected(node: VectorSelector, moments: Moments, backMillis: number, query: QueryScope): AsyncGenerator<SampledSeries> {
  const { source, run, selections, times } = query;
  // Extended ranges look at samples outside of them.
  const before = backMillis + (node.isAnchored || node.isSmoothed ? times.lookbackMillis : 0);
  const after = node.isSmoothed ? times.lookbackMillis : 0;
  const read = { matchers: node.matchers, firstMillis: moments.startMillis - before + 1, lastMillis: lastMillis(moments) + after };
  for await (const series of selections.read(node, read, source, run)) {
    if (isTurnDue(query)) await takeTurn(query);
    const numbers = numberSamples(series);
    if (numbers !== series) warnHistograms(labelValue(series.labels, METRIC_NAME), query);
    if (numbers.count > 0) yield numbers;
  }
}

/** The newest value of each series, or when it was. */
export async function* instantSelector(node: VectorSelector, scope: Scope, asks: "value" | "time"): AsyncGenerator<StepSeries> {
  const moments = momentsOf(node, scope);
  const { lookbackMillis } = scope.query.times;
  for await (const { labels, times, values, count } of selected(node, moments, lookbackMillis, scope.query)) {
    const steps =
      node.isSmoothed && asks === "value"
        ? smoothedValues(withoutStale(times, values, count), moments, lookbackMillis)
        : newestSamples(times, values, count, moments, lookbackMillis, asks);
    if (steps.any) yield { labels, dropsName: false, values: steps.values, present: steps.present };
  }
}

/** What a function of a range sees. @throws DbError */
export function rangeVector(node: MatrixSelector | SubqueryExpression, scope: Scope): RangeVector {
  const rangeMillis = positiveMillis(node.range, scope.query.times);
  if (node.kind === "SubqueryExpression") {
    const moments = momentsOf(node, scope);
    return { moments, rangeMillis, series: subquery(node, moments, rangeMillis, scope.query) };
  }
  const moments = momentsOf(node.selector, scope);
  return { moments, rangeMillis, series: rangeSelector(node.selector, moments, rangeMillis, scope.query) };
}

async function* rangeSelector(node: VectorSelector, moments: Moments, rangeMillis: number, query: QueryScope): AsyncGenerator<RangeSeries> {
  for await (const { labels, times, values, count } of selected(node, moments, rangeMillis, query)) {
    const samples = withoutStale(times, values, count);
    if (samples.count > 0) yield { labels, dropsName: false, ...samples };
  }
}

/** Its steps are multiples of their length, whatever the query's are. */
async function* subquery(node: SubqueryExpression, moments: Moments, rangeMillis: number, query: QueryScope): AsyncGenerator<RangeSeries> {
  const stepMillis = node.step === undefined ? SUBQUERY_STEP_MILLIS : positiveMillis(node.step, query.times);
  const after = moments.startMillis - rangeMillis;
  const startMillis = (Math.floor(after / stepMillis) + 1) * stepMillis;
  const count = Math.floor((lastMillis(moments) - startMillis) / stepMillis) + 1;
  if (count <= 0) return;
  if (count > SUBQUERY_STEPS_MAX)
    throw evaluationError(`cannot evaluate the sub-query: it has ${count} steps, at most ${SUBQUERY_STEPS_MAX}; take a longer step`);
  const inner: Scope = { query, moments: { startMillis, stepMillis, count } };
  for await (const series of query.vector(node.expression, inner)) {
    if (isTurnDue(query)) await takeTurn(query);
    const samples = samplesOf(series, startMillis, stepMillis);
    if (isTurnDue(query)) await takeTurn(query);
    if (samples.count > 0) yield { labels: series.labels, dropsName: series.dropsName, ...samples };
  }
}
