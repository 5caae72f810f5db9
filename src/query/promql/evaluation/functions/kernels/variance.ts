/**
 * `stddev_over_time`, `stdvar_over_time`: means moved by each sample (Welford 1962) and merged as Chan, Golub and LeVeque (1979) do, so
 * that no digits are lost to the size of the mean. How many samples a state has follows from its place.
 */
import type { RangeKernel } from "./range-input.ts";
import { type Fold, type Slide, slide } from "./sliding.ts";

/** State: mean, sum of squared deviations. Reciprocals of counts depend on no sample, and so are ready before they are needed. */
function fill({ values, suffixes, base, pivot }: Slide, from: number, to: number): void {
  let place = 2 * (to - base);
  let mean = suffixes[place]!;
  let squares = suffixes[place + 1]!;
  for (let at = to - 1; at >= from; at--) {
    const value = values[at]!;
    const delta = value - mean;
    mean += delta * (1 / (pivot - at));
    squares += delta * (value - mean);
    place -= 2;
    suffixes[place] = mean;
    suffixes[place + 1] = squares;
  }
}

function run(slide: Slide, budget: number, isRoot: boolean): number {
  const { values, first, end, steps, out, present, suffixes, base, pivot, running } = slide;
  let mean = running[0]!;
  let squares = running[1]!;
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
      const delta = value - mean;
      mean += delta * (1 / (folded + 1 - pivot));
      squares += delta * (value - mean);
    }
    if (folded < high) break;
    const place = 2 * (low - base);
    let all = suffixes[place + 1]!;
    if (high > pivot) {
      const delta = mean - suffixes[place]!;
      all += squares + (delta * delta * (pivot - low) * (high - pivot)) / (high - low);
    }
    const variance = all / (high - low);
    out[step] = isRoot ? Math.sqrt(variance) : variance;
    present[step] = 1;
  }
  running[0] = mean;
  running[1] = squares;
  slide.folded = folded;
  slide.step = step;
  return done;
}

function deviation(isRoot: boolean): RangeKernel {
  const fold: Fold = { width: 2, empty: 0, fill, run: (slide, budget) => run(slide, budget, isRoot) };
  return (input, out, present) => slide(fold, input, out, present);
}

/** Population variance. */
export const STDVAR_OVER_TIME: RangeKernel = deviation(false);
/** Its root. */
export const STDDEV_OVER_TIME: RangeKernel = deviation(true);
