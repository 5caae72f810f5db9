/** How often each value is there, step by step. */
import type { Steps } from "../../scope.ts";
import type { NativeHistogram } from "../../series-source.ts";

/** Adds one to the count of each value that a series has at `[from, to)`, and makes its counts where there are none. */
export function countValues(series: Steps, countsOf: (value: number | NativeHistogram) => Steps, from: number, to: number): void {
  let last: Steps | undefined;
  let lastValue: number | NativeHistogram = 0;
  for (let i = from; i < to; i++) {
    if (series.present[i] === 0) continue;
    const value = series.histograms?.[i] ?? series.values[i]!;
    if (last === undefined || !Object.is(value, lastValue)) last = countsOf(value);
    lastValue = value;
    last.values[i]!++;
    last.present[i] = 1;
  }
}
