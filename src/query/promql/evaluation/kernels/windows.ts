/**
 * Which samples of a series each step sees. Both ends of a window only move forward, so all steps together cost steps + samples.
 */
import type { Moments } from "../scope.ts";
import { emptySteps } from "./steps.ts";

/** By step: samples `[first, end)`. */
export interface Windows {
  readonly first: Int32Array;
  readonly end: Int32Array;
}

/** The windows `(moment - rangeMillis, moment]`. */
export function windowsOf(times: Float64Array, count: number, moments: Moments, rangeMillis: number): Windows {
  const first = new Int32Array(moments.count);
  const end = new Int32Array(moments.count);
  const { startMillis, stepMillis } = moments;
  let low = 0;
  let high = 0;
  for (let i = 0; i < first.length; i++) {
    const moment = startMillis + i * stepMillis;
    while (high < count && times[high]! <= moment) high++;
    while (low < high && times[low]! <= moment - rangeMillis) low++;
    first[i] = low;
    end[i] = high;
  }
  return { first, end };
}

/** Whether a NaN is a stale marker. Its bits are looked at where they lie: a number that was read may have lost them. */
function isStale(bits: Uint32Array, at: number): boolean {
  return bits[2 * at] === 2 && bits[2 * at + 1] === 0x7ff00000;
}

function bitsOf(values: Float64Array, count: number): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, 2 * count);
}

/** The newest sample at each moment within the look-back; a stale marker is none. @param asks for its value or its time in seconds */
export function newestSamples(
  times: Float64Array,
  values: Float64Array,
  count: number,
  moments: Moments,
  lookbackMillis: number,
  asks: "value" | "time",
): { values: Float64Array; present: Uint8Array; any: boolean } {
  const out = emptySteps(moments.count);
  const { startMillis, stepMillis } = moments;
  let bits: Uint32Array | undefined;
  let next = 0;
  let any = false;
  for (let i = 0; i < moments.count; i++) {
    const moment = startMillis + i * stepMillis;
    while (next < count && times[next]! <= moment) next++;
    if (next === 0 || times[next - 1]! <= moment - lookbackMillis) continue;
    const value = values[next - 1]!;
    if (value !== value) {
      bits ??= bitsOf(values, count);
      if (isStale(bits, next - 1)) continue;
    }
    out.values[i] = asks === "value" ? value : times[next - 1]! / 1000;
    out.present[i] = 1;
    any = true;
  }
  return { ...out, any };
}

/** The samples that are no stale markers: the arrays themselves where there are none. */
export function withoutStale(
  times: Float64Array,
  values: Float64Array,
  count: number,
): { times: Float64Array; values: Float64Array; count: number } {
  let at = 0;
  let bits: Uint32Array | undefined;
  for (; at < count; at++) {
    if (values[at] === values[at]) continue;
    bits ??= bitsOf(values, count);
    if (isStale(bits, at)) break;
  }
  if (at === count || bits === undefined) return { times, values, count };
  const keptTimes = times.slice(0, count);
  const keptValues = values.slice(0, count);
  let kept = at;
  for (; at < count; at++) {
    if (values[at] !== values[at] && isStale(bits, at)) continue;
    keptTimes[kept] = times[at]!;
    keptValues[kept++] = values[at]!;
  }
  return { times: keptTimes, values: keptValues, count: kept };
}
