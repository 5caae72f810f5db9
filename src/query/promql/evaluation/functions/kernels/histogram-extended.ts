/**
 * `anchored` and `smoothed` ranges of histograms, as `extended.ts` has them for numbers.
 */
import { minus, plus } from "../../histogram/arithmetic.ts";
import { interpolated } from "../../histogram/interpolate.ts";
import { isGauge } from "../../histogram/reset.ts";
import type { HistogramSum } from "../../histogram/sum.ts";
import { isCustom } from "../../histogram/terms.ts";
import type { FoldMemory } from "../../kernels/slide-objects.ts";
import type { Windows } from "../../kernels/windows.ts";
import type { NativeHistogram } from "../../series-source.ts";
import { type ChangeWindows, type CounterSamples, lostSums, resetsOf } from "./counter-change.ts";
import { areOfOneKind, countsBefore, type HistogramNotes, withLost } from "./histogram-samples.ts";

type HistogramCounter = CounterSamples<NativeHistogram, HistogramSum>;

/** Which samples a window looks at beyond its own: the newest one before it, the next one after it. */
export interface OuterSamples {
  readonly hasBefore: (step: number) => boolean;
  readonly hasAfter: (step: number) => boolean;
}

/** Those within the look-back. */
export function outerSamples(times: Float64Array, count: number, input: ChangeWindows, lookbackMillis: number): OuterSamples {
  const { windows, moments, rangeMillis } = input;
  const end = (step: number): number => moments.startMillis + step * moments.stepMillis;
  return {
    hasBefore: (step) => {
      const first = windows.first[step]!;
      return first > 0 && times[first - 1]! > end(step) - rangeMillis - lookbackMillis;
    },
    hasAfter: (step) => windows.end[step]! < count && times[windows.end[step]!]! <= end(step) + lookbackMillis,
  };
}

/** Windows that begin with the newest sample before them, where they have samples of their own. */
export function anchoredWindows({ first, end }: Windows, { hasBefore }: OuterSamples): Windows {
  return { first: first.map((at, step) => (end[step]! > at && hasBefore(step) ? at - 1 : at)), end };
}

/** The change of each window from its first sample, the anchor, to its last. */
export function* anchoredChanges(
  samples: HistogramCounter,
  input: ChangeWindows,
  memory: FoldMemory,
): Generator<readonly [step: number, histogram: NativeHistogram] | undefined, void> {
  const { first, end } = input.windows;
  const lost = lostSums(samples, samples.isCounter ? yield* resetsOf(samples) : undefined, input.windows, 0, memory);
  try {
    for (let i = 0; i < first.length; i++) {
      const [low, high] = [first[i]!, end[i]!];
      if (high <= low) continue;
      const value = samples.change({ first: low, from: low, last: high - 1 }, lost.at(i));
      if (value !== undefined) yield [i, perSecond(value, samples, input)];
    }
  } finally {
    lost.close();
  }
}

function perSecond(value: NativeHistogram, { scaled }: HistogramCounter, { isRate, rangeMillis }: ChangeWindows): NativeHistogram {
  return scaled(value, isRate ? 1000 / rangeMillis : 1);
}

/** The change of each window between its borders, where histograms lie on lines between those around. */
export function* smoothedChanges(
  samples: HistogramCounter,
  histograms: readonly NativeHistogram[],
  input: ChangeWindows,
  outer: OuterSamples,
  memory: FoldMemory,
  notes: HistogramNotes,
): Generator<readonly [step: number, histogram: NativeHistogram] | undefined, void> {
  const { windows, moments, rangeMillis } = input;
  const { first, end } = windows;
  const { times, isCounter } = samples;
  const [custom, gauges] = [countsBefore(histograms, isCustom), countsBefore(histograms, isGauge)];
  const resets = isCounter ? yield* resetsOf(samples) : undefined;
  const lost = lostSums(samples, resets, windows, 0, memory);
  const between = (at: number, millis: number): NativeHistogram | undefined => {
    const share = (millis - times[at - 1]!) / (times[at]! - times[at - 1]!);
    return interpolated(histograms[at - 1]!, histograms[at]!, share, isCounter);
  };
  try {
    for (let i = 0; i < first.length; i++) {
      const [low, high] = [first[i]!, end[i]!];
      const [hasBefore, hasAfter] = [outer.hasBefore(i), outer.hasAfter(i)];
      if (low === high && !(hasBefore && hasAfter)) continue;
      const [from, last] = [hasBefore ? low - 1 : low, hasAfter ? high : high - 1];
      if (isCounter && gauges[last + 1]! > gauges[from]!) notes.notOfType("counter");
      if (!isCounter && !(isGauge(histograms[from]!) && isGauge(histograms[last]!))) notes.notOfType("gauge");
      if (!areOfOneKind(custom, from, last + 1)) {
        notes.mixedSchemas();
        continue;
      }
      const border = moments.startMillis + i * moments.stepMillis;
      const left = hasBefore ? between(low, border - rangeMillis) : histograms[low]!;
      const right = hasAfter && high > 0 ? between(high, border) : histograms[high - 1]!;
      const difference = left === undefined || right === undefined ? undefined : minus(right, left);
      if (difference === undefined) continue;
      if (difference.wereBoundsReconciled) notes.bounds("subtraction");
      let change = withLost(difference.histogram, lost.at(i), notes);
      if (change !== undefined && low < high && hasAfter && resets?.[high] === 1) change = plus(change, histograms[high - 1]!)?.histogram;
      if (change !== undefined) yield [i, perSecond(change, samples, input)];
    }
  } finally {
    lost.close();
  }
}
