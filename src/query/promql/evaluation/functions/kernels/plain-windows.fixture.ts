/** Functions of a range, each window computed anew: what kernels are compared with. */
import { quantileOf } from "./ranked.ts";
import { smoothedLevel } from "./smoothing.ts";

/** One sample; milliseconds. */
export interface Sample {
  readonly time: number;
  readonly value: number;
}

/** What a window's samples give; undefined: nothing. */
export type Plain = (samples: readonly Sample[], endMillis: number, rangeMillis: number) => number | undefined;

const AHEAD = 90;
const QUANTILE = 0.3;
const SMOOTHING = 0.3;
const TREND = 0.6;

/** Scalar arguments by function. */
export const PARAMETERS: ReadonlyMap<string, readonly number[]> = new Map([
  ["quantile_over_time", [QUANTILE]],
  ["predict_linear", [AHEAD]],
  ["double_exponential_smoothing", [SMOOTHING, TREND]],
]);

/** Exact but for the last digits: the largest sizes first cancel each other. */
function sum(values: readonly number[]): number {
  const finite = values.filter(Number.isFinite);
  if (finite.length < values.length) return values.reduce((a, b) => a + b, 0);
  let [high, low] = [0, 0];
  for (const value of finite) {
    const next = high + value;
    low += Math.abs(high) >= Math.abs(value) ? high - next + value : value - next + high;
    high = next;
  }
  return high + low;
}

const mean = (values: readonly number[]): number => sum(values) / values.length;
const ordered = (values: readonly number[]): number[] => {
  const numbers = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  return [...new Array<number>(values.length - numbers.length).fill(Number.NaN), ...numbers];
};
const steps = (samples: readonly Sample[]): [number, number][] => samples.slice(1).map(({ value }, at) => [samples[at]!.value, value]);

function quantile(phi: number, values: readonly number[]): number {
  const inOrder = ordered(values);
  return quantileOf(phi, values.length, (at) => inOrder[at] ?? Number.NaN);
}

function ofValues(compute: (values: readonly number[]) => number): Plain {
  return (samples) => (samples.length === 0 ? undefined : compute(samples.map(({ value }) => value)));
}

function variance(values: readonly number[]): number {
  const middle = mean(values);
  return sum(values.map((value) => (value - middle) ** 2)) / values.length;
}

function medianDistance(values: readonly number[]): number {
  const median = quantile(0.5, values);
  return quantile(
    0.5,
    values.map((value) => Math.abs(value - median)),
  );
}

function line(samples: readonly Sample[]): { slope: number; at: (millis: number) => number } | undefined {
  const [first] = samples;
  if (samples.length < 2 || first === undefined) return undefined;
  const xs = samples.map(({ time }) => (time - first.time) / 1000);
  const ys = samples.map(({ value }) => value);
  const [x, y] = [mean(xs), mean(ys)];
  const isSteady = ys.every((value) => value === first.value);
  const steady = Number.isFinite(first.value) ? 0 : Number.NaN;
  const slope = isSteady ? steady : sum(xs.map((one, at) => (one - x) * (ys[at]! - y))) / sum(xs.map((one) => (one - x) ** 2));
  return { slope, at: (millis) => y + slope * ((millis - first.time) / 1000 - x) };
}

function extrapolated(isCounter: boolean, isRate: boolean): Plain {
  return (samples, end, range) => {
    const [first, last] = [samples[0], samples.at(-1)];
    if (samples.length < 2 || first === undefined || last === undefined) return undefined;
    const fallen = isCounter ? sum(steps(samples).map(([before, value]) => (value < before ? before : 0))) : 0;
    const change = last.value - first.value + fallen;
    const covered = (last.time - first.time) / 1000;
    const between = covered / (samples.length - 1);
    const near = (distance: number): number => (distance >= between * 1.1 ? between / 2 : distance);
    let before = near((first.time - end + range) / 1000);
    if (isCounter && change > 0 && first.value >= 0) before = Math.min(before, covered * (first.value / change));
    const extended = change * ((covered + before + near((end - last.time) / 1000)) / covered);
    return isRate ? extended / (range / 1000) : extended;
  };
}

function area(samples: readonly Sample[]): number {
  return sum(samples.slice(1).map(({ time, value }, at) => ((samples[at]!.value * 0.5 + value * 0.5) * (time - samples[at]!.time)) / 1000));
}

/** NaN counts where there is nothing else. @param sign 1 for the smallest, -1 for the largest */
function best(samples: readonly Sample[], sign: 1 | -1): Sample | undefined {
  let found = samples[0];
  for (const one of samples) {
    if (found === undefined || Number.isNaN(found.value) || sign * one.value <= sign * found.value) found = one;
  }
  return found;
}

function seconds(sample: Sample | undefined): number | undefined {
  return sample === undefined ? undefined : sample.time / 1000;
}

function count(samples: readonly Sample[], isSo: (before: number, value: number) => boolean): number | undefined {
  return samples.length === 0 ? undefined : steps(samples).filter(([before, value]) => isSo(before, value)).length;
}

function lastTwo(samples: readonly Sample[], compute: (before: Sample, last: Sample) => number): number | undefined {
  const [before, last] = [samples.at(-2), samples.at(-1)];
  return before === undefined || last === undefined ? undefined : compute(before, last);
}

/** By name. */
export const PLAIN_FUNCTIONS: ReadonlyMap<string, Plain> = new Map<string, Plain>([
  ["avg_over_time", ofValues(mean)],
  ["changes", (samples) => count(samples, (before, value) => value !== before && !(Number.isNaN(value) && Number.isNaN(before)))],
  ["count_over_time", ofValues((values) => values.length)],
  ["delta", extrapolated(false, false)],
  ["deriv", (samples) => line(samples)?.slope],
  [
    "double_exponential_smoothing",
    (samples) => {
      const values = Float64Array.from(samples, ({ value }) => value);
      return samples.length < 2 ? undefined : smoothedLevel(values, 0, values.length, SMOOTHING, TREND);
    },
  ],
  ["first_over_time", (samples) => samples[0]?.value],
  [
    "integral",
    (samples) => {
      const areas = samples.slice(1).map(({ time, value }, at) => {
        const before = samples[at] ?? { time, value };
        return ((before.value * 0.5 + value * 0.5) * (time - before.time)) / 1000;
      });
      return areas.length === 0 ? undefined : sum(areas);
    },
  ],
  ["idelta", (samples) => lastTwo(samples, (before, last) => last.value - before.value)],
  ["increase", extrapolated(true, false)],
  ["integral", (samples) => (samples.length < 2 ? undefined : area(samples))],
  [
    "irate",
    (samples) =>
      lastTwo(samples, (before, last) => {
        const change = last.value < before.value ? last.value : last.value - before.value;
        return change / ((last.time - before.time) / 1000);
      }),
  ],
  ["last_over_time", (samples) => samples.at(-1)?.value],
  ["mad_over_time", ofValues(medianDistance)],
  ["max_over_time", (samples) => best(samples, -1)?.value],
  ["min_over_time", (samples) => best(samples, 1)?.value],
  ["predict_linear", (samples, end) => line(samples)?.at(end + AHEAD * 1000)],
  ["present_over_time", ofValues(() => 1)],
  ["quantile_over_time", ofValues((values) => quantile(QUANTILE, values))],
  ["rate", extrapolated(true, true)],
  ["resets", (samples) => count(samples, (before, value) => value < before)],
  ["stddev_over_time", ofValues((values) => Math.sqrt(variance(values)))],
  ["stdvar_over_time", ofValues(variance)],
  ["sum_over_time", ofValues(sum)],
  ["ts_of_first_over_time", (samples) => seconds(samples[0])],
  ["ts_of_last_over_time", (samples) => seconds(samples.at(-1))],
  ["ts_of_max_over_time", (samples) => seconds(best(samples, -1))],
  ["ts_of_min_over_time", (samples) => seconds(best(samples, 1))],
]);
