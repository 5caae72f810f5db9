/**
 * Folds of windows that slide. Nothing is ever subtracted, so infinities and NaN leave a window as they came.
 *
 * A window is cut at a pivot: behind it lies a running fold, before it one fold for each place where the window may begin, made once.
 *
 *     first      pivot        end
 *       ├──────────┼───────────┤
 *       suffix[first]  running          result = suffix ∘ running
 *
 * When the window has passed the pivot, the pivot moves to its end. Each sample is folded at most twice.
 *
 * A fold is two loops over typed arrays, with its state in locals: calls a sample cost more than the folds themselves (sums: 46M samples/s
 * by calls, 207M so).
 */
import { MORE, type Work } from "../../kernels/pieces.ts";
import type { Scratch } from "../../kernels/scratch.ts";
import type { Windows } from "../../kernels/windows.ts";

/** A fold of samples. */
export interface Fold {
  /** Numbers of a state. */
  readonly width: number;
  /** What all numbers of the state of no sample are. */
  readonly empty: number;
  /** Makes the suffixes `[from, to)` from the one at `to`, backwards. */
  readonly fill: (slide: Slide, from: number, to: number) => void;
  /**
   * Goes on with the steps from `slide.step`, samples from `slide.folded`, until a window begins at or behind the pivot, or about `budget`
   * samples and steps are done. Returns how many.
   */
  readonly run: (slide: Slide, budget: number) => number;
}

/** Where the windows of a series are. */
export interface Slide {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** By step: samples `[first, end)`; both never fall. */
  readonly first: Int32Array;
  readonly end: Int32Array;
  readonly steps: number;
  readonly out: Float64Array;
  readonly present: Uint8Array;
  /** States of `[at, pivot)` at `(at - base) × width`, for each `at` from `base` up to and with `pivot`. */
  suffixes: Float64Array;
  base: number;
  pivot: number;
  /** The state of `[pivot, folded)`. */
  readonly running: Float64Array;
  folded: number;
  step: number;
  /** Suffixes below are not made yet. */
  filledFrom: number;
}

/** What a series is folded over. */
export interface Sliding {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly windows: Windows;
  readonly scratch: Scratch;
}

/** Puts the fold of each step's window into `out` and marks it in `present`; windows of no sample are left out. */
export function slide(fold: Fold, { times, values, windows, scratch }: Sliding, out: Float64Array, present: Uint8Array): Work {
  const { width } = fold;
  const { first, end } = windows;
  const slide: Slide = {
    times,
    values,
    first,
    end,
    steps: out.length,
    out,
    present,
    suffixes: scratch.float64("suffixes", width),
    base: 0,
    pivot: 0,
    running: scratch.float64("running", width),
    folded: 0,
    step: 0,
    filledFrom: 0,
  };
  return (budget) => advance(slide, fold, scratch, budget);
}

function advance(slide: Slide, fold: Fold, scratch: Scratch, budget: number): number {
  const { first, end, steps } = slide;
  let left = budget;
  while (slide.step < steps) {
    if (slide.filledFrom > slide.base) {
      const from = Math.max(slide.base, slide.filledFrom - left);
      fold.fill(slide, from, slide.filledFrom);
      left -= slide.filledFrom - from;
      slide.filledFrom = from;
    } else {
      const low = first[slide.step]!;
      const high = end[slide.step]!;
      if (low >= slide.pivot && low < high) begin(slide, fold, low, high, scratch);
      else left -= fold.run(slide, left);
    }
    if (left <= 0 && slide.step < steps) return MORE;
  }
  return Math.max(0, left);
}
/** Puts the pivot to `high`, with nothing folded. */
function begin(slide: Slide, { width, empty }: Fold, low: number, high: number, scratch: Scratch): void {
  const room = (high - low + 1) * width;
  if (slide.suffixes.length < room) slide.suffixes = scratch.float64("suffixes", room);
  slide.base = low;
  slide.pivot = high;
  slide.folded = high;
  slide.filledFrom = high;
  const last = (high - low) * width;
  for (let i = 0; i < width; i++) {
    slide.running[i] = empty;
    slide.suffixes[last + i] = empty;
  }
}
