/**
 * `sum_over_time`, `avg_over_time`, and the sums that rates need: compensated (Neumaier 1974), so that no window loses digits to the size
 * of a value.
 */
import { ranges, sequence } from "../../kernels/pieces.ts";
import type { RangeKernel } from "./range-input.ts";
import { type Fold, type Slide, slide } from "./sliding.ts";

/** State: the sum and what it lost; both together are the result. */
function fill({ values, suffixes, base }: Slide, from: number, to: number): void {
  let place = 2 * (to - base);
  let sum = suffixes[place]!;
  let lost = suffixes[place + 1]!;
  for (let at = to - 1; at >= from; at--) {
    const value = values[at]!;
    const next = sum + value;
    if (next - next !== 0) lost = 0;
    else if (Math.abs(sum) >= Math.abs(value)) lost += sum - next + value;
    else lost += value - next + sum;
    sum = next;
    place -= 2;
    suffixes[place] = sum;
    suffixes[place + 1] = lost;
  }
}

function run(slide: Slide, budget: number, isMean: boolean): number {
  const { values, first, end, steps, out, present, suffixes, base, pivot, running } = slide;
  let sum = running[0]!;
  let lost = running[1]!;
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
      const next = sum + value;
      if (next - next !== 0) lost = 0;
      else if (Math.abs(sum) >= Math.abs(value)) lost += sum - next + value;
      else lost += value - next + sum;
      sum = next;
    }
    if (folded < high) break;
    const place = 2 * (low - base);
    const left = suffixes[place]!;
    const all = left + sum;
    let rest = suffixes[place + 1]! + lost;
    if (all - all !== 0) rest = 0;
    else if (Math.abs(left) >= Math.abs(sum)) rest += left - all + sum;
    else rest += sum - all + left;
    out[step] = isMean ? all / (high - low) + rest / (high - low) : all + rest;
    present[step] = 1;
  }
  running[0] = sum;
  running[1] = lost;
  slide.folded = folded;
  slide.step = step;
  return done;
}

/** Sums. */
export const SUMS: Fold = { width: 2, empty: 0, fill, run: (slide, budget) => run(slide, budget, false) };
const MEANS: Fold = { width: 2, empty: 0, fill, run: (slide, budget) => run(slide, budget, true) };

/** Sums. */
export const SUM_OVER_TIME: RangeKernel = (input, out, present) => slide(SUMS, input, out, present);

/** A power of two by which the largest numbers are made small enough for their sums. */
const SCALE = 2 ** -64;

/** The mean, also where the sum is beyond the largest number. */
export const AVG_OVER_TIME: RangeKernel = (input, out, present) => {
  const { values, count, scratch } = input;
  let isBeyond = false;
  const means = (): Float64Array => scratch.float64("means", out.length).subarray(0, out.length);
  const scaled = (): Float64Array => scratch.float64("scaled", count);
  return sequence(
    () => slide(MEANS, input, out, present),
    () => ranges(out.length, (from, to) => void (isBeyond ||= hasNonFinite(out, from, to))),
    // A sum was too large, or a value is no finite number: what is scaled and back is the same then.
    () => (isBeyond ? ranges(count, (from, to) => scale(values, scaled(), from, to)) : undefined),
    () => (isBeyond ? slide(MEANS, { ...input, values: scaled() }, means(), present) : undefined),
    () => (isBeyond ? ranges(out.length, (from, to) => putMeans(means(), out, from, to)) : undefined),
  );
};

function hasNonFinite(values: Float64Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (values[i]! - values[i]! !== 0) return true;
  return false;
}

function scale(values: Float64Array, scaled: Float64Array, from: number, to: number): void {
  for (let at = from; at < to; at++) scaled[at] = values[at]! * SCALE;
}

function putMeans(means: Float64Array, out: Float64Array, from: number, to: number): void {
  for (let i = from; i < to; i++) if (out[i]! - out[i]! !== 0) out[i] = means[i]! / SCALE;
}
