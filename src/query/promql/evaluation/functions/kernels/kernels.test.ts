import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { windowsOf } from "../../kernels/windows.ts";
import * as overTime from "./over-time.ts";
import type { RangeKernel } from "./range-input.ts";
import { MAD_OVER_TIME, QUANTILE_OVER_TIME, quantileOf } from "./ranked.ts";
import { CHANGES, DELTA, IDELTA, INCREASE, IRATE, RATE, RESETS } from "./rate.ts";

interface Sample {
  readonly time: number;
  readonly value: number;
}
/** What a window's samples give, computed anew; undefined: nothing. */
type Plain = (samples: readonly Sample[], end: number) => number | undefined;

const RANGE = 60_000;
const QUANTILE = 0.3;
const AHEAD = 90;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const ordered = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const quantile = (phi: number, values: readonly number[]): number => quantileOf(phi, values.length, (at) => ordered(values)[at]!);
const steps = (samples: readonly Sample[]): [number, number][] => samples.slice(1).map(({ value }, at) => [samples[at]!.value, value]);

function ofValues(compute: (values: readonly number[]) => number): Plain {
  return (samples) => (samples.length === 0 ? undefined : compute(samples.map(({ value }) => value)));
}

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return mean(values.map((value) => (value - middle) ** 2));
}

function line(samples: readonly Sample[]): { slope: number; at: (millis: number) => number } | undefined {
  if (samples.length < 2) return undefined;
  const x = mean(samples.map(({ time }) => time / 1000));
  const y = mean(samples.map(({ value }) => value));
  const slope =
    sum(samples.map(({ time, value }) => (time / 1000 - x) * (value - y))) / sum(samples.map(({ time }) => (time / 1000 - x) ** 2));
  return { slope, at: (millis) => y + slope * (millis / 1000 - x) };
}

function extrapolated(isCounter: boolean, isRate: boolean): Plain {
  return (samples, end) => {
    const [first, last] = [samples[0], samples.at(-1)];
    if (samples.length < 2 || first === undefined || last === undefined) return undefined;
    const fallen = isCounter ? sum(steps(samples).map(([before, value]) => (value < before ? before : 0))) : 0;
    const change = last.value - first.value + fallen;
    const covered = (last.time - first.time) / 1000;
    const between = covered / (samples.length - 1);
    const near = (distance: number): number => (distance >= between * 1.1 ? between / 2 : distance);
    let before = near((first.time - end + RANGE) / 1000);
    if (isCounter && change > 0 && first.value >= 0) before = Math.min(before, (covered * first.value) / change);
    const rangeed = (change * (covered + before + near((end - last.time) / 1000))) / covered;
    return isRate ? rangeed / (RANGE / 1000) : rangeed;
  };
}

const CASES: readonly (readonly [name: string, kernel: RangeKernel, plain: Plain, parameters: readonly number[]])[] = [
  ["sum_over_time", overTime.SUM_OVER_TIME, ofValues(sum), []],
  ["avg_over_time", overTime.AVG_OVER_TIME, ofValues(mean), []],
  ["min_over_time", overTime.MIN_OVER_TIME, ofValues((values) => Math.min(...values)), []],
  ["max_over_time", overTime.MAX_OVER_TIME, ofValues((values) => Math.max(...values)), []],
  ["count_over_time", overTime.COUNT_OVER_TIME, ofValues((values) => values.length), []],
  ["stdvar_over_time", overTime.STDVAR_OVER_TIME, ofValues(variance), []],
  ["stddev_over_time", overTime.STDDEV_OVER_TIME, ofValues((values) => Math.sqrt(variance(values))), []],
  ["first_over_time", overTime.FIRST_OVER_TIME, ofValues((values) => values[0]!), []],
  ["last_over_time", overTime.LAST_OVER_TIME, ofValues((values) => values.at(-1)!), []],
  ["ts_of_max_over_time", overTime.TS_OF_MAX, (samples) => timeOf(samples, Math.max), []],
  ["ts_of_min_over_time", overTime.TS_OF_MIN, (samples) => timeOf(samples, Math.min), []],
  ["quantile_over_time", QUANTILE_OVER_TIME, ofValues((values) => quantile(QUANTILE, values)), [QUANTILE]],
  [
    "mad_over_time",
    MAD_OVER_TIME,
    ofValues((values) => {
      const median = quantile(0.5, values);
      return quantile(
        0.5,
        values.map((value) => Math.abs(value - median)),
      );
    }),
    [],
  ],
  ["deriv", overTime.DERIV, (samples) => line(samples)?.slope, []],
  ["predict_linear", overTime.PREDICT_LINEAR, (samples, end) => line(samples)?.at(end + AHEAD * 1000), [AHEAD]],
  ["rate", RATE, extrapolated(true, true), []],
  ["increase", INCREASE, extrapolated(true, false), []],
  ["delta", DELTA, extrapolated(false, false), []],
  ["resets", RESETS, (samples) => count(samples, (before, value) => value < before), []],
  ["changes", CHANGES, (samples) => count(samples, (before, value) => value !== before), []],
  ["idelta", IDELTA, (samples) => (samples.length < 2 ? undefined : samples.at(-1)!.value - samples.at(-2)!.value), []],
  [
    "irate",
    IRATE,
    (samples) => {
      const [before, last] = [samples.at(-2), samples.at(-1)];
      if (before === undefined || last === undefined) return undefined;
      return (last.value < before.value ? last.value : last.value - before.value) / ((last.time - before.time) / 1000);
    },
    [],
  ],
];

function timeOf(samples: readonly Sample[], extreme: (...values: number[]) => number): number | undefined {
  const best = extreme(...samples.map(({ value }) => value));
  const last = samples.findLast(({ value }) => value === best);
  return last === undefined ? undefined : last.time / 1000;
}

function count(samples: readonly Sample[], isSo: (before: number, value: number) => boolean): number | undefined {
  return samples.length === 0 ? undefined : steps(samples).filter(([before, value]) => isSo(before, value)).length;
}

const SAMPLES = fc.array(fc.record({ gap: fc.integer({ min: 1, max: 30_000 }), value: fc.integer({ min: -8, max: 40 }) }), {
  maxLength: 120,
});

describe("windows that slide give what each window gives anew", () => {
  for (const [name, kernel, plain, parameters] of CASES) {
    test(name, () => {
      fc.assert(
        fc.property(SAMPLES, fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 60 }), (gaps, stepMillis, stepCount) => {
          let time = 0;
          const samples = gaps.map(({ gap, value }) => ({ time: (time += gap), value }));
          const moments = { startMillis: 5000, stepMillis, count: stepCount };
          const times = Float64Array.from(samples, (one) => one.time);
          const values = Float64Array.from(samples, (one) => one.value);
          const windows = windowsOf(times, samples.length, moments, RANGE);
          const out = new Float64Array(stepCount);
          const present = new Uint8Array(stepCount);
          const given = parameters.map((value) => new Float64Array(stepCount).fill(value));
          const input = {
            times,
            values,
            count: samples.length,
            windows,
            moments,
            rangeMillis: RANGE,
            evaluation: moments,
            parameters: given,
          };
          kernel(input, out, present);
          for (let step = 0; step < stepCount; step++) {
            const end = moments.startMillis + step * stepMillis;
            const want = plain(
              samples.filter((one) => one.time > end - RANGE && one.time <= end),
              end,
            );
            expect(present[step]).toBe(want === undefined ? 0 : 1);
            if (want !== undefined) expect(Math.abs(out[step]! - want)).toBeLessThan(1e-7 * Math.max(1, Math.abs(want)));
          }
        }),
        { seed: 7, numRuns: 150 },
      );
    });
  }
});

test("infinities and NaN leave a window as they came", () => {
  const times = Float64Array.of(1000, 2000, 3000, 4000, 5000);
  const values = Float64Array.of(1, Number.POSITIVE_INFINITY, Number.NaN, 2, 3);
  const moments = { startMillis: 1000, stepMillis: 1000, count: 5 };
  const windows = windowsOf(times, 5, moments, 2000);
  const out = new Float64Array(5);
  const input = { times, values, count: 5, windows, moments, rangeMillis: 2000, evaluation: moments, parameters: [] };
  overTime.SUM_OVER_TIME(input, out, new Uint8Array(5));
  expect([...out]).toEqual([1, Number.POSITIVE_INFINITY, Number.NaN, Number.NaN, 5]);
});

test("the mean of the largest numbers is finite", () => {
  const moments = { startMillis: 2000, stepMillis: 1000, count: 1 };
  const times = Float64Array.of(1000, 2000);
  const windows = windowsOf(times, 2, moments, 5000);
  const out = new Float64Array(1);
  const values = new Float64Array(2).fill(Number.MAX_VALUE);
  const input = { times, values, count: 2, windows, moments, rangeMillis: 5000, evaluation: moments, parameters: [] };
  overTime.AVG_OVER_TIME(input, out, new Uint8Array(1));
  expect(out[0]).toBe(Number.MAX_VALUE);
});
