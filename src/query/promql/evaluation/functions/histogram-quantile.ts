/**
 * `histogram_quantile`, `histogram_quantiles` and `histogram_fraction`: of series with the label `le`, and of native histograms.
 *
 * A step that has both kinds under the same labels has no result.
 */
import type { Call, Expression } from "../../syntax/ast.ts";
import { shortNumberText } from "../../syntax/value-text.ts";
import { inform, warn } from "../annotation.ts";
import { fractionOfHistogram, quantileOfHistogram } from "../histogram/quantile.ts";
import { eachHistogram } from "../histogram/turns.ts";
import { emptySteps, valueAt } from "../kernels/steps.ts";
import { labelsKey, labelValue, METRIC_NAME, withLabel, withoutLabels } from "../labels.ts";
import { MergedSeries } from "../merged-series.ts";
import { collected, evaluationError, type Scope, type Steps, type StepSeries, type StepVectorMaker, stringOf, together } from "../scope.ts";
import type { Labels, NativeHistogram } from "../series-source.ts";
import { type Bucket, bucketFraction, bucketQuantile } from "./kernels/classic-buckets.ts";
import { warnQuantiles } from "./range-functions.ts";

const LE: ReadonlySet<string> = new Set(["le"]);

/** Series that are one histogram but for their kind. */
interface Histogram {
  readonly labels: Labels;
  readonly buckets: { readonly upperBound: number; readonly series: StepSeries }[];
  native: StepSeries | undefined;
}

/** What is computed of a histogram at a step. */
interface Computation {
  readonly ofBuckets: (buckets: readonly Bucket[], step: number) => { value: number; wasForced: boolean };
  readonly ofNative: (histogram: NativeHistogram, step: number, metric: string) => number;
}

/** `histogram_quantile(quantile, vector)`. @throws DbError */
export async function* histogramQuantile(call: Call, scope: Scope): StepVectorMaker {
  const [quantile, vector] = call.args;
  if (quantile === undefined || vector === undefined) return;
  const quantiles = await scope.query.scalar(quantile, scope);
  warnQuantiles(quantiles, quantile.span, scope);
  const { all, release } = await collected(scope.query.vector(vector, scope), scope);
  yield* results(histogramsOf(all, vector, scope), vector, scope, quantileComputation(quantiles, vector, scope), undefined);
  release();
}

/** `histogram_quantiles(vector, label, quantile, …)`: the label says which. @throws DbError */
export async function* histogramQuantiles(call: Call, scope: Scope): StepVectorMaker {
  const [vector, label, ...others] = call.args;
  if (vector === undefined) return;
  const name = stringOf(label);
  if (name === "") throw evaluationError("invalid label name in histogram_quantiles(): it is empty");
  const { all, release } = await collected(scope.query.vector(vector, scope), scope);
  const histograms = histogramsOf(all, vector, scope);
  for (const other of others) {
    const quantiles = await scope.query.scalar(other, scope);
    warnQuantiles(quantiles, other.span, scope);
    const computation = quantileComputation(quantiles, vector, scope);
    // One series a value: a quantile may be another one at each step.
    for (const value of new Set(quantiles)) {
      const isIts = (step: number): boolean => Object.is(valueAt(quantiles, step), value);
      yield* results(histograms, vector, scope, computation, { label: [name, openMetricsText(value)], isIts });
    }
  }
  release();
}

/** Whole numbers have a fraction, as OpenMetrics wants it: `1.0`. */
function openMetricsText(value: number): string {
  const text = shortNumberText(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** `histogram_fraction(lower, upper, vector)`. @throws DbError */
export async function* histogramFraction(call: Call, scope: Scope): StepVectorMaker {
  const [lower, upper, vector] = call.args;
  if (lower === undefined || upper === undefined || vector === undefined) return;
  const lowers = await scope.query.scalar(lower, scope);
  const uppers = await scope.query.scalar(upper, scope);
  const computation: Computation = {
    ofBuckets: (buckets, step) => ({ ...bucketFraction(valueAt(lowers, step), valueAt(uppers, step), buckets), wasForced: false }),
    ofNative: (histogram, step, metric) => {
      const value = fractionOfHistogram(valueAt(lowers, step), valueAt(uppers, step), histogram);
      if (Number.isNaN(histogram.sum) && !Number.isNaN(value))
        informNans("histogram_fraction has NaN observations, which are excluded from all fractions", metric, vector, scope);
      return value;
    },
  };
  const { all, release } = await collected(scope.query.vector(vector, scope), scope);
  yield* results(histogramsOf(all, vector, scope), vector, scope, computation, undefined);
  release();
}

function quantileComputation(quantiles: Float64Array, vector: Expression, scope: Scope): Computation {
  return {
    ofBuckets: (buckets, step) => bucketQuantile(valueAt(quantiles, step), buckets),
    ofNative: (histogram, step, metric) => {
      const { value, nans } = quantileOfHistogram(valueAt(quantiles, step), histogram);
      if (nans === "result-is-nan") informNans("histogram_quantile has NaN observations, result is NaN", metric, vector, scope);
      if (nans === "skewed-higher") informNans("histogram_quantile has NaN observations, result is skewed higher", metric, vector, scope);
      return value;
    },
  };
}

function informNans(what: string, metric: string, vector: Expression, { query }: Scope): void {
  inform(query, `input to ${what}${metricText(metric)}`, vector.span);
}

function metricText(metric: string): string {
  return metric === "" ? "" : ` for metric name ${JSON.stringify(metric)}`;
}

async function* results(
  histograms: Iterable<Histogram>,
  vector: Expression,
  scope: Scope,
  computation: Computation,
  only: { readonly label: readonly [name: string, value: string]; readonly isIts: (step: number) => boolean } | undefined,
): StepVectorMaker {
  const merged = new MergedSeries(scope);
  for (const histogram of histograms) {
    const out = emptySteps(scope.moments.count);
    await eachHistogram(scope.query, out.values.length, (step) => {
      if (only !== undefined && !only.isIts(step)) return;
      const value = valueOf(histogram, step, vector, scope, computation);
      if (value === undefined) return;
      out.values[step] = value;
      out.present[step] = 1;
    });
    const { labels } = histogram;
    const named = only === undefined ? labels : withLabel(labels, ...only.label);
    if (out.present.includes(1)) merged.add({ labels: named, dropsName: true, ...out });
  }
  yield* together(merged.take(), scope);
}

function valueOf(
  { labels, buckets, native }: Histogram,
  step: number,
  vector: Expression,
  scope: Scope,
  { ofBuckets, ofNative }: Computation,
): number | undefined {
  const here: Bucket[] = [];
  for (const { upperBound, series } of buckets)
    if (isNumberAt(series, step)) here.push({ upperBound, count: valueAt(series.values, step) });
  const histogram = native?.present[step] === 1 ? native.histograms?.[step] : undefined;
  const metric = labelValue(labels, METRIC_NAME);
  if (histogram !== undefined) {
    if (here.length === 0) return ofNative(histogram, step, metric);
    warn(scope.query, `vector contains a mix of classic and native histograms${metricText(metric)}`, vector.span);
    return undefined;
  }
  if (here.length === 0) return undefined;
  const { value, wasForced } = ofBuckets(here, step);
  if (wasForced) inform(scope.query, `input to histogram_quantile needed to be fixed for monotonicity${metricText(metric)}`, vector.span);
  return value;
}

function isNumberAt({ present, histograms }: Steps, step: number): boolean {
  return present[step] === 1 && histograms?.[step] === undefined;
}

function histogramsOf(all: readonly StepSeries[], vector: Expression, scope: Scope): readonly Histogram[] {
  const histograms = new Map<string, Histogram>();
  const histogramAt = (labels: Labels): Histogram => {
    const key = labelsKey(labels);
    let known = histograms.get(key);
    if (known === undefined) {
      known = { labels, buckets: [], native: undefined };
      histograms.set(key, known);
    }
    return known;
  };
  for (const series of all) {
    if (series.histograms !== undefined) {
      histogramAt(series.labels).native = series;
      if (!series.present.some((_, step) => isNumberAt(series, step))) continue;
    }
    const le = labelValue(series.labels, "le");
    const upperBound = boundOf(le);
    if (upperBound === undefined) {
      const what = `bucket label "le" is missing or has a malformed value of ${JSON.stringify(le)}`;
      warn(scope.query, `${what}${metricText(labelValue(series.labels, METRIC_NAME))}`, vector.span);
      continue;
    }
    histogramAt(withoutLabels(series.labels, LE)).buckets.push({ upperBound, series });
  }
  return [...histograms.values()];
}

function boundOf(le: string): number | undefined {
  if (/^[+]?inf(?:inity)?$/i.test(le)) return Number.POSITIVE_INFINITY;
  if (/^-inf(?:inity)?$/i.test(le)) return Number.NEGATIVE_INFINITY;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(le) ? Number(le) : undefined;
}
