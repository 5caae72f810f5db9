/**
 * Ranges that are `anchored` or `smoothed`: changes between the very borders of a window, without extrapolation.
 *
 * An anchored window begins with the newest sample at or before its border; a smoothed one has values at both borders that lie on the lines
 * between the samples around them. A counter that falls between two samples began at 0 with the first of them.
 */
import type { RangeInput, RangeKernel } from "./range-input.ts";
import { CHANGES, fallenBefore, RESETS } from "./rate.ts";

/** `input` with windows that take in the newest sample before them, where it is no older than the look-back. */
function anchored(input: RangeInput, lookbackMillis: number): RangeInput {
  const { times, windows, moments, rangeMillis } = input;
  const first = windows.first.map((at, step) => {
    const border = moments.startMillis + step * moments.stepMillis - rangeMillis;
    return at > 0 && windows.end[step]! > at && times[at - 1]! > border - lookbackMillis ? at - 1 : at;
  });
  return { ...input, windows: { first, end: windows.end } };
}

function anchoredChange(isCounter: boolean, isRate: boolean, lookbackMillis: number): RangeKernel {
  return (plain, out, present) => {
    const input = anchored(plain, lookbackMillis);
    const { values, windows, rangeMillis } = input;
    const lost = isCounter ? fallenBefore(input) : undefined;
    for (let i = 0; i < out.length; i++) {
      if (windows.end[i]! <= windows.first[i]!) continue;
      const change = values[windows.end[i]! - 1]! - values[windows.first[i]!]! + (lost?.[i] ?? 0);
      out[i] = isRate ? change / (rangeMillis / 1000) : change;
      present[i] = 1;
    }
  };
}

/** The value at a moment on the line from sample `at - 1` to sample `at`. */
function between({ times, values }: Pick<RangeInput, "times" | "values">, at: number, millis: number, isCounter: boolean): number {
  const [before, after] = [values[at - 1]!, values[at]!];
  const share = (millis - times[at - 1]!) / (times[at]! - times[at - 1]!);
  const start = isCounter && after < before ? 0 : before;
  return start + (after - start) * share;
}

function smoothedChange(isCounter: boolean, isRate: boolean, lookbackMillis: number): RangeKernel {
  return (input, out, present) => {
    const { times, values, count, windows, moments, rangeMillis } = input;
    const lost = isCounter ? fallenBefore(input) : undefined;
    for (let i = 0; i < out.length; i++) {
      const [first, end] = [windows.first[i]!, windows.end[i]!];
      const windowEnd = moments.startMillis + i * moments.stepMillis;
      const windowStart = windowEnd - rangeMillis;
      const hasBefore = first > 0 && times[first - 1]! > windowStart - lookbackMillis;
      const hasAfter = end < count && times[end]! <= windowEnd + lookbackMillis;
      if (first === end && !(hasBefore && hasAfter)) continue;
      const left = hasBefore ? between(input, first, windowStart, isCounter) : values[first]!;
      const right = hasAfter && end > 0 ? between(input, end, windowEnd, isCounter) : values[end - 1]!;
      let change = right - left + (lost?.[i] ?? 0);
      if (isCounter && first < end && right < values[end - 1]!) change += values[end - 1]!;
      out[i] = isRate ? change / (rangeMillis / 1000) : change;
      present[i] = 1;
    }
  };
}

/** The kernel of a function of an extended range; undefined: it takes none. */
export function extendedKernel(name: string, mode: "anchored" | "smoothed", lookbackMillis: number): RangeKernel | undefined {
  const change = mode === "anchored" ? anchoredChange : smoothedChange;
  switch (name) {
    case "delta":
      return change(false, false, lookbackMillis);
    case "increase":
      return change(true, false, lookbackMillis);
    case "rate":
      return change(true, true, lookbackMillis);
    case "changes":
    case "resets": {
      if (mode === "smoothed") return undefined;
      const kernel = name === "changes" ? CHANGES : RESETS;
      return (input, out, present) => kernel(anchored(input, lookbackMillis), out, present);
    }
    default:
      return undefined;
  }
}

/** A value at each moment, on the line between the samples around it; the last one where none follows. */
export function smoothedValues(
  samples: Pick<RangeInput, "times" | "values" | "count">,
  { startMillis, stepMillis, count: steps }: RangeInput["moments"],
  lookbackMillis: number,
): { values: Float64Array; present: Uint8Array; any: boolean } {
  const { times, values, count } = samples;
  const out = new Float64Array(steps);
  const present = new Uint8Array(steps);
  let next = 0;
  for (let i = 0; i < steps; i++) {
    const moment = startMillis + i * stepMillis;
    while (next < count && times[next]! <= moment) next++;
    if (next === 0 || times[next - 1]! <= moment - lookbackMillis) continue;
    const hasAfter = next < count && times[next]! <= moment + lookbackMillis;
    out[i] = hasAfter ? between(samples, next, moment, false) : values[next - 1]!;
    present[i] = 1;
  }
  return { values: out, present, any: present.includes(1) };
}
