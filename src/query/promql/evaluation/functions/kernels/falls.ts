/**
 * Where counters fall: what a window lost by restarts, how often values fell, how often they changed.
 */
import { MORE, ranges, sequence, type Work } from "../../kernels/pieces.ts";
import type { RangeInput, RangeKernel } from "./range-input.ts";
import { slide } from "./sliding.ts";
import { SUMS } from "./sums.ts";

/** Falls of a window, on average, from which on windows are folded as they slide. */
const DENSE = 8;

/** Nothing was lost. An array, too: a loop that knows one type is three times as fast. */
export const NOTHING: Float64Array = new Float64Array(0);

/** What counters lost by falling. Falls are few, so they are listed, and only they are summed. */
export class Fallen {
  /** By step: the sum of the values from which the counter fell within the window; empty: it never does. Scratch. */
  lost: Float64Array = NOTHING;
  /** Finds it, and marks in `present` the steps whose window has a fall: they have two samples. */
  readonly work: Work;
  private readonly input: Pick<RangeInput, "values" | "count" | "windows" | "scratch">;
  private places: Int32Array;
  private falls = 0;

  constructor(input: Pick<RangeInput, "values" | "count" | "windows" | "scratch">, present: Uint8Array) {
    this.input = input;
    this.places = input.scratch.int32("fallPlaces", 0);
    this.work = sequence(
      () => ranges(input.count, (from, to) => this.list(Math.max(1, from), to)),
      () => (this.falls === 0 ? undefined : this.sums(present)),
    );
  }

  private list(from: number, to: number): void {
    const { values, scratch } = this.input;
    const found = fallsIn(values, from, to);
    if (found === 0) return;
    const before = this.places;
    this.places = scratch.int32("fallPlaces", this.falls + found + 1);
    if (this.places !== before) this.places.set(before.subarray(0, this.falls));
    listFalls(values, from, to, this.places, this.falls);
    this.falls += found;
  }

  private sums(present: Uint8Array): Work {
    const { places, falls } = this;
    const { values, windows, scratch } = this.input;
    const steps = windows.first.length;
    const lost = scratch.float64("lost", steps).subarray(0, steps).fill(0);
    const sizes = scratch.float64("fallSizes", falls);
    const first = scratch.int32("fallFirst", steps);
    const end = scratch.int32("fallEnd", steps);
    let all = 0;
    this.lost = lost;
    return sequence(
      () => ranges(falls, (from, to) => sizesOf(values, places, sizes, from, to)),
      () => ranges(steps, (from, to) => void (all += fallWindows(places, falls, windows, first, end, from, to))),
      () =>
        all <= DENSE * (falls + steps)
          ? ranges(steps, (from, to) => addUp(sizes, first, end, lost, from, to), DENSE)
          : slide(SUMS, { times: sizes, values: sizes, windows: { first, end }, scratch }, lost, present),
    );
  }
}

function sizesOf(values: Float64Array, places: Int32Array, sizes: Float64Array, from: number, to: number): void {
  for (let at = from; at < to; at++) sizes[at] = values[places[at]! - 1]!;
}

/** Which falls each window has; how many all have together. */
function fallWindows(
  places: Int32Array,
  falls: number,
  windows: RangeInput["windows"],
  first: Int32Array,
  end: Int32Array,
  from: number,
  to: number,
): number {
  let low = from === 0 ? 0 : first[from - 1]!;
  let high = from === 0 ? 0 : end[from - 1]!;
  let all = 0;
  for (let i = from; i < to; i++) {
    const windowFirst = windows.first[i]!;
    const windowEnd = windows.end[i]!;
    while (high < falls && places[high]! < windowEnd) high++;
    // The first sample of a window has none before it.
    while (low < high && places[low]! <= windowFirst) low++;
    first[i] = low;
    end[i] = high;
    all += high - low;
  }
  return all;
}

/** Sums of a few numbers each, compensated. */
function addUp(sizes: Float64Array, first: Int32Array, end: Int32Array, out: Float64Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    let sum = 0;
    let lost = 0;
    for (let at = first[i]!; at < end[i]!; at++) {
      const value = sizes[at]!;
      const next = sum + value;
      if (next - next !== 0) lost = 0;
      else if (Math.abs(sum) >= Math.abs(value)) lost += sum - next + value;
      else lost += value - next + sum;
      sum = next;
    }
    out[i] = sum + lost;
  }
}

/** How many of the samples `[from, to)` are below the one before; `from` is at least 1. */
export function fallsIn(values: Float64Array, from: number, to: number): number {
  let falls = 0;
  let before = values[from - 1]!;
  for (let at = from; at < to; at++) {
    const value = values[at]!;
    falls += +(value < before);
    before = value;
  }
  return falls;
}

/** Puts the places behind `start` others; `places` has room for one more. No branch: where falls are is not foreseen. */
function listFalls(values: Float64Array, from: number, to: number, places: Int32Array, start: number): void {
  let next = start;
  let before = values[from - 1]!;
  for (let at = from; at < to; at++) {
    const value = values[at]!;
    places[next] = at;
    next += +(value < before);
    before = value;
  }
}

/** Samples below the one before, in each window: what comes in is added, what leaves is taken away. */
export const RESETS: RangeKernel = ({ values, windows }, out, present) => counted(falls, values, windows, out, present);
/** Samples unlike the one before; NaN is like NaN. */
export const CHANGES: RangeKernel = ({ values, windows }, out, present) => counted(changes, values, windows, out, present);

/** How many of `[from, to)` are so, each beside the one before it. */
type Counter = (values: Float64Array, from: number, to: number) => number;

function falls(values: Float64Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) count += +(values[at]! < values[at - 1]!);
  return count;
}

function changes(values: Float64Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) {
    const value = values[at]!;
    const before = values[at - 1]!;
    count += +(value !== before && (value === value || before === before));
  }
  return count;
}

function counted(
  count: Counter,
  values: Float64Array,
  { first, end }: RangeInput["windows"],
  out: Float64Array,
  present: Uint8Array,
): Work {
  let step = 0;
  let low = 0;
  let high = 1;
  let inside = 0;
  return (budget) => {
    let left = budget;
    for (; step < out.length; step++) {
      if (left <= 0) return MORE;
      const windowFirst = first[step]!;
      const windowEnd = end[step]!;
      left--;
      if (windowEnd <= windowFirst) continue;
      if (windowFirst >= high) {
        // Nothing of the window before is left.
        low = windowFirst;
        high = windowFirst + 1;
        inside = 0;
      }
      const to = Math.min(windowEnd, high + Math.max(1, left));
      const after = Math.min(windowFirst, low + Math.max(1, left));
      inside += count(values, high, to) - count(values, low + 1, after + 1);
      left -= to - high + after - low;
      high = to;
      low = after;
      if (high < windowEnd || low < windowFirst) return MORE;
      out[step] = inside;
      present[step] = 1;
    }
    return Math.max(0, left);
  };
}
