/**
 * `histogram_quantile`, `histogram_quantiles` and `histogram_fraction` over series with the label `le`.
 */
import type { Call, Expression } from "../../syntax/ast.ts";
import { inform, warn } from "../annotation.ts";
import { emptySteps, valueAt } from "../kernels/steps.ts";
import { labelsKey, labelValue, METRIC_NAME, withLabel, withoutLabels } from "../labels.ts";
import { MergedSeries } from "../merged-series.ts";
import { collected, evaluationError, type Scope, type StepSeries, stringOf } from "../scope.ts";
import type { Labels } from "../series-source.ts";
import { type Bucket, bucketFraction, bucketQuantile } from "./kernels/classic-buckets.ts";
import { warnQuantiles } from "./range-functions.ts";

const LE: ReadonlySet<string> = new Set(["le"]);

interface Histogram {
  readonly labels: Labels;
  readonly buckets: { readonly upperBound: number; readonly series: StepSeries }[];
}

/** `histogram_quantile(quantile, vector)`. @throws DbError */
export async function* histogramQuantile(call: Call, scope: Scope): AsyncGenerator<StepSeries> {
  const [quantile, vector] = call.args;
  if (quantile === undefined || vector === undefined) return;
  const quantiles = await scope.query.scalar(quantile, scope);
  warnQuantiles(quantiles, quantile.span, scope);
  yield* ofBuckets(vector, scope, (buckets, step) => bucketQuantile(valueAt(quantiles, step), buckets), undefined);
}

/** `histogram_quantiles(vector, label, quantile, …)`: the label says which. @throws DbError */
export async function* histogramQuantiles(call: Call, scope: Scope): AsyncGenerator<StepSeries> {
  const [vector, label, ...others] = call.args;
  if (vector === undefined) return;
  const name = stringOf(label);
  if (name === "") throw evaluationError("invalid label name in histogram_quantiles(): it is empty");
  for (const other of others) {
    const quantiles = await scope.query.scalar(other, scope);
    warnQuantiles(quantiles, other.span, scope);
    const shown = String(valueAt(quantiles, 0));
    yield* ofBuckets(vector, scope, (buckets, step) => bucketQuantile(valueAt(quantiles, step), buckets), [name, shown]);
  }
}

/** `histogram_fraction(lower, upper, vector)`. @throws DbError */
export async function* histogramFraction(call: Call, scope: Scope): AsyncGenerator<StepSeries> {
  const [lower, upper, vector] = call.args;
  if (lower === undefined || upper === undefined || vector === undefined) return;
  const lowers = await scope.query.scalar(lower, scope);
  const uppers = await scope.query.scalar(upper, scope);
  yield* ofBuckets(vector, scope, (buckets, step) => bucketFraction(valueAt(lowers, step), valueAt(uppers, step), buckets), undefined);
}

async function* ofBuckets(
  vector: Expression,
  scope: Scope,
  compute: (buckets: readonly Bucket[], step: number) => { value: number; wasForced: boolean },
  label: readonly [name: string, value: string] | undefined,
): AsyncGenerator<StepSeries> {
  const { all, release } = await collected(scope.query.vector(vector, scope), scope);
  const merged = new MergedSeries(scope);
  for (const { labels, buckets } of histogramsOf(all, vector, scope)) {
    const out = emptySteps(scope.moments.count);
    for (let step = 0; step < out.values.length; step++) {
      const here: Bucket[] = [];
      for (const { upperBound, series } of buckets)
        if (series.present[step] === 1) here.push({ upperBound, count: valueAt(series.values, step) });
      if (here.length === 0) continue;
      const { value, wasForced } = compute(here, step);
      out.values[step] = value;
      out.present[step] = 1;
      if (wasForced) informForced(labels, vector, scope);
    }
    const named = label === undefined ? labels : withLabel(labels, ...label);
    if (out.present.includes(1)) merged.add({ labels: named, dropsName: true, ...out });
    if (scope.query.run.pace.isDue()) await scope.query.run.pace.turn();
  }
  yield* merged.take();
  release();
}

function histogramsOf(all: readonly StepSeries[], vector: Expression, scope: Scope): Iterable<Histogram> {
  const histograms = new Map<string, Histogram>();
  for (const series of all) {
    const le = labelValue(series.labels, "le");
    const upperBound = boundOf(le);
    if (upperBound === undefined) {
      const metric = labelValue(series.labels, METRIC_NAME);
      const what = `bucket label "le" is missing or has a malformed value of ${JSON.stringify(le)}`;
      warn(scope.query, `${what} for metric name ${JSON.stringify(metric)}`, vector.span);
      continue;
    }
    const labels = withoutLabels(series.labels, LE);
    const key = labelsKey(labels);
    const known = histograms.get(key);
    if (known === undefined) histograms.set(key, { labels, buckets: [{ upperBound, series }] });
    else known.buckets.push({ upperBound, series });
  }
  return histograms.values();
}

function boundOf(le: string): number | undefined {
  if (/^[+]?inf(?:inity)?$/i.test(le)) return Number.POSITIVE_INFINITY;
  if (/^-inf(?:inity)?$/i.test(le)) return Number.NEGATIVE_INFINITY;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(le) ? Number(le) : undefined;
}

function informForced(labels: Labels, vector: Expression, { query }: Scope): void {
  const metric = labelValue(labels, METRIC_NAME);
  const of = metric === "" ? "" : ` for metric name ${JSON.stringify(metric)}`;
  inform(query, `input to histogram_quantile needed to be fixed for monotonicity${of}`, vector.span);
}
