/** The numbers and the histograms of a series apart, and which of them a window has. */
import type { MixedSamples } from "../../kernels/mixed-samples.ts";
import type { Windows } from "../../kernels/windows.ts";
import type { NativeHistogram } from "../../series-source.ts";

/** See the file header. */
export interface SplitSamples {
  readonly numbers: Omit<MixedSamples, "histograms">;
  readonly histograms: readonly NativeHistogram[];
  readonly histogramTimes: { readonly times: Float64Array; readonly starts: Float64Array | undefined };
  /** Windows of all samples as windows of numbers. */
  readonly numberWindows: (windows: Windows) => Windows;
  /** The same of histograms; without the windows of `seen` that have numbers. */
  readonly histogramWindows: (windows: Windows, seen?: Windows) => Windows;
  readonly hasNumbers: (windows: Windows, step: number) => boolean;
  readonly hasHistograms: (windows: Windows, step: number) => boolean;
}

/** Splits the samples of a series. */
export function splitSamples({ times, values, histograms, starts, count }: MixedSamples): SplitSamples {
  const numbersBefore = new Int32Array(count + 1);
  for (let at = 0; at < count; at++) numbersBefore[at + 1] = numbersBefore[at]! + (histograms?.[at] === undefined ? 1 : 0);
  const isNumber = (_: number, at: number): boolean => at < count && histograms?.[at] === undefined;
  const isHistogram = (_: number, at: number): boolean => at < count && histograms?.[at] !== undefined;
  const hasNumbers = ({ first, end }: Windows, step: number): boolean => numbersBefore[end[step]!]! > numbersBefore[first[step]!]!;
  const hasHistograms = ({ first, end }: Windows, step: number): boolean =>
    end[step]! - first[step]! > numbersBefore[end[step]!]! - numbersBefore[first[step]!]!;
  const histogramsBefore = (at: number): number => at - numbersBefore[at]!;
  return {
    numbers: {
      times: times.filter(isNumber),
      values: values.filter(isNumber),
      starts: starts?.filter(isNumber),
      count: numbersBefore[count]!,
    },
    histograms: (histograms ?? []).filter((histogram) => histogram !== undefined),
    histogramTimes: { times: times.filter(isHistogram), starts: starts?.filter(isHistogram) },
    numberWindows: ({ first, end }) => ({ first: first.map((at) => numbersBefore[at]!), end: end.map((at) => numbersBefore[at]!) }),
    histogramWindows: ({ first, end }, seen) => ({
      first: first.map(histogramsBefore),
      end: end.map((at, step) => histogramsBefore(seen !== undefined && hasNumbers(seen, step) ? first[step]! : at)),
    }),
    hasNumbers,
    hasHistograms,
  };
}

/** Calls `take` with how many samples of each window, but its first, are so with the one before them; windows of no sample are left out. */
export function countNeighbours(so: Uint8Array, { first, end }: Windows, take: (step: number, count: number) => void): void {
  const before = new Int32Array(so.length + 1);
  for (let at = 0; at < so.length; at++) before[at + 1] = before[at]! + so[at]!;
  for (let i = 0; i < first.length; i++) if (end[i]! > first[i]!) take(i, before[end[i]!]! - before[first[i]! + 1]!);
}
