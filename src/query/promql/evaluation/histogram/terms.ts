/**
 * What two histograms must share before their buckets can be added or compared: resolution, zero bucket, bounds.
 *
 *   schema           the coarser one: neighbouring buckets are merged
 *   zero threshold   the smallest that covers both zero buckets and ends within no populated bucket of either: what lies below goes in
 *   custom bounds    those that both have: the counts between go up to the next one
 */
import type { NativeHistogram } from "../series-source.ts";
import { allBuckets, from, moved, populated, type Spans } from "./kernels/spans.ts";

/** Schema of histograms that name their bounds. */
export const CUSTOM_SCHEMA = -53;
const NO_BOUNDS: Float64Array = new Float64Array(0);

/** A histogram, its hint or not. */
type Shape = Omit<NativeHistogram, "resetHint">;

/** See the file header. */
export interface Terms {
  readonly schema: number;
  readonly zeroThreshold: number;
  /** Undefined unless the schema is `CUSTOM_SCHEMA`. */
  readonly customValues: Float64Array | undefined;
}

/** Whether a histogram names its bounds. */
export function isCustom({ schema }: Pick<Terms, "schema">): boolean {
  return schema === CUSTOM_SCHEMA;
}

/** The bounds of buckets that are custom. */
export function boundsOf({ customValues }: Pick<Terms, "customValues">): Float64Array {
  return customValues ?? NO_BOUNDS;
}

/** Whether two lists of bounds are the same. */
export function haveSameBounds(a: Pick<Terms, "customValues">, b: Pick<Terms, "customValues">): boolean {
  const [left, right] = [boundsOf(a), boundsOf(b)];
  return left === right || (left.length === right.length && left.every((bound, i) => bound === right[i]));
}

/** Power of two that no double holds. */
const POWER_END = 1024;

/** Upper bound of an exponential bucket, as a size. That of the last finite one is the largest number; infinities have the one above. */
export function exponentialBound(index: number, schema: number): number {
  const power = index * 2 ** -schema;
  return power === POWER_END ? Number.MAX_VALUE : 2 ** power;
}

/** What both can be brought to; undefined: one has custom bounds, the other has not. */
export function commonTerms(a: Shape, b: Shape): Terms | undefined {
  if (isCustom(a) !== isCustom(b)) return undefined;
  if (isCustom(a)) {
    const customValues = haveSameBounds(a, b) ? a.customValues : sharedBounds(boundsOf(a), boundsOf(b));
    return { schema: CUSTOM_SCHEMA, zeroThreshold: 0, customValues };
  }
  return { schema: Math.min(a.schema, b.schema), zeroThreshold: sharedThreshold(a, b), customValues: undefined };
}

function sharedBounds(a: Float64Array, b: Float64Array): Float64Array {
  const other = new Set(b);
  return a.filter((bound) => other.has(bound));
}

function sharedThreshold(a: Shape, b: Shape): number {
  let threshold = Math.max(a.zeroThreshold, b.zeroThreshold);
  if (a.zeroThreshold === b.zeroThreshold) return threshold;
  for (;;) {
    const wider = widenedThreshold(b, widenedThreshold(a, threshold));
    if (wider === threshold) return threshold;
    threshold = wider;
  }
}

/** The end of the populated bucket that a threshold falls into, else the threshold itself. */
export function widenedThreshold(histogram: Shape, threshold: number): number {
  const { schema, zeroThreshold, positiveSpans, negativeSpans } = histogram;
  if (threshold <= zeroThreshold) return threshold;
  let wider = threshold;
  for (const spans of [positiveSpans, negativeSpans]) {
    for (const [index] of populated(spans)) {
      if (exponentialBound(index - 1, schema) >= wider) break;
      wider = Math.max(wider, exponentialBound(index, schema));
    }
  }
  return wider;
}

/** A histogram in terms that it can be brought to; itself where it has them. */
export function inTerms<Any extends Shape>(histogram: Any, terms: Terms): Any {
  const { schema, zeroThreshold, customValues } = terms;
  if (isCustom(terms)) {
    if (haveSameBounds(histogram, terms)) return histogram;
    return { ...histogram, customValues, positiveSpans: toBounds(histogram.positiveSpans, boundsOf(histogram), boundsOf(terms)) };
  }
  let result = histogram;
  if (zeroThreshold > result.zeroThreshold) result = withinZero(result, zeroThreshold);
  return schema < result.schema ? coarser(result, schema) : result;
}

/** Counts of each bucket below the threshold go to the zero bucket. */
function withinZero<Any extends Shape>(histogram: Any, zeroThreshold: number): Any {
  const { schema, positiveSpans, negativeSpans } = histogram;
  let { zeroCount } = histogram;
  // Empty buckets go, too, so that both parts of a sum keep the same ones.
  const rest = (spans: Spans): Spans => {
    let first = Number.NEGATIVE_INFINITY;
    for (const [index, count] of allBuckets(spans)) {
      if (exponentialBound(index - 1, schema) >= zeroThreshold) break;
      zeroCount += count;
      first = index + 1;
    }
    return from(spans, first);
  };
  const [positive, negative] = [rest(positiveSpans), rest(negativeSpans)];
  return { ...histogram, zeroThreshold, zeroCount, positiveSpans: positive, negativeSpans: negative };
}

/** With neighbouring buckets merged. @param schema below the histogram's own */
function coarser<Any extends Shape>(histogram: Any, schema: number): Any {
  const shift = histogram.schema - schema;
  const target = (index: number): number => ((index - 1) >> shift) + 1;
  return {
    ...histogram,
    schema,
    positiveSpans: moved(histogram.positiveSpans, target),
    negativeSpans: moved(histogram.negativeSpans, target),
  };
}

/** @param to bounds that are all among `bounds` */
function toBounds(spans: Spans, bounds: Float64Array, to: Float64Array): Spans {
  let at = 0;
  return moved(spans, (index) => {
    const upper = bounds[index] ?? Number.POSITIVE_INFINITY;
    while (at < to.length && (to[at] as number) < upper) at++;
    return at;
  });
}
