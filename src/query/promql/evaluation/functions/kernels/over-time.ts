/**
 * `*_over_time`, `deriv` and their kin: windows folded as they slide.
 */
import { LINE, MAX, MAX_TIME, MIN, MIN_TIME, SUM, VARIANCE } from "./folds.ts";
import { perWindow, type RangeInput, type RangeKernel } from "./range-input.ts";
import { type Fold, slide } from "./sliding.ts";

function folded(
  fold: Fold,
  result: (state: Float64Array, at: number, samples: number, step: number, input: RangeInput) => number,
): RangeKernel {
  return (input, out, present) => {
    slide(fold, input.times, input.values, input.windows.first, input.windows.end, (state, at, step, samples) => {
      out[step] = result(state, at, samples, step, input);
      present[step] = 1;
    });
  };
}

/** Sums. */
export const SUM_OVER_TIME: RangeKernel = folded(SUM, (state, at) => state[at]! + state[at + 1]!);
/** Population variance. */
export const STDVAR_OVER_TIME: RangeKernel = folded(VARIANCE, (state, at) => state[at + 2]! / state[at]!);
/** Its root. */
export const STDDEV_OVER_TIME: RangeKernel = folded(VARIANCE, (state, at) => Math.sqrt(state[at + 2]! / state[at]!));
/** Extremes. */
export const MIN_OVER_TIME: RangeKernel = folded(MIN, (state, at) => state[at]!);
export const MAX_OVER_TIME: RangeKernel = folded(MAX, (state, at) => state[at]!);
export const TS_OF_MIN: RangeKernel = folded(MIN_TIME, (state, at) => state[at + 1]! / 1000);
export const TS_OF_MAX: RangeKernel = folded(MAX_TIME, (state, at) => state[at + 1]! / 1000);

/** A power of two below which sums of the largest numbers stay finite. */
const SCALE = 2 ** -64;

/** The mean, also where the sum is beyond the largest number. */
export const AVG_OVER_TIME: RangeKernel = (input, out, present) => {
  let largest = 0;
  for (let at = 0; at < input.count; at++) {
    const size = Math.abs(input.values[at]!);
    if (size > largest && size !== Number.POSITIVE_INFINITY) largest = size;
  }
  const scale = largest > Number.MAX_VALUE / (input.count + 1) ? SCALE : 1;
  const values = scale === 1 ? input.values : input.values.map((value) => value * scale);
  slide(SUM, input.times, values, input.windows.first, input.windows.end, (state, at, step, samples) => {
    out[step] = (state[at]! / samples + state[at + 1]! / samples) / scale;
    present[step] = 1;
  });
};

/** What needs no fold. */
export const COUNT_OVER_TIME: RangeKernel = perWindow(1, (_input, first, end) => end - first);
export const PRESENT_OVER_TIME: RangeKernel = perWindow(1, () => 1);
export const FIRST_OVER_TIME: RangeKernel = perWindow(1, ({ values }, first) => values[first]);
export const LAST_OVER_TIME: RangeKernel = perWindow(1, ({ values }, _first, end) => values[end - 1]);
export const TS_OF_FIRST: RangeKernel = perWindow(1, ({ times }, first) => times[first]! / 1000);
export const TS_OF_LAST: RangeKernel = perWindow(1, ({ times }, _first, end) => times[end - 1]! / 1000);

function linear(result: (slope: number, valueAt: (millis: number) => number, step: number, input: RangeInput) => number): RangeKernel {
  return (input, out, present) => {
    const { values, times, windows } = input;
    let steadyUntil = 0;
    slide(LINE, times, values, windows.first, windows.end, (state, at, step, samples) => {
      if (samples < 2) return;
      present[step] = 1;
      const low = windows.first[step]!;
      const high = windows.end[step]!;
      // A line through equal values is exact.
      if (steadyUntil <= low) steadyUntil = low + 1;
      while (steadyUntil < input.count && values[steadyUntil] === values[steadyUntil - 1]) steadyUntil++;
      const isSteady = steadyUntil >= high;
      const steady = Number.isFinite(values[low]!) ? 0 : Number.NaN;
      const slope = isSteady ? steady : state[at + 4]! / state[at + 3]!;
      const meanX = state[at + 1]!;
      const meanY = isSteady ? values[low]! : state[at + 2]!;
      out[step] = result(slope, (millis) => meanY + slope * (millis / 1000 - meanX), step, input);
    });
  };
}

/** Per second, of the line of least squares. */
export const DERIV: RangeKernel = linear((slope) => slope);
/** That line so many seconds after the step. */
export const PREDICT_LINEAR: RangeKernel = linear((slope, valueAt, step, { evaluation, parameters }) => {
  const ahead = parameters[0]![step]!;
  return valueAt(evaluation.startMillis + step * evaluation.stepMillis) + slope * ahead;
});

/** Holt's double exponential smoothing. Parameters: of the level, of the trend. Each window begins anew. */
export const SMOOTHING: RangeKernel = perWindow(2, ({ values, parameters }, first, end, step) => {
  const level = parameters[0]![step]!;
  const trend = parameters[1]![step]!;
  let before = 0;
  let smoothed = values[first]!;
  let slope = values[first + 1]! - values[first]!;
  for (let at = first + 1; at < end; at++) {
    if (at > first + 1) slope = trend * (smoothed - before) + (1 - trend) * slope;
    before = smoothed;
    smoothed = level * values[at]! + (1 - level) * (smoothed + slope);
  }
  return smoothed;
});
