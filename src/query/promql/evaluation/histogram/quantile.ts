/**
 * Quantiles of histograms, and the part of the observations between two values.
 *
 * Within a bucket observations are taken to be spread so that each factor has as many; evenly in the zero bucket and in custom ones. NaN
 * observations count, but lie in no bucket: where there are some, the sum is NaN.
 */
import type { NativeHistogram } from "../series-source.ts";
import { type Bucket, bucketsOf, isLinear, partBelow, valueAtPart } from "./kernels/buckets.ts";
import { isCustom } from "./terms.ts";

/** What NaN observations did to a quantile. */
export type NanEffect = "none" | "result-is-nan" | "skewed-higher";

const plain = (value: number): { value: number; nans: NanEffect } => ({ value, nans: "none" });

/** The value below which a part of the observations lies. */
export function quantileOfHistogram(quantile: number, histogram: NativeHistogram): { value: number; nans: NanEffect } {
  if (quantile < 0) return plain(Number.NEGATIVE_INFINITY);
  if (quantile > 1) return plain(Number.POSITIVE_INFINITY);
  if (histogram.count === 0 || Number.isNaN(quantile)) return plain(Number.NaN);
  const hasNans = Number.isNaN(histogram.sum);
  // From the nearer end, as sums round. With NaN observations the far end is unknown.
  const isForward = hasNans || quantile < 0.5;
  const buckets = bucketsOf(histogram, true);
  const rank = (isForward ? quantile : 1 - quantile) * histogram.count;
  const { bucket, counted } = bucketAtRank(isForward ? buckets : buckets.toReversed(), rank);
  if (bucket === undefined) return hasNans ? { value: Number.NaN, nans: "result-is-nan" } : plain(0);
  const edge = isCustom(histogram) ? customEdge(bucket) : undefined;
  if (edge !== undefined) return plain(edge);
  const count = Math.min(counted, histogram.count);
  // Counts of buckets add up to less than the count of all.
  if (count < rank) return hasNans ? { value: Number.NaN, nans: "result-is-nan" } : plain(bucket.upper);
  const part = (isForward ? rank - (count - bucket.count) : count - rank) / bucket.count;
  const value = valueAtPart(positiveStart(bucket, histogram), part, isLinear(bucket, histogram));
  return { value, nans: hasNans ? "skewed-higher" : "none" };
}

function bucketAtRank(buckets: readonly Bucket[], rank: number): { bucket: Bucket | undefined; counted: number } {
  let counted = 0;
  for (const bucket of buckets) {
    counted += bucket.count;
    if (counted >= rank) return { bucket, counted };
  }
  return { bucket: buckets.at(-1), counted };
}

/** The finite end of a custom bucket that has no other; undefined: it has, or begins at 0. */
function customEdge({ lower, upper }: Bucket): number | undefined {
  if (lower === Number.NEGATIVE_INFINITY) return upper <= 0 ? upper : undefined;
  return upper === Number.POSITIVE_INFINITY ? lower : undefined;
}

/** The lowest custom bucket begins at 0 where it ends above. */
function positiveStart(bucket: Bucket, histogram: NativeHistogram): Bucket {
  return isCustom(histogram) && bucket.lower === Number.NEGATIVE_INFINITY && bucket.upper > 0 ? { ...bucket, lower: 0 } : bucket;
}

/** The part of the observations between two values. */
export function fractionOfHistogram(lower: number, upper: number, histogram: NativeHistogram): number {
  const { count, sum } = histogram;
  if (count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  const buckets = bucketsOf(histogram, true);
  // Buckets may add up to another number than the count of all: by rounding, or as NaN observations are in none.
  const most = Number.isNaN(sum) ? buckets.reduce((total, bucket) => total + bucket.count, 0) : count;
  const [below, above] = [lower, upper].map((value) => Math.min(countBelow(value, buckets, histogram, most), most));
  return ((above as number) - (below as number)) / count;
}

/** @param most where all buckets lie below */
function countBelow(value: number, buckets: readonly Bucket[], histogram: NativeHistogram, most: number): number {
  let before = 0;
  for (const each of buckets) {
    if (each.upper <= value) {
      before += each.count;
      continue;
    }
    const bucket = positiveStart(each, histogram);
    if (bucket.lower >= value || bucket.upper === Number.POSITIVE_INFINITY) return before;
    if (bucket.lower === Number.NEGATIVE_INFINITY) return before + bucket.count;
    return before + bucket.count * partBelow(bucket, value, isLinear(bucket, histogram));
  }
  return most;
}
