/**
 * `min_over_time`, `max_over_time`, and when they were. A maximum is the minimum under the other sign. NaN is the result where there is
 * nothing else.
 */
import type { RangeKernel } from "./range-input.ts";
import { type Fold, type Slide, slide } from "./sliding.ts";

/** 1 for the smallest, -1 for the largest. */
type Sign = 1 | -1;

function fillValues({ values, suffixes, base }: Slide, from: number, to: number, sign: Sign): void {
  let best = suffixes[to - base]!;
  for (let at = to - 1; at >= from; at--) {
    const value = sign * values[at]!;
    if (!(value !== value || best < value)) best = value;
    suffixes[at - base] = best;
  }
}

function runValues(slide: Slide, budget: number, sign: Sign): number {
  const { values, first, end, steps, out, present, suffixes, base, pivot, running } = slide;
  let best = running[0]!;
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
      const value = sign * values[folded]!;
      if (value < best || best !== best) best = value;
    }
    if (folded < high) break;
    const left = suffixes[low - base]!;
    out[step] = sign * (best < left || left !== left ? best : left);
    present[step] = 1;
  }
  running[0] = best;
  slide.folded = folded;
  slide.step = step;
  return done;
}

function extreme(sign: Sign): RangeKernel {
  const fold: Fold = {
    width: 1,
    empty: Number.NaN,
    fill: (slide, from, to) => fillValues(slide, from, to, sign),
    run: (slide, budget) => runValues(slide, budget, sign),
  };
  return (input, out, present) => slide(fold, input, out, present);
}

/** Extremes. */
export const MIN_OVER_TIME: RangeKernel = extreme(1);
export const MAX_OVER_TIME: RangeKernel = extreme(-1);

/** State: the place of the last of the smallest; -1: there is no sample. */
function fillPlaces({ values, suffixes, base }: Slide, from: number, to: number, sign: Sign): void {
  let place = suffixes[to - base]!;
  let best = place < 0 ? Number.NaN : sign * values[place]!;
  for (let at = to - 1; at >= from; at--) {
    const value = sign * values[at]!;
    if (place < 0 || value < best || (best !== best && value === value)) {
      best = value;
      place = at;
    }
    suffixes[at - base] = place;
  }
}

function runPlaces(slide: Slide, budget: number, sign: Sign): number {
  const { times, values, first, end, steps, out, present, suffixes, base, pivot, running } = slide;
  let place = running[0]!;
  let best = place < 0 ? Number.NaN : sign * values[place]!;
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
      const value = sign * values[folded]!;
      if (value <= best || best !== best) {
        best = value;
        place = folded;
      }
    }
    if (folded < high) break;
    const before = suffixes[low - base]!;
    const left = sign * values[before]!;
    out[step] = times[place < 0 || !(best <= left || left !== left) ? before : place]! / 1000;
    present[step] = 1;
  }
  running[0] = place;
  slide.folded = folded;
  slide.step = step;
  return done;
}

function extremeTime(sign: Sign): RangeKernel {
  const fold: Fold = {
    width: 1,
    empty: -1,
    fill: (slide, from, to) => fillPlaces(slide, from, to, sign),
    run: (slide, budget) => runPlaces(slide, budget, sign),
  };
  return (input, out, present) => slide(fold, input, out, present);
}

/** Seconds of the last of the extremes. */
export const TS_OF_MIN: RangeKernel = extremeTime(1);
export const TS_OF_MAX: RangeKernel = extremeTime(-1);
