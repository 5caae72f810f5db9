import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MORE, PIECE, wholly } from "../../kernels/pieces.ts";
import { Scratch } from "../../kernels/scratch.ts";
import { WindowFinder } from "../../kernels/window-finder.ts";
import { RANGE_FUNCTIONS } from "../range-functions.ts";
import { PLAIN_FUNCTIONS, PARAMETERS, type Sample } from "./plain-windows.fixture.ts";
import type { RangeInput, RangeKernel } from "./range-input.ts";

const FREE: Scratch = new Scratch({ reserve: () => undefined, release: () => undefined });

interface Windows {
  readonly samples: readonly Sample[];
  readonly startMillis: number;
  readonly stepMillis: number;
  readonly steps: number;
  readonly rangeMillis: number;
}

function inputOf({ samples, startMillis, stepMillis, steps, rangeMillis }: Windows, parameters: readonly number[]): RangeInput {
  const moments = { startMillis, stepMillis, count: steps };
  const times = Float64Array.from(samples, ({ time }) => time);
  const values = Float64Array.from(samples, ({ value }) => value);
  const finder = new WindowFinder(moments, rangeMillis, FREE);
  const { windows } = finder;
  const work = finder.find(times, samples.length);
  if (work !== undefined) wholly(work);
  const given = parameters.map((value) => new Float64Array(steps).fill(value));
  return { times, values, count: samples.length, windows, moments, rangeMillis, evaluation: moments, parameters: given, scratch: FREE };
}

/** What a kernel gives is what each window gives anew. @param scale the largest number of a window */
function check(name: string, kernel: RangeKernel, windows: Windows): void {
  const { samples, startMillis, stepMillis, steps, rangeMillis } = windows;
  const out = new Float64Array(steps);
  const present = new Uint8Array(steps);
  wholly(kernel(inputOf(windows, PARAMETERS.get(name) ?? []), out, present));
  const plain = PLAIN_FUNCTIONS.get(name);
  if (plain === undefined) throw new Error(`no reference of ${name}`);
  for (let step = 0; step < steps; step++) {
    const end = startMillis + step * stepMillis;
    const within = samples.filter((one) => one.time > end - rangeMillis && one.time <= end);
    const want = plain(within, end, rangeMillis);
    expect(present[step]).toBe(want === undefined ? 0 : 1);
    if (want === undefined) continue;
    const got = out[step] ?? Number.NaN;
    if (!Number.isFinite(want)) expect(got).toBe(want);
    else {
      const largest = within.reduce((most, { value }) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 1);
      expect(Math.abs(got - want)).toBeLessThanOrEqual(1e-9 * Math.max(largest, Math.abs(want)));
    }
  }
}

const ORDINARY = fc.oneof(fc.integer({ min: -8, max: 40 }), fc.double({ min: -1000, max: 1000, noNaN: true }));
const SPECIAL = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, 1e60, -1e60);
const GAP = fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 30_000 }) }, { weight: 1, arbitrary: fc.constant(400_000) });

function windowsArbitrary(value: fc.Arbitrary<number>, samplesMax: number): fc.Arbitrary<Windows> {
  return fc
    .record({
      gaps: fc.array(fc.record({ gap: GAP, value }), { maxLength: samplesMax, size: "max" }),
      startMillis: fc.integer({ min: 1, max: 900_000 }),
      stepMillis: fc.integer({ min: 1, max: 100_000 }),
      steps: fc.integer({ min: 1, max: 60 }),
      rangeMillis: fc.oneof(fc.integer({ min: 1000, max: 300_000 }), fc.constant(30_000_000)),
    })
    .map(({ gaps, ...rest }) => {
      let time = 0;
      return { ...rest, samples: gaps.map(({ gap, value: one }) => ({ time: (time += gap), value: one })) };
    });
}

describe("windows that slide give what each window gives anew", () => {
  for (const [name, { kernel }] of RANGE_FUNCTIONS) {
    test(name, () => {
      const ordinary = windowsArbitrary(ORDINARY, 120);
      const special = windowsArbitrary(fc.oneof({ weight: 8, arbitrary: ORDINARY }, { weight: 1, arbitrary: SPECIAL }), 80);
      fc.assert(
        fc.property(ordinary, (windows) => check(name, kernel, windows)),
        { seed: 7, numRuns: 60 },
      );
      fc.assert(
        fc.property(special, (windows) => check(name, kernel, windows)),
        { seed: 8, numRuns: 120 },
      );
    });
  }
});

describe("long windows are folded in pieces", () => {
  const samples = Array.from({ length: 3 * PIECE }, (_, at) => ({ time: at * 10, value: (Math.imul(at, 0x9e3779b1) >>> 0) % 1009 }));
  const windows = { samples, startMillis: PIECE * 20 + 5, stepMillis: 90_000, steps: 8, rangeMillis: PIECE * 15 };
  for (const [name, { kernel }] of RANGE_FUNCTIONS) test(name, () => check(name, kernel, windows));
});

describe("no piece is longer than others are willing to wait", () => {
  const count = 10 * PIECE;
  const samples = Array.from({ length: count }, (_, at) => ({ time: at * 10, value: at % 1000 }));
  const manySteps = { samples, startMillis: 0, stepMillis: 10, steps: count, rangeMillis: 1000 };
  const oneStep = { samples, startMillis: count * 10, stepMillis: 1, steps: 1, rangeMillis: count * 20 };
  const yieldsOf = (kernel: RangeKernel, windows: Windows, parameters: readonly number[]): number => {
    const steps = kernel(inputOf(windows, parameters), new Float64Array(windows.steps), new Uint8Array(windows.steps));
    let yields = 0;
    while (steps(PIECE) === MORE) yields++;
    return yields;
  };
  for (const [name, { kernel }] of RANGE_FUNCTIONS) {
    test(name, () => {
      const parameters = PARAMETERS.get(name) ?? [];
      expect(yieldsOf(kernel, manySteps, parameters)).toBeGreaterThanOrEqual(9);
      // One window of all samples: those functions that look at all of them.
      const looksAtEnds = /^(?:count|present|first|last|ts_of_first|ts_of_last)_?.*over_time$|^(?:idelta|irate|delta)$/.test(name);
      if (!looksAtEnds) expect(yieldsOf(kernel, oneStep, parameters)).toBeGreaterThanOrEqual(9);
    });
  }
});

function resultsOf(name: string, values: readonly number[], rangeMillis: number): number[] {
  const samples = values.map((value, at) => ({ time: 1000 * (at + 1), value }));
  const windows = { samples, startMillis: 1000, stepMillis: 1000, steps: values.length, rangeMillis };
  const out = new Float64Array(values.length);
  const kernel = RANGE_FUNCTIONS.get(name)?.kernel;
  if (kernel === undefined) throw new Error(`no function ${name}`);
  wholly(kernel(inputOf(windows, PARAMETERS.get(name) ?? []), out, new Uint8Array(values.length)));
  return [...out];
}

test("infinities and NaN leave a window as they came", () => {
  const values = [1, Number.POSITIVE_INFINITY, Number.NaN, 2, 3];
  expect(resultsOf("sum_over_time", values, 2000)).toEqual([1, Number.POSITIVE_INFINITY, Number.NaN, Number.NaN, 5]);
});

test("sums keep what a large value hides", () => {
  expect(resultsOf("sum_over_time", [1, 1e100, 1, -1e100], 4000).at(-1)).toBe(2);
});

test("the mean of the largest numbers is finite", () => {
  const { MAX_VALUE } = Number;
  expect(resultsOf("avg_over_time", [MAX_VALUE, MAX_VALUE, 1, 2], 2000)).toEqual([MAX_VALUE, MAX_VALUE, MAX_VALUE / 2, 1.5]);
});

test("factors that change from step to step are each step's own", () => {
  const kernel = RANGE_FUNCTIONS.get("double_exponential_smoothing")?.kernel;
  const samples = [3, 1, 4, 1, 5].map((value, at) => ({ time: 1000 * (at + 1), value }));
  const input = inputOf({ samples, startMillis: 4000, stepMillis: 1000, steps: 2, rangeMillis: 4000 }, [0, 0]);
  input.parameters[0]?.set([0.5, 0.25]);
  input.parameters[1]?.set([0.5, 0.75]);
  const out = new Float64Array(2);
  if (kernel !== undefined) wholly(kernel(input, out, new Uint8Array(2)));
  // By hand: levels of 3 1 4 1, and of 1 4 1 5.
  expect([...out]).toEqual([0.875, 6.78125]);
});

test("windows of nothing but NaN, longer than a stack is deep, have a quantile that is NaN", () => {
  const samples = Array.from({ length: 3 * PIECE }, (_, at) => ({ time: at, value: Number.NaN }));
  const windows = { samples, startMillis: 100, stepMillis: PIECE, steps: 3, rangeMillis: 100 };
  for (const name of ["quantile_over_time", "mad_over_time"]) {
    const kernel = RANGE_FUNCTIONS.get(name)?.kernel;
    if (kernel !== undefined) check(name, kernel, windows);
  }
});
