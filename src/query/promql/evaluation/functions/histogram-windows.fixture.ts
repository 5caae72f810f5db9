/** Functions of a range of histograms and numbers, each window computed anew: what sliding folds are compared with. */
import type { Sample } from "../binary/sample-operators.ts";
import { divided, minus, plus, scaled } from "../histogram/arithmetic.ts";
import { isEqual } from "../histogram/equality.ts";
import { isReset } from "../histogram/reset.ts";
import { isCustom } from "../histogram/terms.ts";
import type { NativeHistogram } from "../series-source.ts";

/** A sample; milliseconds. A start of 0 is unknown. */
export interface Started {
  readonly time: number;
  readonly sample: Sample;
  readonly start: number;
}

/** What the samples of a window give; undefined: nothing. */
export type Plain = (window: readonly Started[], endMillis: number, rangeMillis: number) => Sample | undefined;

function isWithin(start: number, time: number): boolean {
  return start !== 0 && start < time;
}

function begins(before: Started, { time, start }: Started): boolean {
  if (!isWithin(start, time) || start < before.time) return false;
  return start > before.time || isWithin(before.start, before.time);
}

function fell(before: Sample, sample: Sample): boolean {
  if (typeof before === "number" || typeof sample === "number") return typeof before !== typeof sample || sample < before;
  return isReset(sample, before);
}

function total(a: Sample, b: Sample): Sample | undefined {
  if (typeof a === "number" || typeof b === "number") return typeof a === "number" && typeof b === "number" ? a + b : undefined;
  return plus(a, b)?.histogram;
}

function difference(a: Sample, b: Sample): Sample | undefined {
  if (typeof a === "number" || typeof b === "number") return typeof a === "number" && typeof b === "number" ? a - b : undefined;
  return minus(a, b)?.histogram;
}

function times(sample: Sample, factor: number): Sample {
  return typeof sample === "number" ? sample * factor : scaled(sample, factor);
}

function sizeOf(sample: Sample): number {
  return typeof sample === "number" ? sample : sample.count;
}

/** Whether all are numbers, or histograms with custom bounds, or others. */
function areAlike(window: readonly Started[]): boolean {
  return new Set(window.map(({ sample }) => (typeof sample === "number" ? "number" : String(isCustom(sample))))).size <= 1;
}

function changed(isCounter: boolean, isRate: boolean): Plain {
  return (window, endMillis, rangeMillis) => {
    const [first, last] = [window[0], window.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const startMillis = endMillis - rangeMillis;
    const zero = isCounter && first.start > startMillis && isWithin(first.start, first.time) ? first.start : undefined;
    if (window.length < 2 && zero === undefined) return undefined;
    const isAnew = (at: number): boolean => {
      const [before, now] = [window[at - 1], window[at]];
      return isCounter && before !== undefined && now !== undefined && (begins(before, now) || fell(before.sample, now.sample));
    };
    const cancels = zero === undefined && isAnew(1);
    const numbers = window.filter(({ sample }) => typeof sample === "number").length;
    if (numbers > 0 && numbers < window.length) return undefined;
    if (isCounter && !areAlike(cancels ? window.slice(1) : window)) return undefined;
    let change: Sample | undefined = zero === undefined && !cancels ? difference(last.sample, first.sample) : last.sample;
    for (let at = cancels ? 2 : 1; at < window.length; at++) {
      const before = window[at - 1];
      if (change !== undefined && before !== undefined && isAnew(at)) change = total(change, before.sample);
    }
    if (change === undefined) return undefined;
    const sampled = last.time - (zero ?? first.time);
    const average = window.length > 1 ? (last.time - first.time) / (window.length - 1) : 0;
    let toStart = zero === undefined ? first.time - startMillis : 0;
    if (toStart >= average * 1.1) toStart = zero === undefined ? average / 2 : 0;
    if (isCounter && sizeOf(change) > 0 && sizeOf(first.sample) >= 0)
      toStart = Math.min(toStart, sampled * (sizeOf(first.sample) / sizeOf(change)));
    const toEnd = endMillis - last.time >= average * 1.1 ? average / 2 : endMillis - last.time;
    return times(change, (sampled + toStart + toEnd) / sampled / (isRate ? rangeMillis / 1000 : 1));
  };
}

function ofLastTwo(isCounter: boolean): Plain {
  return (window) => {
    const [before, last] = window.slice(-2);
    if (before === undefined || last === undefined || typeof before.sample !== typeof last.sample) return undefined;
    const isAnew = isCounter && (begins(before, last) || fell(before.sample, last.sample));
    const change = isAnew ? last.sample : difference(last.sample, before.sample);
    return change === undefined || !isCounter ? change : times(change, 1000 / (last.time - before.time));
  };
}

function summed(isMean: boolean): Plain {
  return (window) => {
    if (window.length === 0 || new Set(window.map(({ sample }) => typeof sample)).size > 1) return undefined;
    const sum = window.map(({ sample }) => sample).reduce<Sample | undefined>((a, b) => (a === undefined ? b : joined(a, b)), undefined);
    if (sum === undefined || !areAlike(window)) return undefined;
    if (!isMean) return sum;
    return typeof sum === "number" ? sum / window.length : divided(sum, window.length);
  };
}

function joined(a: Sample, b: Sample): Sample {
  return total(a, b) ?? a;
}

function counted(isSo: (before: Started, now: Started) => boolean): Plain {
  return (window) => (window.length === 0 ? undefined : window.slice(1).filter((now, at) => isSo(window[at] ?? now, now)).length);
}

function differs({ sample: a }: Started, { sample: b }: Started): boolean {
  if (typeof a === "number" || typeof b === "number") return a !== b;
  return !isEqual(a, b);
}

/** By name of the function. */
export const PLAIN_FUNCTIONS: ReadonlyMap<string, Plain> = new Map<string, Plain>([
  ["avg_over_time", summed(true)],
  ["changes", counted(differs)],
  ["count_over_time", (window) => (window.length === 0 ? undefined : window.length)],
  ["delta", changed(false, false)],
  ["first_over_time", (window) => window[0]?.sample],
  ["idelta", ofLastTwo(false)],
  ["increase", changed(true, false)],
  ["irate", ofLastTwo(true)],
  ["last_over_time", (window) => window.at(-1)?.sample],
  ["rate", changed(true, true)],
  ["resets", counted((before, now) => begins(before, now) || fell(before.sample, now.sample))],
  ["sum_over_time", summed(false)],
]);

/** Whether two samples are the same but for the last digits. */
export function areClose(a: Sample | undefined, b: Sample | undefined): boolean {
  if (typeof a === "number" && typeof b === "number") return isClose(a, b);
  if (typeof a !== "object" || typeof b !== "object") return a === b;
  const shift = minus(a, b)?.histogram;
  if (shift === undefined || a.schema !== b.schema || a.zeroThreshold !== b.zeroThreshold) return false;
  const counts = (histogram: NativeHistogram): number[] => [
    histogram.zeroCount,
    ...[...histogram.positiveSpans, ...histogram.negativeSpans].flatMap(({ counts: all }) => [...all]),
  ];
  return (
    isClose(a.count, b.count) && isClose(a.sum, b.sum) && counts(shift).every((count) => Math.abs(count) < 1e-9 * (1 + Math.abs(a.count)))
  );
}

function isClose(a: number, b: number): boolean {
  return a === b || Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}
