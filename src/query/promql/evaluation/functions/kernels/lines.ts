/**
 * `deriv`, `predict_linear`: the line of least squares through a window, from covariances that are merged as Chan, Golub and LeVeque (1979)
 * do. Times are milliseconds from the place where suffixes begin, so that they have all their digits.
 */
import { ranges, sequence } from "../../kernels/pieces.ts";
import type { RangeKernel } from "./range-input.ts";
import { type Fold, type Slide, slide } from "./sliding.ts";

/** State: means of times and of values, squares of times, times by values; about their means. */
const WIDTH = 4;

function fill({ times, values, suffixes, base, pivot }: Slide, from: number, to: number): void {
  const origin = times[base]!;
  let place = WIDTH * (to - base);
  let meanTime = suffixes[place]!;
  let mean = suffixes[place + 1]!;
  let squares = suffixes[place + 2]!;
  let products = suffixes[place + 3]!;
  for (let at = to - 1; at >= from; at--) {
    const share = 1 / (pivot - at);
    const time = times[at]! - origin;
    const deltaTime = time - meanTime;
    const delta = values[at]! - mean;
    meanTime += deltaTime * share;
    mean += delta * share;
    squares += deltaTime * (time - meanTime);
    products += (time - meanTime) * delta;
    place -= WIDTH;
    suffixes[place] = meanTime;
    suffixes[place + 1] = mean;
    suffixes[place + 2] = squares;
    suffixes[place + 3] = products;
  }
}

/** What is wanted of a line. */
interface LineUse {
  /** Of a step: seconds behind it at which the line is read; undefined: its slope is wanted. */
  readonly ahead: Float64Array | undefined;
  readonly startMillis: number;
  readonly stepMillis: number;
  /** By sample: where the run of equal values ends that it is in. A line through equal values is exact. */
  readonly steadyUntil: Int32Array;
}

function run(slide: Slide, budget: number, use: LineUse): number {
  const { times, values, first, end, steps, present, base, pivot, running } = slide;
  const origin = times[base]!;
  let meanTime = running[0]!;
  let mean = running[1]!;
  let squares = running[2]!;
  let products = running[3]!;
  let { step, folded } = slide;
  let done = 0;
  for (; step < steps && done < budget; step++) {
    const low = first[step]!;
    const high = end[step]!;
    if (low >= high) {
      done++;
      continue;
    }
    if (low >= pivot) break;
    const until = Math.min(high, folded + budget - done);
    done += until - folded + 1;
    for (; folded < until; folded++) {
      const share = 1 / (folded + 1 - pivot);
      const time = times[folded]! - origin;
      const deltaTime = time - meanTime;
      const delta = values[folded]! - mean;
      meanTime += deltaTime * share;
      mean += delta * share;
      squares += deltaTime * (time - meanTime);
      products += (time - meanTime) * delta;
    }
    if (folded < high) break;
    if (high - low < 2) continue;
    present[step] = 1;
    merge(slide, step, low, high, meanTime, mean, squares, products, use);
  }
  running[0] = meanTime;
  running[1] = mean;
  running[2] = squares;
  running[3] = products;
  slide.folded = folded;
  slide.step = step;
  return done;
}

/** The result of a step: of the suffix at `low` and of what runs. */
function merge(
  { times, values, out, suffixes, base, pivot }: Slide,
  step: number,
  low: number,
  high: number,
  meanTime: number,
  mean: number,
  squares: number,
  products: number,
  { ahead, startMillis, stepMillis, steadyUntil }: LineUse,
): void {
  const place = WIDTH * (low - base);
  let time = suffixes[place]!;
  let value = suffixes[place + 1]!;
  let square = suffixes[place + 2]!;
  let product = suffixes[place + 3]!;
  if (high > pivot) {
    const deltaTime = meanTime - time;
    const delta = mean - value;
    const share = (high - pivot) / (high - low);
    const weight = (pivot - low) * share;
    square += squares + deltaTime * deltaTime * weight;
    product += products + deltaTime * delta * weight;
    time += deltaTime * share;
    value += delta * share;
  }
  let slope = value - value === 0 ? (product / square) * 1000 : Number.NaN;
  if (steadyUntil[low]! >= high) {
    value = values[low]!;
    slope = value - value === 0 ? 0 : Number.NaN;
  }
  if (ahead === undefined) {
    out[step] = slope;
    return;
  }
  const seconds = (startMillis + step * stepMillis - times[base]! - time) / 1000;
  out[step] = value + slope * seconds + slope * ahead[step]!;
}

/** Where runs of equal values end: for samples `[from, to)`, those behind them done. */
function endRuns(values: Float64Array, count: number, ends: Int32Array, from: number, to: number): void {
  let end = to < count ? ends[to]! : count;
  for (let at = to - 1; at >= from; at--) {
    if (at + 1 < count && values[at] !== values[at + 1]) end = at + 1;
    ends[at] = end;
  }
}

function line(of: "slope" | "value"): RangeKernel {
  return (input, out, present) => {
    const { values, count, scratch, evaluation, parameters } = input;
    const steadyUntil = scratch.int32("steady", count);
    const ahead = of === "slope" ? undefined : parameters[0];
    const use: LineUse = { ahead, startMillis: evaluation.startMillis, stepMillis: evaluation.stepMillis, steadyUntil };
    const fold: Fold = { width: WIDTH, empty: 0, fill, run: (slide, budget) => run(slide, budget, use) };
    return sequence(
      () => ranges(count, (from, to) => endRuns(values, count, steadyUntil, count - to, count - from)),
      () => slide(fold, input, out, present),
    );
  };
}

/** Per second, of the line of least squares. */
export const DERIV: RangeKernel = line("slope");
/** That line so many seconds after the step. */
export const PREDICT_LINEAR: RangeKernel = line("value");
