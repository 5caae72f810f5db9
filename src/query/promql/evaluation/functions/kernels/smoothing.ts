/**
 * `double_exponential_smoothing`: Holt's level and trend after the samples of a window.
 *
 * Each sample changes both by a linear map that is the same for all samples, and adds a part of its value:
 *
 *     (level, trend) ← A (level, trend) + value (s, s t)        A = | 1 - s   1 - s   |      s: smoothing factor, t: trend factor
 *                                                                   | -s t    1 - s t |
 *
 * so that a window is a power of `A`, applied to its first two samples, and a sum of values under powers of `A`. Such sums fold as windows
 * slide (`sliding.ts`), and all windows together cost steps + samples. A window whose result is no number is computed sample by sample.
 */
import { MORE, ranges, sequence, type Work } from "../../kernels/pieces.ts";
import type { RangeInput, RangeKernel } from "./range-input.ts";
import { type Fold, type Slide, slide } from "./sliding.ts";

/** Numbers of a power of `A`. */
const POWER = 4;
/** Smaller factors are 0: they change no result, and numbers below the smallest normal one are slow. */
const NOTHING = 1e-290;

/** Level of a window, sample by sample. */
export function smoothedLevel(values: Float64Array, first: number, end: number, factor: number, trendFactor: number): number {
  let before = 0;
  let level = values[first]!;
  let trend = values[first + 1]! - values[first]!;
  for (let at = first + 1; at < end; at++) {
    if (at > first + 1) trend = trendFactor * (level - before) + (1 - trendFactor) * trend;
    before = level;
    level = factor * values[at]! + (1 - factor) * (level + trend);
  }
  return level;
}

/** `A` of two factors, and its powers from 0 on. */
interface Maps {
  readonly factor: number;
  readonly trendFactor: number;
  readonly powers: Float64Array;
}

/** Makes the powers `(from, to]` from those before. */
function raise({ factor, trendFactor, powers }: Maps, from: number, to: number): void {
  const [a, c, d] = [1 - factor, -factor * trendFactor, 1 - factor * trendFactor];
  for (let at = from; at < to; at++) {
    const last = POWER * at;
    const p = powers[last]!;
    const q = powers[last + 1]!;
    const r = powers[last + 2]!;
    const s = powers[last + 3]!;
    powers[last + 4] = normal(a * (p + r));
    powers[last + 5] = normal(a * (q + s));
    powers[last + 6] = normal(c * p + d * r);
    powers[last + 7] = normal(c * q + d * s);
  }
}

function normal(value: number): number {
  return Math.abs(value) < NOTHING ? 0 : value;
}

/** State: level and trend that the values alone give. */
function fill({ values, suffixes, base, pivot }: Slide, from: number, to: number, { factor, trendFactor, powers }: Maps): void {
  let place = 2 * (to - base);
  let level = suffixes[place]!;
  let trend = suffixes[place + 1]!;
  const trendShare = factor * trendFactor;
  for (let at = to - 1; at >= from; at--) {
    const power = POWER * (pivot - 1 - at);
    const value = values[at]!;
    level += value * (powers[power]! * factor + powers[power + 1]! * trendShare);
    trend += value * (powers[power + 2]! * factor + powers[power + 3]! * trendShare);
    place -= 2;
    suffixes[place] = level;
    suffixes[place + 1] = trend;
  }
}

function run(slide: Slide, budget: number, { factor, trendFactor, powers }: Maps): number {
  const { values, first, end, steps, out, present, suffixes, base, pivot, running } = slide;
  const [a, c, d] = [1 - factor, -factor * trendFactor, 1 - factor * trendFactor];
  const trendShare = factor * trendFactor;
  let level = running[0]!;
  let trend = running[1]!;
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
      const value = values[folded]!;
      const next = a * (level + trend) + factor * value;
      trend = c * level + d * trend + trendShare * value;
      level = next;
    }
    if (folded < high) break;
    if (high - low < 2) continue;
    // The first sample is no step of the recursion: with its difference to the second one it is what the recursion begins with.
    const begin = POWER * (high - low - 1);
    const behind = POWER * (high - pivot);
    const place = 2 * (low + 1 - base);
    const start = values[low]!;
    let result = powers[begin]! * start + powers[begin + 1]! * (values[low + 1]! - start);
    result += powers[behind]! * suffixes[place]! + powers[behind + 1]! * suffixes[place + 1]!;
    out[step] = result + level;
    present[step] = 1;
  }
  running[0] = level;
  running[1] = trend;
  slide.folded = folded;
  slide.step = step;
  return done;
}

/** Parameters: of the level, of the trend. */
export const SMOOTHING: RangeKernel = (input, out, present) => {
  const { windows, parameters, scratch } = input;
  const factors = parameters[0]!;
  const trendFactors = parameters[1]!;
  let isSteady = true;
  let longest = 0;
  let maps: Maps = { factor: 0, trendFactor: 0, powers: factors };
  const fold: Fold = {
    width: 2,
    empty: 0,
    fill: (slide, from, to) => fill(slide, from, to, maps),
    run: (slide, budget) => run(slide, budget, maps),
  };
  return sequence(
    () =>
      ranges(out.length, (from, to) => {
        for (let i = from; i < to; i++) {
          longest = Math.max(longest, windows.end[i]! - windows.first[i]!);
          if (factors[i] !== factors[0] || trendFactors[i] !== trendFactors[0]) isSteady = false;
        }
      }),
    () => {
      if (!isSteady) return undefined;
      const powers = scratch.float64("powers", POWER * (longest + 1));
      powers.set([1, 0, 0, 1]);
      maps = { factor: factors[0]!, trendFactor: trendFactors[0]!, powers };
      return ranges(longest, (from, to) => raise(maps, from, to));
    },
    () => (isSteady ? slide(fold, input, out, present) : undefined),
    () => oneByOne(input, out, present, isSteady),
  );
};

/** Sample by sample, the steps that have no finite result yet. @param isFolded others have theirs */
function oneByOne({ values, windows, parameters }: RangeInput, out: Float64Array, present: Uint8Array, isFolded: boolean): Work {
  const nonFinite = new NonFinite(values);
  let step = 0;
  return (budget) => {
    let left = budget;
    for (; step < out.length; step++) {
      if (left <= 0) return MORE;
      left--;
      const first = windows.first[step]!;
      const end = windows.end[step]!;
      if (end - first < 2 || (isFolded && out[step]! - out[step]! === 0)) continue;
      present[step] = 1;
      // Two steps behind a value that is not finite, level and trend are NaN and stay so.
      if (nonFinite.lastBefore(end - 2) >= first) out[step] = Number.NaN;
      else {
        out[step] = smoothedLevel(values, first, end, parameters[0]![step]!, parameters[1]![step]!);
        left -= end - first;
      }
    }
    return Math.max(0, left);
  };
}

/** Finds values that are not finite; places that are asked for never fall. */
class NonFinite {
  private readonly values: Float64Array;
  private at = 0;
  private last = -1;

  constructor(values: Float64Array) {
    this.values = values;
  }

  /** The last of `[0, end)`; -1: none. */
  lastBefore(end: number): number {
    for (; this.at < end; this.at++) if (this.values[this.at]! - this.values[this.at]! !== 0) this.last = this.at;
    return this.last;
  }
}
