/** The buckets of a histogram with their bounds. */
import type { NativeHistogram } from "../../series-source.ts";
import type { Spans } from "./spans.ts";
import { boundsOf, exponentialBound, isCustom } from "../terms.ts";

/** Observations between two bounds, both infinite at most. */
export interface Bucket {
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
}

/**
 * All that are not empty, from the lowest to the highest. Those that overlap the zero bucket begin where it ends.
 *
 * Of a histogram that has buckets of one sign alone the zero bucket ends at 0 where `isBiased`.
 */
export function bucketsOf(histogram: NativeHistogram, isBiased: boolean): readonly Bucket[] {
  if (isCustom(histogram)) return customBuckets(histogram);
  const { schema, zeroThreshold, zeroCount, positiveSpans, negativeSpans } = histogram;
  const buckets: Bucket[] = [];
  eachBound(negativeSpans, schema, (inner, outer, count) => {
    buckets.push({ lower: -outer, upper: -Math.max(inner, zeroThreshold), count });
  });
  buckets.reverse();
  if (zeroCount > 0) {
    const [isPositive, isNegative] = [positiveSpans.length > 0, negativeSpans.length > 0];
    const lower = isBiased && isPositive && !isNegative ? 0 : -zeroThreshold;
    const upper = isBiased && isNegative && !isPositive ? 0 : zeroThreshold;
    buckets.push({ lower, upper, count: zeroCount });
  }
  eachBound(positiveSpans, schema, (inner, outer, count) => {
    buckets.push({ lower: Math.max(inner, zeroThreshold), upper: outer, count });
  });
  return buckets;
}

/** Each bucket that is not empty, its bounds as sizes. */
function eachBound(spans: Spans, schema: number, take: (inner: number, outer: number, count: number) => void): void {
  for (const { index, counts } of spans) {
    let inner = exponentialBound(index - 1, schema);
    for (let i = 0; i < counts.length; i++) {
      const outer = exponentialBound(index + i, schema);
      if (counts[i] !== 0) take(inner, outer, counts[i]!);
      inner = outer;
    }
  }
}

function customBuckets(histogram: NativeHistogram): readonly Bucket[] {
  const bounds = boundsOf(histogram);
  const buckets: Bucket[] = [];
  for (const { index, counts } of histogram.positiveSpans) {
    for (let i = 0; i < counts.length; i++) {
      if (counts[i] === 0) continue;
      const lower = index + i > 0 ? (bounds[index + i - 1] ?? Number.POSITIVE_INFINITY) : Number.NEGATIVE_INFINITY;
      buckets.push({ lower, upper: bounds[index + i] ?? Number.POSITIVE_INFINITY, count: counts[i]! });
    }
  }
  return buckets;
}

/** Whether values within a bucket are taken to be spread evenly, and not so that each factor has as many: those of the zero bucket. */
export function isLinear({ lower, upper }: Bucket, histogram: NativeHistogram): boolean {
  return isCustom(histogram) || (lower <= 0 && upper >= 0);
}

/** The part of a bucket's observations below a value within it. */
export function partBelow(bucket: Bucket, value: number, isSpreadEvenly: boolean): number {
  const { lower, upper } = bucket;
  if (isSpreadEvenly) return (value - lower) / (upper - lower);
  return Math.log2(value / lower) / Math.log2(upper / lower);
}

/** The value below which a part of a bucket's observations lies. */
export function valueAtPart({ lower, upper }: Bucket, part: number, isSpreadEvenly: boolean): number {
  if (isSpreadEvenly) return lower + (upper - lower) * part;
  return lower * 2 ** (Math.log2(upper / lower) * part);
}
