import { expect, test } from "bun:test";
import fc from "fast-check";
import type { NativeHistogram } from "../series-source.ts";
import { divided, minus, plus, scaled } from "./arithmetic.ts";
import { bucketsOf } from "./kernels/buckets.ts";
import { isEqual } from "./equality.ts";
import { CUSTOM, EXPONENTIAL, OBSERVATIONS, observed } from "./observed.fixture.ts";
import { fractionOfHistogram, quantileOfHistogram } from "./quantile.ts";
import { isReset } from "./reset.ts";
import { exponentialBound, type Terms } from "./terms.ts";
import { histogramText } from "./text.ts";
import { trimmed } from "./trim.ts";
import { varianceOfHistogram } from "./variance.ts";

const RUNS = { seed: 11, numRuns: 300 };
const PAIRS: fc.Arbitrary<readonly [Terms, Terms]> = fc.oneof(fc.tuple(EXPONENTIAL, EXPONENTIAL), fc.tuple(CUSTOM, CUSTOM));

/** Where sums of floats differ in their last digits alone. */
function checkSame(got: NativeHistogram | undefined, wanted: NativeHistogram): void {
  expect(got).toBeDefined();
  if (got === undefined) return;
  expect(got.sum).toBeCloseTo(wanted.sum, 6);
  const same = isEqual({ ...got, sum: 0 }, { ...wanted, sum: 0 });
  if (!same) expect(histogramText(got)).toBe(histogramText(wanted));
  expect(same).toBe(true);
}

test("a sum is the histogram of all observations, in the terms of both", () => {
  fc.assert(
    fc.property(PAIRS, OBSERVATIONS, OBSERVATIONS, ([left, right], a, b) => {
      const sum = plus(observed(a, left), observed(b, right))?.histogram;
      if (sum === undefined) throw new Error("no sum");
      expect(sum.schema).toBe(Math.min(left.schema, right.schema));
      expect(sum.zeroThreshold).toBeGreaterThanOrEqual(Math.max(left.zeroThreshold, right.zeroThreshold));
      checkSame(sum, observed([...a, ...b], sum));
    }),
    RUNS,
  );
});

test("a difference takes away what a sum has added", () => {
  fc.assert(
    fc.property(EXPONENTIAL, OBSERVATIONS, OBSERVATIONS, (terms, a, b) => {
      const sum = plus(observed(a, terms), observed(b, terms))?.histogram;
      if (sum === undefined) throw new Error("no sum");
      checkSame(minus(sum, observed(b, terms))?.histogram, observed(a, terms));
    }),
    RUNS,
  );
});

test("a counter that goes on is not reset, whatever it is merged to; one that lost an observation is", () => {
  fc.assert(
    fc.property(EXPONENTIAL, fc.integer({ min: 0, max: 4 }), OBSERVATIONS, OBSERVATIONS, (terms, coarser, a, b) => {
      const before = observed(a, terms);
      const after = observed([...a, ...b], { ...terms, schema: Math.max(-4, terms.schema - coarser) });
      expect(isReset(after, before)).toBe(false);
      const [lost = 0, ...rest] = a;
      if (a.length > 0 && !b.includes(lost) && !rest.includes(lost)) {
        const others = [...rest, ...b, ...Array.from({ length: 3 }, () => 1e9)];
        const shares = bucketsOf(observed(others, terms), false).some(({ lower, upper }) => lower <= lost && lost <= upper);
        if (!shares) expect(isReset(observed(others, terms), before)).toBe(true);
      }
    }),
    RUNS,
  );
});

test("hints decide about resets before counts do", () => {
  const terms = { schema: 0, zeroThreshold: 0, customValues: undefined };
  const [less, more] = [observed([1], terms), observed([1, 2], terms)];
  expect(isReset(less, more)).toBe(true);
  expect(isReset({ ...less, resetHint: "not-reset" }, more)).toBe(false);
  expect(isReset({ ...more, resetHint: "reset" }, less)).toBe(true);
  expect(isReset({ ...less, resetHint: "gauge" }, more)).toBe(true);
});

test("finer buckets and a narrower zero bucket come with a reset", () => {
  const terms = { schema: 0, zeroThreshold: 0.5, customValues: undefined };
  const before = observed([3], terms);
  expect(isReset(observed([3, 4], { ...terms, schema: 1 }), before)).toBe(true);
  expect(isReset(observed([3, 4], { ...terms, zeroThreshold: 0.25 }), before)).toBe(true);
  expect(isReset(observed([3, 4], { ...terms, zeroThreshold: 1 }), before)).toBe(false);
  // It ends within a populated bucket.
  expect(isReset(observed([3, 4], { ...terms, zeroThreshold: 3 }), before)).toBe(true);
});

test("histograms with custom bounds and others do not go together", () => {
  const custom = observed([1], { schema: -53, zeroThreshold: 0, customValues: Float64Array.of(1, 2) });
  const exponential = observed([1], { schema: 0, zeroThreshold: 0, customValues: undefined });
  expect([plus(custom, exponential), minus(exponential, custom), isReset(custom, exponential)]).toEqual([undefined, undefined, true]);
});

test("the hint of a sum is that of both, unless they differ", () => {
  const one = observed([1], { schema: 0, zeroThreshold: 0, customValues: undefined });
  const hints = ["unknown", "reset", "not-reset", "gauge"] as const;
  const sums = hints.map((left) => hints.map((right) => plus({ ...one, resetHint: left }, { ...one, resetHint: right })));
  expect(sums.map((row) => row.map((sum) => sum?.histogram.resetHint))).toEqual([
    ["unknown", "unknown", "unknown", "gauge"],
    ["unknown", "reset", "unknown", "gauge"],
    ["unknown", "unknown", "not-reset", "gauge"],
    ["gauge", "gauge", "gauge", "gauge"],
  ]);
  expect(sums.flatMap((row) => row.map((sum) => sum?.doHintsCollide)).filter(Boolean)).toHaveLength(2);
});

test("what is negative is a gauge; by 0 nothing but the totals is left", () => {
  const one = observed([1, 3, -2, 0], { schema: 2, zeroThreshold: 0.1, customValues: undefined });
  expect(scaled(one, -1).resetHint).toBe("gauge");
  expect(isEqual(divided(scaled(one, 4), 4), one)).toBe(true);
  expect(divided(one, 0)).toMatchObject({ count: Number.POSITIVE_INFINITY, positiveSpans: [], negativeSpans: [] });
});

test("the part below a quantile is the quantile", () => {
  const parts = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  fc.assert(
    fc.property(fc.oneof(EXPONENTIAL, CUSTOM), OBSERVATIONS, parts, (terms, observations, part) => {
      const histogram = observed(observations, terms);
      if (observations.length === 0) return;
      const { value } = quantileOfHistogram(part, histogram);
      const bucket = bucketsOf(histogram, true).find(({ lower, upper }) => lower < value && value < upper);
      // At the ends of buckets, and beyond those of custom ones, several parts have one quantile.
      if (bucket === undefined || !Number.isFinite(bucket.lower) || !Number.isFinite(bucket.upper)) return;
      expect(fractionOfHistogram(Number.NEGATIVE_INFINITY, value, histogram)).toBeCloseTo(part, 6);
    }),
    RUNS,
  );
});

test("both sides of a cut are the whole", () => {
  fc.assert(
    fc.property(EXPONENTIAL, OBSERVATIONS, fc.double({ min: -50, max: 50, noNaN: true }), (terms, observations, value) => {
      const histogram = observed(observations, terms);
      const [below, above] = [trimmed(histogram, value, "below"), trimmed(histogram, value, "above")];
      expect(below.count + above.count).toBeCloseTo(histogram.count, 9);
      if (histogram.count === 0) return;
      expect(below.count / histogram.count).toBeCloseTo(fractionOfHistogram(Number.NEGATIVE_INFINITY, value, histogram), 6);
      expect(bucketsOf(below, false).every(({ lower }) => lower <= value)).toBe(true);
    }),
    RUNS,
  );
});

test("NaN observations are in no bucket", () => {
  const counted = observed([1, 2, 3], { schema: 0, zeroThreshold: 0, customValues: undefined });
  const histogram = { ...counted, count: 4, sum: Number.NaN };
  expect(quantileOfHistogram(0.5, histogram)).toEqual({ value: 2, nans: "skewed-higher" });
  expect(quantileOfHistogram(0.9, histogram)).toEqual({ value: Number.NaN, nans: "result-is-nan" });
  expect(fractionOfHistogram(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, histogram)).toBe(0.75);
});

test("bounds of buckets end at the largest number, and infinity has one behind", () => {
  expect([exponentialBound(1024, 0), exponentialBound(1025, 0)]).toEqual([Number.MAX_VALUE, Number.POSITIVE_INFINITY]);
  expect([exponentialBound(64, -4), exponentialBound(65, -4)]).toEqual([Number.MAX_VALUE, Number.POSITIVE_INFINITY]);
  expect([exponentialBound(0, 3), exponentialBound(-1, 0), exponentialBound(8, 3)]).toEqual([1, 0.5, 2]);
});

test("variance is that of the buckets' middles", () => {
  const bounds = { schema: -53, zeroThreshold: 0, customValues: Float64Array.of(0, 2, 4) };
  const histogram = { ...observed([1, 1, 3, 3], bounds), sum: 8 };
  expect(varianceOfHistogram(histogram)).toBe(1);
});

test("text shows buckets that are not empty, ends that belong to them by straight brackets", () => {
  const histogram = observed([-1.5, 0, 3, 1e7], { schema: 0, zeroThreshold: 0.5, customValues: undefined });
  expect(histogramText(histogram)).toBe("{count:4, sum:1.00000015e+07, [-2,-1):1, [-0.5,0.5]:1, (2,4]:1, (8.388608e+06,1.6777216e+07]:1}");
});
