/**
 * `histogram </ value` and `histogram >/ value`: the observations on one side of a value.
 *
 * A bucket that the value cuts keeps its part as quantiles have it. A custom bucket without an end keeps all or nothing. Of what is left
 * the sum is that of the middles of buckets; where nothing is cut off, the histogram stays as it is.
 */
import type { NativeHistogram } from "../series-source.ts";
import { compact } from "./arithmetic.ts";
import { type Bucket, isLinear, partBelow } from "./kernels/buckets.ts";
import type { Spans } from "./kernels/spans.ts";
import { boundsOf, exponentialBound, isCustom } from "./terms.ts";

/** Which side stays. */
export type KeptSide = "below" | "above";

/** See the file header. A value of NaN has nothing on either side. */
export function trimmed(histogram: NativeHistogram, value: number, side: KeptSide): NativeHistogram {
  const cut = new Cut(histogram, value, side);
  const { zeroThreshold, zeroCount, schema } = histogram;
  const isPositive = histogram.positiveSpans.length > 0;
  const isNegative = histogram.negativeSpans.length > 0;
  const negativeSpans = eachBucket(histogram.negativeSpans, (index, count) => {
    const inner = Math.max(exponentialBound(index - 1, schema), zeroThreshold);
    return cut.kept({ lower: -exponentialBound(index, schema), upper: -inner, count });
  });
  const zero = { lower: isPositive && !isNegative ? 0 : -zeroThreshold, upper: isNegative && !isPositive ? 0 : zeroThreshold };
  const keptZero = isCustom(histogram) ? 0 : cut.kept({ ...zero, count: zeroCount });
  const bounds = boundsOf(histogram);
  const positiveSpans = eachBucket(histogram.positiveSpans, (index, count) => {
    if (isCustom(histogram)) return cut.kept(customBucket(index, count, bounds));
    return cut.kept({ lower: Math.max(exponentialBound(index - 1, schema), zeroThreshold), upper: exponentialBound(index, schema), count });
  });
  if (!cut.hasCut) return histogram;
  return compact({ ...histogram, zeroCount: keptZero, count: cut.count, sum: cut.sum, positiveSpans, negativeSpans });
}

function eachBucket(spans: Spans, kept: (index: number, count: number) => number): Spans {
  return spans.map(({ index, counts }) => {
    const left = counts.slice();
    for (let at = 0; at < left.length; at++) if (left[at] !== 0) left[at] = kept(index + at, left[at] as number);
    return { index, counts: left };
  });
}

function customBucket(index: number, count: number, bounds: Float64Array): Bucket {
  const upper = bounds[index] ?? Number.POSITIVE_INFINITY;
  const first = upper > 0 && upper !== Number.POSITIVE_INFINITY ? 0 : Number.NEGATIVE_INFINITY;
  return { lower: index === 0 ? first : (bounds[index - 1] ?? Number.POSITIVE_INFINITY), upper, count };
}

/** Adds up what stays of each bucket. */
class Cut {
  hasCut = false;
  count = 0;
  sum = 0;
  private readonly histogram: NativeHistogram;
  private readonly value: number;
  private readonly side: KeptSide;

  constructor(histogram: NativeHistogram, value: number, side: KeptSide) {
    this.histogram = histogram;
    this.value = value;
    this.side = side;
  }

  /** The count that stays. */
  kept(bucket: Bucket): number {
    const { value, side } = this;
    const { lower, upper, count } = bucket;
    if (side === "below" ? upper <= value : lower >= value) return this.take(count, this.middle(bucket, lower, upper));
    this.hasCut = true;
    const isInside = lower < value && value < upper;
    const open = side === "below" ? lower === Number.NEGATIVE_INFINITY : upper === Number.POSITIVE_INFINITY;
    const closed = side === "below" ? upper === Number.POSITIVE_INFINITY : lower === Number.NEGATIVE_INFINITY;
    if (!isInside || closed) return 0;
    if (open) return this.take(count, value);
    const below = partBelow(bucket, value, isLinear(bucket, this.histogram));
    if (side === "below") return this.take(count * below, this.middle(bucket, lower, value));
    return this.take(count * (1 - below), this.middle(bucket, value, upper));
  }

  private take(count: number, middle: number): number {
    this.count += count;
    this.sum += count * middle;
    return count;
  }

  /** Where the observations between two values of a bucket lie; of one without an end, at the other. */
  private middle(bucket: Bucket, lower: number, upper: number): number {
    if (lower === Number.NEGATIVE_INFINITY) return upper;
    if (upper === Number.POSITIVE_INFINITY) return lower;
    if (isLinear(bucket, this.histogram)) return (lower + upper) / 2;
    return Math.sign(upper) * Math.sqrt(lower * upper);
  }
}
