/**
 * Selectors and sub-queries: the moments that they look at, and what they see there.
 */
import type { AtModifier, DurationValue, MatrixSelector, SubqueryExpression, VectorSelector } from "../syntax/ast.ts";
import { warnMixedSamples, warnMixedSchemas } from "./annotation.ts";
import { durationMillis, positiveMillis } from "./durations.ts";
import { smoothedValues } from "./functions/kernels/extended.ts";
import { withUnknownReset } from "./histogram/hints.ts";
import { withResolvedHints } from "./histogram/resolved-hints.ts";
import { eachHistogram } from "./histogram/turns.ts";
import { labelValue, METRIC_NAME } from "./labels.ts";
import { type Asked, type LineProblem, type MixedSamples, MixedLine, newestMixed, withoutStaleMixed } from "./kernels/mixed-samples.ts";
import { emptySteps, hasStep, StepSamples } from "./kernels/steps.ts";
import { newestSamples, WithoutStale } from "./kernels/windows.ts";
import {
  evaluationError,
  isTurnDue,
  type Moments,
  type QueryScope,
  type Scope,
  type Steps,
  type StepSeries,
  type StepVectorMaker,
  takeTurn,
  togetherMax,
} from "./scope.ts";
import type { Labels, SampledSeries } from "./series-source.ts";
import { inPieces } from "./turns.ts";

/** Step of a sub-query that says none. Reason: Prometheus' default evaluation interval. */
const SUBQUERY_STEP_MILLIS = 60_000;
/** Most steps of a sub-query. Reason: each series has an array of them; thirty days of seconds fit. */
const SUBQUERY_STEPS_MAX = 4_000_000;

/** Samples of one series for windows: arrays borrowed until the next series. */
export interface RangeSeries extends MixedSamples {
  readonly labels: Labels;
  readonly dropsName: boolean;
  /** Whether there may be stale markers among them, which are no samples; only of series of numbers alone. */
  readonly mayBeStale: boolean;
}

/** A range vector: at each moment the samples of `(moment - rangeMillis, moment]`. */
export interface RangeVector {
  readonly moments: Moments;
  readonly rangeMillis: number;
  /** In groups, as a source gives them. */
  readonly series: AsyncIterable<Iterable<RangeSeries>>;
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

function selected(
  node: VectorSelector,
  moments: Moments,
  backMillis: number,
  query: QueryScope,
  newestOnly = false,
): AsyncIterable<Iterable<SampledSeries>> {
  const { source, run, selections, times } = query;
  // Extended ranges look at samples outside of them.
  const before = backMillis + (node.isAnchored || node.isSmoothed ? times.lookbackMillis : 0);
  const after = node.isSmoothed ? times.lookbackMillis : 0;
  const resolves = query.ofStatistics.has(node);
  const firstMillis = moments.startMillis - before + 1;
  // Hints of resets come from the samples before.
  const ofOne = newestOnly && !resolves;
  const read = { matchers: node.matchers, firstMillis, lastMillis: lastMillis(moments) + after, newestOnly: ofOne };
  const groups = selections.read(node, read, source, run);
  // Handed on as they are: a generator more is a part of what a query of one series takes.
  return resolves ? withResolved(groups, query) : groups;
}

async function* withResolved(groups: AsyncIterable<Iterable<SampledSeries>>, query: QueryScope): AsyncGenerator<Iterable<SampledSeries>> {
  for await (const group of groups) {
    for (const series of group) {
      if (series.histograms === undefined) yield [series];
      else yield [{ ...series, histograms: await withResolvedHints(series.histograms, query) }];
    }
  }
}

/** The newest value of each series, or when it was. */
export async function* instantSelector(node: VectorSelector, scope: Scope, asks: Asked): StepVectorMaker {
  const moments = momentsOf(node, scope);
  const { query } = scope;
  const most = togetherMax(moments.count);
  const { lookbackMillis } = query.times;
  const isSmoothed = node.isSmoothed && asks === "value";
  // All steps look at one moment: samples before the newest one are nobody's.
  const isOne = (moments.count === 1 || moments.stepMillis === 0) && !node.isAnchored && !node.isSmoothed;
  for await (const group of selected(node, moments, lookbackMillis, query, isOne)) {
    let found: StepSeries[] = [];
    for (const series of group) {
      const { labels, times, values, count } = series;
      let out: Steps;
      if (series.histograms !== undefined || asks === "start")
        out = isSmoothed ? await smoothed(series, moments, node, scope) : newestMixed(series, moments, lookbackMillis, asks);
      else if (isSmoothed) out = await smoothedNumbers(series, moments, query);
      else {
        out = query.spare.take(moments.count);
        const rest = inPieces(newestSamples(times, values, count, moments, lookbackMillis, asks, out.values, out.present), query);
        if (rest !== undefined) await rest;
      }
      if (isTurnDue(query)) await takeTurn(query);
      if (!hasStep(out.present)) continue;
      found.push({ labels, dropsName: false, ...out });
      if (found.length < most) continue;
      yield found;
      found = [];
    }
    if (found.length > 0) yield found;
  }
}

async function smoothedNumbers({ times, values, count }: SampledSeries, moments: Moments, query: QueryScope): Promise<Steps> {
  const out = emptySteps(moments.count);
  const fresh = new WithoutStale({ times, values, count });
  await inPieces(fresh.work, query);
  await inPieces(smoothedValues(fresh.samples, moments, query.times.lookbackMillis, out.values, out.present), query);
  return out;
}

async function smoothed(series: SampledSeries, moments: Moments, node: VectorSelector, scope: Scope): Promise<Steps> {
  const { query } = scope;
  const line = new MixedLine(withoutStaleMixed(series), moments, query.times.lookbackMillis);
  await eachHistogram(query, moments.count, (step) => {
    const problem = line.put(step);
    if (problem !== undefined) warnLine(problem, node, series.labels, scope);
  });
  return line.out;
}

function warnLine(problem: LineProblem, { span }: VectorSelector, labels: Labels, { query }: Scope): void {
  const metric = labelValue(labels, METRIC_NAME);
  if (problem === "number-and-histogram") warnMixedSamples(query, metric, span);
  else warnMixedSchemas(query, metric, span);
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

async function* rangeSelector(
  node: VectorSelector,
  moments: Moments,
  rangeMillis: number,
  query: QueryScope,
): AsyncGenerator<Iterable<RangeSeries>> {
  for await (const group of selected(node, moments, rangeMillis, query)) yield rangesOf(group);
}

function* rangesOf(group: Iterable<SampledSeries>): Generator<RangeSeries> {
  for (const series of group) {
    const { labels, times, values, histograms, starts, count } = series;
    if (histograms !== undefined || starts !== undefined) {
      const samples = withoutStaleMixed(series);
      if (samples.count > 0) yield { labels, dropsName: false, mayBeStale: false, ...samples };
    } else yield { labels, dropsName: false, mayBeStale: true, times, values, count, histograms, starts };
  }
}

/** Those that are no stale markers. @throws DbError when nobody waits for the query any more */
export async function freshSamples(series: RangeSeries, query: QueryScope): Promise<MixedSamples> {
  if (!series.mayBeStale) return series;
  const fresh = new WithoutStale(series);
  await inPieces(fresh.work, query);
  const { histograms, starts } = series;
  return { ...fresh.samples, histograms, starts };
}

/** Its steps are multiples of their length, whatever the query's are. */
async function* subquery(
  node: SubqueryExpression,
  moments: Moments,
  rangeMillis: number,
  query: QueryScope,
): AsyncGenerator<Iterable<RangeSeries>> {
  const stepMillis = node.step === undefined ? SUBQUERY_STEP_MILLIS : positiveMillis(node.step, query.times);
  const after = moments.startMillis - rangeMillis;
  const startMillis = (Math.floor(after / stepMillis) + 1) * stepMillis;
  const steps = Math.floor((lastMillis(moments) - startMillis) / stepMillis) + 1;
  if (steps <= 0) return;
  if (steps > SUBQUERY_STEPS_MAX)
    throw evaluationError(`cannot evaluate the sub-query: it has ${steps} steps, at most ${SUBQUERY_STEPS_MAX}; take a longer step`);
  const inner: Scope = { query, moments: { startMillis, stepMillis, count: steps } };
  for await (const some of query.vector(node.expression, inner)) {
    const found: RangeSeries[] = [];
    for (const series of some) {
      const { labels, dropsName } = series;
      const samples = new StepSamples(series, startMillis, stepMillis);
      const rest = inPieces(samples.work, query);
      if (rest !== undefined) await rest;
      if (isTurnDue(query)) await takeTurn(query);
      const { times, values, count } = samples;
      if (count === 0) continue;
      const histograms = samples.histograms?.map((histogram) => histogram && withUnknownReset(histogram));
      found.push({ labels, dropsName, mayBeStale: false, times, values, histograms, count, starts: undefined });
    }
    yield found;
  }
}
