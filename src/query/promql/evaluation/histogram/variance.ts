/** How far the observations of a histogram are from their mean. */
import type { NativeHistogram } from "../series-source.ts";
import { type Bucket, bucketsOf } from "./kernels/buckets.ts";
import { isCustom } from "./terms.ts";

/** Population variance, as if all observations of a bucket lay in its middle. */
export function varianceOfHistogram(histogram: NativeHistogram): number {
  const mean = histogram.sum / histogram.count;
  let total = 0;
  let lost = 0;
  for (const bucket of bucketsOf(histogram, false)) {
    const delta = middleOf(bucket, histogram) - mean;
    const value = bucket.count * delta * delta;
    const next = total + value;
    if (!Number.isFinite(next)) lost = 0;
    else lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return (total + lost) / histogram.count;
}

/** Of the zero bucket 0, of custom ones the arithmetic mean, of others the geometric one. */
function middleOf({ lower, upper }: Bucket, histogram: NativeHistogram): number {
  if (isCustom(histogram)) return (lower + upper) / 2;
  if (lower <= 0 && upper >= 0) return 0;
  return Math.sign(upper) * Math.sqrt(lower * upper);
}
