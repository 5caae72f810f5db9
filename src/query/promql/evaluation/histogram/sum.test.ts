import { expect, test } from "bun:test";
import fc from "fast-check";
import type { NativeHistogram } from "../series-source.ts";
import { isEqual } from "./equality.ts";
import { CUSTOM, EXPONENTIAL, OBSERVATIONS, observed } from "./observed.fixture.ts";
import { HistogramSum } from "./sum.ts";
import type { Terms } from "./terms.ts";

const RUNS = { seed: 12, numRuns: 200 };
const PLAIN: Terms = { schema: 0, zeroThreshold: 0, customValues: undefined };

function sumOf(histograms: readonly NativeHistogram[], isMean = false): HistogramSum {
  const sum = new HistogramSum(isMean);
  for (const histogram of histograms) sum.add(histogram);
  return sum;
}

/** One bucket, its count, and a sum. */
function single(count: number, sum: number): NativeHistogram {
  return { ...observed([], PLAIN), count, sum, positiveSpans: [{ index: 1, counts: Float64Array.of(count) }] };
}

test("a sum is the histogram of all observations, however it was merged", () => {
  const parts = fc.array(fc.tuple(EXPONENTIAL, OBSERVATIONS), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(parts, fc.nat(8), (given, at) => {
      const histograms = given.map(([terms, observations]) => observed(observations, terms));
      const [left, right] = [sumOf(histograms.slice(0, at)), sumOf(histograms.slice(at))];
      const merged = left.clone();
      merged.merge(right);
      const [whole, result] = [sumOf(histograms).result(), merged.result()];
      if (whole === undefined || result === undefined) throw new Error("no sum");
      expect(merged.size).toBe(given.length);
      // What is wider than zero in one order is in the other.
      expect(isEqual({ ...whole, sum: 0 }, { ...result, sum: 0 })).toBe(true);
      const all = given.flatMap(([, observations]) => observations);
      expect(isEqual({ ...whole, sum: 0 }, { ...observed(all, whole), sum: 0 })).toBe(true);
      expect(result.sum).toBeCloseTo(
        all.reduce((sum, value) => sum + value, 0),
        6,
      );
      // A clone is of its own.
      expect(left.size).toBe(Math.min(at, given.length));
    }),
    RUNS,
  );
});

test("custom bounds that differ are told, and those that all have are left", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(CUSTOM, OBSERVATIONS), { minLength: 1, maxLength: 5 }), (given) => {
      const sum = sumOf(given.map(([terms, observations]) => observed(observations, terms)));
      const lists = given.map(([{ customValues }]) => [...(customValues ?? [])]);
      const shared = (lists[0] ?? []).filter((bound) => lists.every((list) => list.includes(bound)));
      expect([...(sum.result()?.customValues ?? [])]).toEqual(shared);
      expect(sum.wereBoundsReconciled).toBe(lists.some((list) => list.join(" ") !== lists[0]?.join(" ")));
    }),
    RUNS,
  );
});

test("what large numbers take from small ones comes back when they cancel", () => {
  const sizes = [5.3, 1e100, 1, 1e50, 2, -1e100, -1e50];
  for (let cut = 0; cut <= sizes.length; cut++) {
    const left = sumOf(sizes.slice(0, cut).map((sum) => single(1, sum)));
    left.merge(sumOf(sizes.slice(cut).map((sum) => single(1, sum))));
    expect(left.result()?.sum).toBeCloseTo(8.3, 9);
  }
});

test("a mean is finite where the sum is not", () => {
  const large = [single(1e308, 1), single(1.5e308, 2), single(1.7e308, 3)];
  expect(sumOf(large).result()?.count).toBe(Number.POSITIVE_INFINITY);
  for (let cut = 0; cut <= large.length; cut++) {
    const mean = sumOf(large.slice(0, cut), true);
    mean.merge(sumOf(large.slice(cut), true));
    expect((mean.result()?.count ?? 0) / 1.4e308).toBeCloseTo(1, 12);
    expect(mean.result()?.sum).toBe(2);
  }
  expect(sumOf([single(Number.POSITIVE_INFINITY, 1), single(1, 1)], true).result()?.count).toBe(Number.POSITIVE_INFINITY);
});

test("of custom and exponential histograms together there is no sum", () => {
  const custom = observed([1], { schema: -53, zeroThreshold: 0, customValues: Float64Array.of(1) });
  const sum = sumOf([single(1, 1), custom]);
  expect([sum.isMixed, sum.result()]).toEqual([true, undefined]);
});
