import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AGGREGATIONS, finished, newAccumulator } from "./accumulators.ts";

const STEPS = 3;
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b / values.length, 0);
const numbers = (values: readonly number[]): number[] => values.filter((value) => !Number.isNaN(value));
const variance = (values: readonly number[]): number => mean(values.map((value) => (value - mean(values)) ** 2));

/** Of the values of a step, there is at least one. */
const PLAIN: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  avg: mean,
  count: (values) => values.length,
  group: () => 1,
  min: (values) => (numbers(values).length === 0 ? Number.NaN : Math.min(...numbers(values))),
  max: (values) => (numbers(values).length === 0 ? Number.NaN : Math.max(...numbers(values))),
  stddev: (values) => Math.sqrt(variance(values)),
  stdvar: variance,
};

const { NaN: NONE, POSITIVE_INFINITY: INFINITE } = Number;
const VALUE = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: -100, max: 100, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(NONE, INFINITE, -INFINITE, 0, -0) },
);
/** A value a step; undefined: none. Half of the series have all. */
const SERIES = fc.oneof(
  fc.array(VALUE, { minLength: STEPS, maxLength: STEPS }),
  fc.array(fc.option(VALUE, { nil: undefined }), { minLength: STEPS, maxLength: STEPS }),
);

function aggregated(name: string, all: readonly (readonly (number | undefined)[])[]): (number | undefined)[] {
  const aggregation = AGGREGATIONS.get(name);
  if (aggregation === undefined) throw new Error(`no aggregation ${name}`);
  const into = newAccumulator(STEPS);
  for (const series of all) {
    const values = Float64Array.from(series, (value) => value ?? 0);
    aggregation.add(into, { values, present: Uint8Array.from(series, (value) => (value === undefined ? 0 : 1)), histograms: undefined });
  }
  const { values, present } = finished(into, aggregation);
  return Array.from(values, (value, step) => (present[step] === 1 ? value : undefined));
}

describe("groups fold what their steps' values give at once", () => {
  for (const [name, plain] of Object.entries(PLAIN)) {
    test(name, () => {
      fc.assert(
        fc.property(fc.array(SERIES, { maxLength: 12 }), (all) => {
          for (const [step, got] of aggregated(name, all).entries()) {
            const values = all.map((series) => series[step]).filter((value) => value !== undefined);
            const want = values.length === 0 ? undefined : plain(values);
            if (want === undefined || !Number.isFinite(want)) expect(got).toBe(want);
            else expect(Math.abs((got ?? Number.NaN) - want)).toBeLessThan(1e-9);
          }
        }),
        { seed: 5, numRuns: 300 },
      );
    });
  }
});

test("the mean of the largest numbers is finite, and that of other steps as it was", () => {
  const { MAX_VALUE } = Number;
  const all = [
    [MAX_VALUE, 1, undefined],
    [MAX_VALUE, 2, 3],
    [MAX_VALUE, 6, 4],
  ];
  expect(aggregated("avg", all)).toEqual([MAX_VALUE, 3, 3.5]);
});

test("sums keep what a large value hides", () => {
  expect(
    aggregated("sum", [
      [1, 1, 1],
      [1e100, 1e100, undefined],
      [1, 1, 1],
      [-1e100, -1e100, undefined],
    ]),
  ).toEqual([2, 2, 2]);
});
