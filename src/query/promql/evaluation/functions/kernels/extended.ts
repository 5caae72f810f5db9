/**
 * Ranges that are `anchored` or `smoothed`: changes between the very borders of a window, without extrapolation.
 *
 * An anchored window begins with the newest sample at or before its border; a smoothed one has values at both borders that lie on the lines
 * between the samples around them. A counter that falls between two samples began at 0 with the first of them.
 */
import { ranges, sequence, type Work } from "../../kernels/pieces.ts";
import { firstAfter } from "../../kernels/windows.ts";
import { CHANGES, Fallen, NOTHING, RESETS } from "./falls.ts";
import type { RangeInput, RangeKernel } from "./range-input.ts";

/** `input` with windows that take in the newest sample before them, where it is no older than the look-back. */
function anchored(input: RangeInput, lookbackMillis: number): { readonly input: RangeInput; readonly work: Work } {
  const { times, windows, moments, rangeMillis, scratch } = input;
  const steps = windows.first.length;
  const first = scratch.int32("anchored", steps).subarray(0, steps);
  const work = ranges(steps, (from, to) => {
    for (let step = from; step < to; step++) {
      const at = windows.first[step]!;
      const border = moments.startMillis + step * moments.stepMillis - rangeMillis;
      const takesBefore = at > 0 && windows.end[step]! > at && times[at - 1]! > border - lookbackMillis;
      first[step] = takesBefore ? at - 1 : at;
    }
  });
  return { input: { ...input, windows: { first, end: windows.end } }, work };
}

function anchoredChange(isCounter: boolean, isRate: boolean, lookbackMillis: number): RangeKernel {
  return (plain, out, present) => {
    const { input, work } = anchored(plain, lookbackMillis);
    const { values, windows, rangeMillis } = input;
    const fallen = isCounter ? new Fallen(input, present) : undefined;
    return sequence(
      () => work,
      () => fallen?.work,
      () =>
        ranges(out.length, (from, to) => {
          const lost = fallen?.lost ?? NOTHING;
          for (let i = from; i < to; i++) {
            if (windows.end[i]! <= windows.first[i]!) continue;
            const change = values[windows.end[i]! - 1]! - values[windows.first[i]!]! + (lost[i] ?? 0);
            out[i] = isRate ? change / (rangeMillis / 1000) : change;
            present[i] = 1;
          }
        }),
    );
  };
}

/** The value at a moment on the line from sample `at - 1` to sample `at`. */
function between({ times, values }: Pick<RangeInput, "times" | "values">, at: number, millis: number, isCounter: boolean): number {
  const before = values[at - 1]!;
  const after = values[at]!;
  const share = (millis - times[at - 1]!) / (times[at]! - times[at - 1]!);
  const start = isCounter && after < before ? 0 : before;
  return start + (after - start) * share;
}

function smoothedChange(isCounter: boolean, isRate: boolean, lookbackMillis: number): RangeKernel {
  return (input, out, present) => {
    const { rangeMillis } = input;
    const fallen = isCounter ? new Fallen(input, present) : undefined;
    return sequence(
      () => fallen?.work,
      () =>
        ranges(out.length, (from, to) => {
          for (let i = from; i < to; i++) {
            const change = smoothedAt(input, i, fallen?.lost[i] ?? 0, isCounter, lookbackMillis);
            if (change === undefined) continue;
            out[i] = isRate ? change / (rangeMillis / 1000) : change;
            present[i] = 1;
          }
        }),
    );
  };
}

/** The change over the window of a step; undefined: there are no samples for it. */
function smoothedAt(input: RangeInput, step: number, lost: number, isCounter: boolean, lookbackMillis: number): number | undefined {
  const { times, values, count, windows, moments, rangeMillis } = input;
  const first = windows.first[step]!;
  const end = windows.end[step]!;
  const windowEnd = moments.startMillis + step * moments.stepMillis;
  const windowStart = windowEnd - rangeMillis;
  const hasBefore = first > 0 && times[first - 1]! > windowStart - lookbackMillis;
  const hasAfter = end < count && times[end]! <= windowEnd + lookbackMillis;
  if (first === end && !(hasBefore && hasAfter)) return undefined;
  const left = hasBefore ? between(input, first, windowStart, isCounter) : values[first]!;
  const right = hasAfter && end > 0 ? between(input, end, windowEnd, isCounter) : values[end - 1]!;
  const change = right - left + lost;
  return isCounter && first < end && right < values[end - 1]! ? change + values[end - 1]! : change;
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
      return (plain, out, present) => {
        const { input, work } = anchored(plain, lookbackMillis);
        return sequence(
          () => work,
          () => kernel(input, out, present),
        );
      };
    }
    default:
      return undefined;
  }
}

/** A value at each moment, on the line between the samples around it; the last one where none follows. */
export function smoothedValues(
  samples: Pick<RangeInput, "times" | "values" | "count">,
  { startMillis, stepMillis }: RangeInput["moments"],
  lookbackMillis: number,
  out: Float64Array,
  present: Uint8Array,
): Work {
  const { times, values, count } = samples;
  let next = 0;
  return ranges(out.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const moment = startMillis + i * stepMillis;
      next = firstAfter(times, next, count, moment);
      if (next === 0 || times[next - 1]! <= moment - lookbackMillis) continue;
      const hasAfter = next < count && times[next]! <= moment + lookbackMillis;
      out[i] = hasAfter ? between(samples, next, moment, false) : values[next - 1]!;
      present[i] = 1;
    }
  });
}
