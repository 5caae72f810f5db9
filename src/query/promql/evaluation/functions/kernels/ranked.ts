/** `quantile_over_time` and `mad_over_time`: windows in order of value. */
import { MORE, type Work } from "../../kernels/pieces.ts";
import type { RangeInput, RangeKernel } from "./range-input.ts";
import { BECOME_MAX, SortedWindow } from "./sorted-window.ts";

/** Between the two values around the place of a quantile. @param at the values in ascending order */
export function quantileOf(quantile: number, count: number, at: (place: number) => number): number {
  if (count === 0 || quantile !== quantile) return Number.NaN;
  if (quantile < 0) return Number.NEGATIVE_INFINITY;
  if (quantile > 1) return Number.POSITIVE_INFINITY;
  const place = quantile * (count - 1);
  const lower = Math.floor(place);
  const upper = Math.min(count - 1, lower + 1);
  const weight = place - lower;
  return at(lower) * (1 - weight) + at(upper) * weight;
}

type Result = (window: SortedWindow, samples: number, step: number) => number;

/** What a value that comes or goes costs, in samples of other loops. */
const VALUE_COST = 8;

function ranked(input: RangeInput, result: Result, cost: number, out: Float64Array, present: Uint8Array): Work {
  const { values, scratch } = input;
  const { first, end } = input.windows;
  const window = new SortedWindow(scratch);
  let low = 0;
  let high = 0;
  let step = 0;
  return (budget) => {
    let left = Math.ceil(budget / VALUE_COST);
    for (; step < out.length; step++) {
      if (left <= 0) return MORE;
      left -= cost;
      const windowFirst = first[step]!;
      const windowEnd = end[step]!;
      if (windowEnd <= windowFirst) continue;
      const isFew = windowEnd - windowFirst <= BECOME_MAX;
      if (windowFirst >= high || (isFew && 2 * (windowEnd - high) > windowEnd - windowFirst)) {
        // Little is left of the window before.
        if (isFew) window.become(values, windowFirst, windowEnd);
        else window.clear();
        low = windowFirst;
        high = isFew ? windowEnd : windowFirst;
        left -= isFew ? windowEnd - windowFirst : 0;
      }
      const both = Math.max(0, Math.min(windowFirst - low, windowEnd - high, left));
      window.slide(values, low, high, both);
      low += both;
      high += both;
      left -= both;
      for (; high < windowEnd && left > 0; left--) window.add(values[high++]!);
      for (; low < windowFirst && left > 0; left--) window.remove(values[low++]!);
      if (low < windowFirst || high < windowEnd) return MORE;
      out[step] = result(window, windowEnd - windowFirst, step);
      present[step] = 1;
    }
    return Math.max(0, left * VALUE_COST);
  };
}

/** Parameter: the quantile. */
export const QUANTILE_OVER_TIME: RangeKernel = (input, out, present) => {
  const quantiles = input.parameters[0]!;
  let current: SortedWindow | undefined;
  const at = (place: number): number => current!.at(place);
  const result: Result = (window, samples, step) => {
    current = window;
    return quantileOf(quantiles[step]!, samples, at);
  };
  return ranked(input, result, 1, out, present);
};

/** The median of the distances from the median. */
export const MAD_OVER_TIME: RangeKernel = (input, out, present) => ranked(input, medianDistance, 4, out, present);

function medianDistance(window: SortedWindow, samples: number): number {
  const median = quantileOf(0.5, samples, (place) => window.at(place));
  const { nans } = window;
  if (median - median === 0)
    return quantileOf(0.5, samples, (place) => (place < nans ? Number.NaN : distanceAt(window, samples - nans, median, place - nans)));
  if (median !== median) return Number.NaN;
  // From an infinity all is infinitely far but the same infinity, of which the distance is NaN.
  const same = median < 0 ? placesUpTo(window, samples, median) : nans + samples - placesUpTo(window, samples, Number.MAX_VALUE);
  return quantileOf(0.5, samples, (place) => (place < same ? Number.NaN : Number.POSITIVE_INFINITY));
}

/** How many values are NaN or at most `most`. */
function placesUpTo(window: SortedWindow, samples: number, most: number): number {
  let low = window.nans;
  let high = samples;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (window.at(middle) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The distance at a place among all of `count` values behind the NaN. Values within it are one range of the order, of `place + 1` values:
 * the narrowest is sought.
 */
function distanceAt(window: SortedWindow, count: number, median: number, place: number): number {
  const { nans } = window;
  let low = nans;
  let high = nans + count - 1 - place;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (median - window.at(middle) > window.at(middle + place + 1) - median) low = middle + 1;
    else high = middle;
  }
  return Math.max(median - window.at(low), window.at(low + place) - median);
}
