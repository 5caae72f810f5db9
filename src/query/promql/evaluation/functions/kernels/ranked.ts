/**
 * `quantile_over_time` and `mad_over_time`: windows in order of value.
 *
 * The samples of a series are ranked once; a binary indexed tree (Fenwick 1994) counts which ranks the window holds, so that a sample comes
 * or goes, and the one of an order is found, in log₂ of the samples.
 */
import type { RangeInput, RangeKernel } from "./range-input.ts";

class RankedWindow {
  /** Values by rank; NaN first. */
  readonly sorted: Float64Array;
  private readonly rankOf: Int32Array;
  private readonly tree: Int32Array;
  private readonly top: number;
  private low = 0;
  private high = 0;

  constructor(values: Float64Array, count: number) {
    const order = Array.from({ length: count }, (_, at) => at);
    const key = (at: number): number => (Number.isNaN(values[at]) ? Number.NEGATIVE_INFINITY : values[at]!);
    order.sort((a, b) => (key(a) === key(b) ? (Number.isNaN(values[a]) ? -1 : 0) - (Number.isNaN(values[b]) ? -1 : 0) : key(a) - key(b)));
    this.sorted = Float64Array.from(order, (at) => values[at]!);
    this.rankOf = new Int32Array(count);
    for (let rank = 0; rank < count; rank++) this.rankOf[order[rank]!] = rank;
    this.tree = new Int32Array(count + 1);
    this.top = 2 ** Math.floor(Math.log2(Math.max(1, count)));
  }

  /** Moves to samples `[low, high)`; neither end goes back. */
  moveTo(low: number, high: number): void {
    for (; this.high < high; this.high++) this.add(this.rankOf[this.high]!, 1);
    for (; this.low < low; this.low++) this.add(this.rankOf[this.low]!, -1);
  }

  /** The value at a place of the window's order. */
  at(place: number): number {
    let rank = 0;
    let rest = place;
    for (let bit = this.top; bit > 0; bit >>= 1) {
      const next = rank + bit;
      if (next >= this.tree.length || this.tree[next]! > rest) continue;
      rank = next;
      rest -= this.tree[next]!;
    }
    return this.sorted[rank]!;
  }

  private add(rank: number, change: number): void {
    for (let at = rank + 1; at < this.tree.length; at += at & -at) this.tree[at]! += change;
  }
}

/** Between the two values around the place of a quantile. @param at the values in ascending order */
export function quantileOf(quantile: number, count: number, at: (place: number) => number): number {
  if (count === 0 || Number.isNaN(quantile)) return Number.NaN;
  if (quantile < 0) return Number.NEGATIVE_INFINITY;
  if (quantile > 1) return Number.POSITIVE_INFINITY;
  const place = quantile * (count - 1);
  const lower = Math.max(0, Math.floor(place));
  const upper = Math.min(count - 1, lower + 1);
  const weight = place - Math.floor(place);
  return at(lower) * (1 - weight) + at(upper) * weight;
}

function ranked(result: (window: RankedWindow, samples: number, step: number, input: RangeInput) => number): RangeKernel {
  return (input, out, present) => {
    const window = new RankedWindow(input.values, input.count);
    const { first, end } = input.windows;
    for (let i = 0; i < out.length; i++) {
      const samples = end[i]! - first[i]!;
      if (samples === 0) continue;
      window.moveTo(first[i]!, end[i]!);
      out[i] = result(window, samples, i, input);
      present[i] = 1;
    }
  };
}

/** Parameter: the quantile. */
export const QUANTILE_OVER_TIME: RangeKernel = ranked((window, samples, step, { parameters }) =>
  quantileOf(parameters[0]![step]!, samples, (place) => window.at(place)),
);

/** The median of the distances from the median. */
export const MAD_OVER_TIME: RangeKernel = ranked((window, samples) => {
  const median = quantileOf(0.5, samples, (place) => window.at(place));
  return quantileOf(0.5, samples, (place) => distanceAt(window, samples, median, place));
});

/** The distance at a place among all. Values within it are one range of the order, of `place + 1` values: the narrowest is sought. */
function distanceAt(window: RankedWindow, samples: number, median: number, place: number): number {
  let low = 0;
  let high = samples - 1 - place;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (median - window.at(middle) > window.at(middle + place + 1) - median) low = middle + 1;
    else high = middle;
  }
  return Math.max(median - window.at(low), window.at(low + place) - median);
}
