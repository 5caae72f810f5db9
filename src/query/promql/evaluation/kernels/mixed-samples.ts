/**
 * Samples of series that have histograms, or tell when their counting began. Series of plain numbers never come here.
 */
import { interpolated } from "../histogram/interpolate.ts";
import type { Moments, Steps } from "../scope.ts";
import type { NativeHistogram } from "../series-source.ts";
import { emptySteps, setHistogram } from "./steps.ts";
import { staleTest, type Windows } from "./windows.ts";

/** Samples by position. */
export interface MixedSamples {
  /** Milliseconds, ascending. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** What stands instead of the value; undefined: none has one. */
  readonly histograms: readonly (NativeHistogram | undefined)[] | undefined;
  /** When the counting began, milliseconds; 0: unknown. Undefined: of none. */
  readonly starts: Float64Array | undefined;
  readonly count: number;
}

/** Without stale markers. */
export function withoutStaleMixed(samples: MixedSamples): MixedSamples {
  const { count } = samples;
  const isStale = staleTest(samples.values, count);
  const times = samples.times.slice(0, count);
  const values = samples.values.slice(0, count);
  const starts = samples.starts?.slice(0, count);
  const histograms = samples.histograms?.slice(0, count);
  let kept = 0;
  for (let at = 0; at < count; at++) {
    if (isStale(at)) continue;
    times[kept] = times[at]!;
    values[kept] = values[at]!;
    if (starts !== undefined) starts[kept] = starts[at]!;
    if (histograms !== undefined) histograms[kept] = histograms[at];
    kept++;
  }
  if (histograms !== undefined) histograms.length = kept;
  return { times, values, histograms, starts, count: kept };
}

/** The windows `(moment - rangeMillis, moment]`. */
export function mixedWindows(
  { times, count }: MixedSamples,
  { startMillis, stepMillis, count: steps }: Moments,
  rangeMillis: number,
): Windows {
  const first = new Int32Array(steps);
  const end = new Int32Array(steps);
  let [low, high] = [0, 0];
  for (let i = 0; i < steps; i++) {
    const moment = startMillis + i * stepMillis;
    while (high < count && times[high]! <= moment) high++;
    while (low < high && times[low]! <= moment - rangeMillis) low++;
    first[i] = low;
    end[i] = high;
  }
  return { first, end };
}

/** What a step asks of the sample that it sees. */
export type Asked = "value" | "time" | "start";

/** The newest sample at each moment within the look-back, or its time or start in seconds. A stale marker, and a start of 0, is none. */
export function newestMixed(samples: MixedSamples, moments: Moments, lookbackMillis: number, asks: Asked): Steps {
  const { times, values, histograms, starts, count } = samples;
  const isStale = staleTest(values, count);
  const out = emptySteps(moments.count);
  let next = 0;
  for (let i = 0; i < moments.count; i++) {
    const moment = moments.startMillis + i * moments.stepMillis;
    while (next < count && times[next]! <= moment) next++;
    const at = next - 1;
    if (next === 0 || times[at]! <= moment - lookbackMillis || isStale(at)) continue;
    const histogram = histograms?.[at];
    if (asks === "start") {
      if ((starts?.[at] ?? 0) === 0) continue;
      out.values[i] = starts![at]! / 1000;
    } else if (asks === "time") out.values[i] = times[at]! / 1000;
    else if (histogram === undefined) out.values[i] = values[at]!;
    else setHistogram(out, i, histogram);
    out.present[i] = 1;
  }
  return out;
}

/** Why two neighbouring samples have no line between them. */
export type LineProblem = "number-and-histogram" | "exponential-and-custom";

/** A sample at each moment, on the line between those around it; the last one where none follows. */
export class MixedLine {
  readonly out: Steps;
  private readonly samples: MixedSamples;
  private readonly moments: Moments;
  private readonly lookbackMillis: number;
  private next = 0;

  constructor(samples: MixedSamples, moments: Moments, lookbackMillis: number) {
    this.samples = samples;
    this.moments = moments;
    this.lookbackMillis = lookbackMillis;
    this.out = emptySteps(moments.count);
  }

  /** Puts the sample of a step; steps may only grow. Why there is none, where samples are around it. */
  put(step: number): LineProblem | undefined {
    const { moments, lookbackMillis } = this;
    const { times, count } = this.samples;
    const moment = moments.startMillis + step * moments.stepMillis;
    while (this.next < count && times[this.next]! <= moment) this.next++;
    const [at, next] = [this.next - 1, this.next];
    if (next === 0 || times[at]! <= moment - lookbackMillis) return undefined;
    const before = this.sampleAt(at);
    if (times[at] === moment || next >= count || times[next]! > moment + lookbackMillis) return this.take(step, before);
    const after = this.sampleAt(next);
    const share = (moment - times[at]!) / (times[next]! - times[at]!);
    if (typeof before === "number" && typeof after === "number") return this.take(step, before + (after - before) * share);
    if (typeof before === "number" || typeof after === "number") return "number-and-histogram";
    const between = interpolated(before, after, share, before.resetHint !== "gauge");
    return between === undefined ? "exponential-and-custom" : this.take(step, between);
  }

  private sampleAt(at: number): number | NativeHistogram {
    return this.samples.histograms?.[at] ?? this.samples.values[at]!;
  }

  private take(step: number, sample: number | NativeHistogram): undefined {
    if (typeof sample === "object") setHistogram(this.out, step, sample);
    else {
      this.out.values[step] = sample;
      this.out.present[step] = 1;
    }
  }
}

/** The samples of `(afterMillis, lastMillis]`. */
export function mixedSamplesIn(samples: MixedSamples, afterMillis: number, lastMillis: number): MixedSamples {
  const { times, values, histograms, starts, count } = samples;
  let first = 0;
  while (first < count && times[first]! <= afterMillis) first++;
  let end = first;
  while (end < count && times[end]! <= lastMillis) end++;
  return {
    times: times.subarray(first, end),
    values: values.subarray(first, end),
    histograms: histograms?.slice(first, end),
    starts: starts?.subarray(first, end),
    count: end - first,
  };
}
