/**
 * Loops over the steps of a series.
 */
import type { StepHistograms, Steps, StepSeries } from "../scope.ts";
import type { NativeHistogram } from "../series-source.ts";
import { ranges, type Work } from "./pieces.ts";
import type { Windows } from "./windows.ts";

/** An empty series' arrays. */
export function emptySteps(count: number): Steps {
  return { values: new Float64Array(count), present: new Uint8Array(count), histograms: undefined };
}

/** Whether any step has something. */
export function hasStep(present: Uint8Array): boolean {
  for (let i = 0; i < present.length; i++) if (present[i] === 1) return true;
  return false;
}

/** Whether every step has something. A loop of its own: `includes` takes 700 ns for 240 steps, this 90. */
export function hasAllSteps(present: Uint8Array): boolean {
  let all = 1;
  for (let i = 0; i < present.length; i++) all &= present[i]!;
  return all === 1;
}

/** Gives a step a histogram instead of a value. */
export function setHistogram(steps: Steps, step: number, histogram: NativeHistogram): void {
  steps.histograms ??= new Array<undefined>(steps.present.length).fill(undefined);
  steps.histograms[step] = histogram;
  steps.present[step] = 1;
}

/** Gives a step of `to` what a step of `from` has, a value or a histogram. */
export function copyStep(from: Steps, to: Steps, step: number): void {
  const histogram = from.histograms?.[step];
  if (histogram !== undefined) setHistogram(to, step, histogram);
  else {
    if (to.histograms !== undefined) to.histograms[step] = undefined;
    to.values[step] = from.values[step]!;
    to.present[step] = 1;
  }
}

/** Takes the steps that are histograms away. How many there were. */
export function dropHistograms(series: Steps): number {
  const { histograms, present } = series;
  if (histograms === undefined) return 0;
  let dropped = 0;
  for (let i = 0; i < present.length; i++) {
    if (present[i] === 0 || histograms[i] === undefined) continue;
    present[i] = 0;
    dropped++;
  }
  series.histograms = undefined;
  return dropped;
}

/** Whether any step has a number. */
export function hasNumbers({ present, histograms }: Steps): boolean {
  if (histograms === undefined) return hasStep(present);
  for (let i = 0; i < present.length; i++) if (present[i] === 1 && histograms[i] === undefined) return true;
  return false;
}

/** Adds the steps of `other` to `series`. False when both have a value at one step. */
export function mergeInto(series: Steps, other: Steps): boolean {
  if (series.histograms !== undefined || other.histograms !== undefined) return mergeSteps(series, other);
  const { values, present } = series;
  const { values: otherValues, present: otherPresent } = other;
  for (let i = 0; i < present.length; i++) {
    if (otherPresent[i] === 0) continue;
    if (present[i] === 1) return false;
    present[i] = 1;
    values[i] = otherValues[i]!;
  }
  return true;
}

function mergeSteps(series: Steps, other: Steps): boolean {
  const { present } = series;
  for (let i = 0; i < present.length; i++) {
    if (other.present[i] === 0) continue;
    if (present[i] === 1) return false;
    copyStep(other, series, i);
  }
  return true;
}

/** Changes each value; histograms stay. */
export function mapValues({ values, present }: Steps, map: (value: number, step: number) => number, from: number, to: number): void {
  for (let i = from; i < to; i++) if (present[i] === 1) values[i] = map(values[i]!, i);
}

/** Keeps the values of which `keep` is true. Of histograms it is asked, too. */
export function filterValues({ values, present }: Steps, keep: (value: number, step: number) => boolean, from: number, to: number): void {
  for (let i = from; i < to; i++) if (present[i] === 1 && !keep(values[i]!, i)) present[i] = 0;
}

/** Marks in `present` the steps at which a series has a value. */
export function unitePresent(present: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < present.length; i++) if (other[i] === 1) present[i] = 1;
}

/** Marks the steps whose window has a sample. */
export function markSeen(present: Uint8Array, { first, end }: Windows): void {
  for (let i = 0; i < present.length; i++) if (end[i]! > first[i]!) present[i] = 1;
}

/** Takes the steps away at which `other` has a value, or has none. */
export function cutPresent(present: Uint8Array, other: Uint8Array | undefined, where: 0 | 1): void {
  for (let i = 0; i < present.length; i++) if ((other === undefined ? 0 : other[i]) === where) present[i] = 0;
}

/** A number a step, by its number. */
export function fillSteps(out: Float64Array, value: (step: number) => number, from: number, to: number): void {
  for (let i = from; i < to; i++) out[i] = value(i);
}

/** One number combined of two a step, into the left ones. */
export function zipInto(
  left: Float64Array,
  right: Float64Array,
  combine: (a: number, b: number) => number,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) left[i] = combine(left[i]!, right[i]!);
}

/** The number of a step; `step` must be one. */
export function valueAt(values: Float64Array, step: number): number {
  return values[step]!;
}

/** The only values of steps at which one series has any; NaN elsewhere. @param seen series with a value, by step */
export function addToScalar(out: Float64Array, seen: Uint8Array, series: StepSeries): void {
  for (let i = 0; i < out.length; i++) {
    if (series.present[i] === 0 || series.histograms?.[i] !== undefined) continue;
    out[i] = seen[i] === 0 ? series.values[i]! : Number.NaN;
    seen[i] = 1;
  }
}

/** The moments and samples of the steps that have one, found by `work`. */
export class StepSamples {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly histograms: StepHistograms;
  count = 0;
  readonly work: Work;

  constructor({ values, present, histograms }: Steps, startMillis: number, stepMillis: number) {
    this.times = new Float64Array(values.length);
    this.values = new Float64Array(values.length);
    this.histograms = histograms?.filter((_, step) => present[step] === 1);
    this.work = ranges(values.length, (from, to) => {
      let { count } = this;
      for (let i = from; i < to; i++) {
        if (present[i] === 0) continue;
        this.times[count] = startMillis + i * stepMillis;
        this.values[count++] = values[i]!;
      }
      this.count = count;
    });
  }
}
