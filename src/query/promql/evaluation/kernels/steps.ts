/**
 * Loops over the steps of a series.
 */
import type { StepSeries } from "../scope.ts";

/** An empty series' arrays. */
export function emptySteps(count: number): { values: Float64Array; present: Uint8Array } {
  return { values: new Float64Array(count), present: new Uint8Array(count) };
}

/** Adds the steps of `other` to `series`. False when both have a value at one step. */
export function mergeInto(series: StepSeries, other: StepSeries): boolean {
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

/** Changes each value. */
export function mapValues(series: StepSeries, map: (value: number, step: number) => number): void {
  const { values, present } = series;
  for (let i = 0; i < values.length; i++) if (present[i] === 1) values[i] = map(values[i]!, i);
}

/** Keeps the values of which `keep` is true. */
export function filterValues(series: StepSeries, keep: (value: number, step: number) => boolean): void {
  const { values, present } = series;
  for (let i = 0; i < values.length; i++) if (present[i] === 1 && !keep(values[i]!, i)) present[i] = 0;
}

/** Marks in `present` the steps at which a series has a value. */
export function unitePresent(present: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < present.length; i++) if (other[i] === 1) present[i] = 1;
}

/** Takes the steps away at which `other` has a value, or has none. */
export function cutPresent(present: Uint8Array, other: Uint8Array | undefined, where: 0 | 1): void {
  for (let i = 0; i < present.length; i++) if ((other === undefined ? 0 : other[i]) === where) present[i] = 0;
}

/** A number a step, by its number. */
export function filledSteps(count: number, value: (step: number) => number): Float64Array {
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = value(i);
  return out;
}

/** One number combined of two a step. */
export function zipped(left: Float64Array, right: Float64Array, combine: (a: number, b: number) => number): Float64Array {
  const out = new Float64Array(left.length);
  for (let i = 0; i < out.length; i++) out[i] = combine(left[i]!, right[i]!);
  return out;
}

/** The number of a step; `step` must be one. */
export function valueAt(values: Float64Array, step: number): number {
  return values[step]!;
}

/** The only values of steps at which one series has any; NaN elsewhere. @param seen series with a value, by step */
export function addToScalar(out: Float64Array, seen: Uint8Array, series: StepSeries): void {
  for (let i = 0; i < out.length; i++) {
    if (series.present[i] === 0) continue;
    out[i] = seen[i] === 0 ? series.values[i]! : Number.NaN;
    seen[i] = 1;
  }
}

/** The moments and values of the steps that have one. */
export function samplesOf(
  series: StepSeries,
  startMillis: number,
  stepMillis: number,
): { times: Float64Array; values: Float64Array; count: number } {
  const { values, present } = series;
  const times = new Float64Array(values.length);
  const kept = new Float64Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (present[i] === 0) continue;
    times[count] = startMillis + i * stepMillis;
    kept[count++] = values[i]!;
  }
  return { times, values: kept, count };
}
