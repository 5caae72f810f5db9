/** Histograms made of observations, bucket by bucket: what arithmetic on histograms is compared with. */
import fc from "fast-check";
import type { NativeHistogram } from "../series-source.ts";
import { boundsOf, exponentialBound, isCustom, type Terms } from "./terms.ts";

function indexOf(size: number, schema: number): number {
  let index = Math.ceil(Math.log2(size) * 2 ** schema);
  while (exponentialBound(index - 1, schema) >= size) index--;
  while (exponentialBound(index, schema) < size) index++;
  return index;
}

function spansOf(indexes: readonly number[]): NativeHistogram["positiveSpans"] {
  const counts = new Map<number, number>();
  for (const index of indexes) counts.set(index, (counts.get(index) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => a - b).map(([index, count]) => ({ index, counts: Float64Array.of(count) }));
}

/** The histogram of observations. */
export function observed(
  observations: readonly number[],
  terms: Terms,
  resetHint: NativeHistogram["resetHint"] = "unknown",
): NativeHistogram {
  const { schema, zeroThreshold } = terms;
  const rest = { count: observations.length, sum: observations.reduce((sum, value) => sum + value, 0), resetHint };
  const { customValues } = terms;
  if (isCustom(terms)) {
    const bounds = boundsOf(terms);
    const places = observations.map((value) => bounds.findIndex((bound) => value <= bound)).map((at) => (at < 0 ? bounds.length : at));
    return { schema, zeroThreshold: 0, zeroCount: 0, customValues, positiveSpans: spansOf(places), negativeSpans: [], ...rest };
  }
  const outside = observations.filter((value) => Math.abs(value) > zeroThreshold);
  const side = (sign: number): NativeHistogram["positiveSpans"] =>
    spansOf(outside.filter((value) => Math.sign(value) === sign).map((value) => indexOf(Math.abs(value), schema)));
  const zeroCount = observations.length - outside.length;
  return { schema, zeroThreshold, zeroCount, customValues, positiveSpans: side(1), negativeSpans: side(-1), ...rest };
}

/** Observations near zero, of both signs and of many sizes. */
export const OBSERVATIONS: fc.Arbitrary<number[]> = fc.array(
  fc.oneof(
    fc.integer({ min: -40, max: 40 }),
    fc.double({ min: -3, max: 3, noNaN: true }).map((value) => value / 8),
    fc.constantFrom(0, 1e-9, -1e-9, 1e6),
  ),
  { maxLength: 40 },
);

/** Terms of exponential histograms, coarse and fine. */
export const EXPONENTIAL: fc.Arbitrary<Terms> = fc.record({
  schema: fc.integer({ min: -4, max: 8 }),
  zeroThreshold: fc.constantFrom(0, 0.001, 0.2, 0.25, 1),
  customValues: fc.constant(undefined),
});

/** Terms of histograms with their own bounds. */
export const CUSTOM: fc.Arbitrary<Terms> = fc
  .uniqueArray(fc.integer({ min: -10, max: 20 }), { maxLength: 8 })
  .map((bounds) => ({ schema: -53, zeroThreshold: 0, customValues: Float64Array.from(bounds.toSorted((a, b) => a - b)) }));
