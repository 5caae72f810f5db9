import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { quantileOf } from "../../functions/kernels/ranked.ts";
import { emptySteps } from "../../kernels/steps.ts";
import { Chosen, type Wanted } from "./chosen.ts";
import { Listed } from "./listed.ts";

const STEPS = 3;
const VALUE = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -5, max: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY) },
);
const ROWS = fc.array(fc.array(fc.option(VALUE, { nil: undefined }), { minLength: STEPS, maxLength: STEPS }), { maxLength: 80 });
type Rows = readonly (readonly (number | undefined)[])[];

const free = (): void => undefined;

function stepsOf(row: readonly (number | undefined)[]): { values: Float64Array; present: Uint8Array; histograms: undefined } {
  const values = Float64Array.from(row, (value) => value ?? 0);
  return { values, present: Uint8Array.from(row, (value) => (value === undefined ? 0 : 1)), histograms: undefined };
}

/** Rows whose value a step keeps: those that nothing beats come first, and what came first of equal ones. */
function plainly(rows: Rows, step: number, most: number, wanted: Wanted): number[] {
  const sign = wanted === "largest" ? -1 : 1;
  const size = (value: number): number => (Number.isNaN(value) ? Number.POSITIVE_INFINITY : sign * value);
  const isNone = (value: number): number => (Number.isNaN(value) ? 1 : 0);
  const there = rows.flatMap((row, at) => (row[step] === undefined ? [] : [{ at, value: row[step] }]));
  if (wanted !== "first")
    there.sort((a, b) => isNone(a.value) - isNone(b.value) || (size(a.value) === size(b.value) ? 0 : size(a.value) - size(b.value)));
  return there.slice(0, most).map(({ value }) => value);
}

describe("each step keeps what a sort of all its values puts first", () => {
  for (const wanted of ["largest", "smallest", "first"] as const) {
    test(wanted, () => {
      fc.assert(
        fc.property(ROWS, fc.array(fc.integer({ min: 0, max: 9 }), { minLength: STEPS, maxLength: STEPS }), (rows, sizes) => {
          const chosen = new Chosen(STEPS, wanted, free);
          const most = Float64Array.from(sizes);
          for (const [at, row] of rows.entries()) {
            const series = { labels: [["row", String(at)]] as const, dropsName: false, ...stepsOf(row) };
            const number = chosen.add(series, most, 0, 2, -1);
            chosen.add(series, most, 2, STEPS, number);
          }
          const got = sizes.map((): number[] => []);
          chosen.each(0, STEPS, (number, step, value) => {
            got[step]?.push(value);
            // What is kept is the series that had the value.
            expect(rows[Number(chosen.kept[number]?.labels[0]?.[1])]?.[step]).toBe(value);
          });
          const inOrder = (values: readonly number[]): number[] =>
            [...values].sort((a, b) => Number(a > b || Number.isNaN(a)) - Number(b > a || Number.isNaN(b)));
          for (const [step, size] of sizes.entries()) expect(inOrder(got[step] ?? [])).toEqual(inOrder(plainly(rows, step, size, wanted)));
          expect(chosen.kept.filter((one) => one !== undefined).length).toBeLessThanOrEqual(sizes.reduce((a, b) => a + b, 0));
        }),
        { seed: 11, numRuns: 300 },
      );
    });
  }
});

test("a quantile of a group is that of its values in order", () => {
  fc.assert(
    fc.property(ROWS, fc.double({ min: 0, max: 1, noNaN: true }), (rows, quantile) => {
      const listed = new Listed(STEPS, free);
      for (const row of rows) listed.add(stepsOf(row));
      const out = emptySteps(STEPS);
      const ofStep = (values: { readonly count: number; at(place: number): number }): number =>
        quantileOf(quantile, values.count, (place) => values.at(place));
      listed.results(out, 0, STEPS, ofStep);
      for (let step = 0; step < STEPS; step++) {
        const values = rows.flatMap((row) => row[step] ?? []);
        const ordered = [...values.filter(Number.isNaN), ...values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b)];
        expect(out.present[step]).toBe(values.length === 0 ? 0 : 1);
        if (values.length > 0) expect(out.values[step]).toBe(quantileOf(quantile, values.length, (place) => ordered[place] ?? 0));
      }
    }),
    { seed: 12, numRuns: 300 },
  );
});

test("a group counts what it holds", () => {
  let bytes = 0;
  const listed = new Listed(1, (more) => void (bytes += more));
  for (let at = 0; at < 200_000; at++) listed.add(stepsOf([at]));
  expect(bytes).toBeGreaterThanOrEqual(200_000 * 17);
  expect(bytes).toBeLessThan(2 * 200_000 * 17);
});
