/**
 * Finds the windows `(moment - rangeMillis, moment]` of one series after the other, in the same arrays.
 *
 * Scrapes mostly lie evenly, and steps are mostly whole numbers of their distances. Then both ends of a window move by the same number each
 * step: they follow from the first one, no sample is looked up, and the next series often has the very same (a series of 260 samples and
 * 240 steps: 930 → 200 ns, of which telling that they lie evenly is most).
 */
import type { Moments } from "../scope.ts";
import { PIECE, ranges, type Work } from "./pieces.ts";
import type { Scratch } from "./scratch.ts";
import { firstAfter, type Windows } from "./windows.ts";

/** Samples a step up to which it is worth a look whether they lie evenly. */
const EVEN_SHARE = 4;
/** Places are 32 bits. */
const PLACE_MAX = 2 ** 30;

/** See the file header. */
export class WindowFinder {
  /** Those of the series that was asked for last. */
  readonly windows: Windows;
  private readonly moments: Moments;
  private readonly rangeMillis: number;
  /** Ends of the first windows, and how they go on, where `windows` were made of them. */
  private low = 0;
  private high = 0;
  private forward = -1;
  private count = 0;

  /** @param scratch of one call: the arrays are there for all of its series */
  constructor(moments: Moments, rangeMillis: number, scratch: Scratch) {
    const { count } = moments;
    const [first, end] = [scratch.int32("windowFirst", count), scratch.int32("windowEnd", count)];
    this.windows = { first: first.subarray(0, count), end: end.subarray(0, count) };
    this.moments = moments;
    this.rangeMillis = rangeMillis;
  }

  /** What finds those of a series; undefined: they are found. */
  find(times: Float64Array, count: number): Work | undefined {
    const { startMillis, stepMillis, count: steps } = this.moments;
    if (count <= EVEN_SHARE * steps && Math.max(count, steps) <= PIECE && this.findEven(times, count)) return undefined;
    this.forward = -1;
    const { first, end } = this.windows;
    const { rangeMillis } = this;
    return ranges(steps, (from, to) =>
      fillWindows(times, count, startMillis + from * stepMillis, stepMillis, rangeMillis, first, end, from, to),
    );
  }

  private findEven(times: Float64Array, count: number): boolean {
    const gap = evenGap(times, count);
    if (gap === 0) return false;
    const { rangeMillis, windows, moments } = this;
    const { startMillis, stepMillis, count: steps } = moments;
    const forward = stepMillis / gap;
    // Whole milliseconds are exact; fractions would be rounded in their own ways.
    if (!Number.isInteger(forward) || !Number.isInteger(gap) || !Number.isInteger(startMillis) || !Number.isInteger(rangeMillis))
      return false;
    const sinceFirst = startMillis - times[0]!;
    const high = Math.floor(sinceFirst / gap) + 1;
    const low = Math.floor((sinceFirst - rangeMillis) / gap) + 1;
    if (!(low > -PLACE_MAX && high + forward * steps < PLACE_MAX)) return false;
    if (low === this.low && high === this.high && forward === this.forward && count === this.count) return true;
    fillMoving(windows.first, low | 0, forward | 0, count, steps);
    fillMoving(windows.end, high | 0, forward | 0, count, steps);
    this.low = low;
    this.high = high;
    this.forward = forward;
    this.count = count;
    return true;
  }
}

/** @param startMillis of step `from` */
function fillWindows(
  times: Float64Array,
  count: number,
  startMillis: number,
  stepMillis: number,
  rangeMillis: number,
  first: Int32Array,
  end: Int32Array,
  from: number,
  to: number,
): void {
  let low = from === 0 ? 0 : first[from - 1]!;
  let high = from === 0 ? 0 : end[from - 1]!;
  for (let i = from; i < to; i++) {
    const moment = startMillis + (i - from) * stepMillis;
    high = firstAfter(times, high, count, moment);
    low = firstAfter(times, low, high, moment - rangeMillis);
    first[i] = low;
    end[i] = high;
  }
}

/** The distance of all neighbours; 0: there is no such distance. */
function evenGap(times: Float64Array, count: number): number {
  if (count < 2) return 0;
  const gap = times[1]! - times[0]!;
  // What is missing shows in the last one, mostly.
  if (times[count - 1]! - times[0]! !== gap * (count - 1)) return 0;
  let uneven = 0;
  for (let at = 2; at < count; at++) uneven |= +(times[at]! - times[at - 1]! !== gap);
  return uneven === 0 ? gap : 0;
}

/** `start`, `start + forward`, …, within `[0, most]`. */
function fillMoving(out: Int32Array, start: number, forward: number, most: number, count: number): void {
  let place = start;
  for (let i = 0; i < count; i++) {
    out[i] = place < 0 ? 0 : place > most ? most : place;
    place = (place + forward) | 0;
  }
}
