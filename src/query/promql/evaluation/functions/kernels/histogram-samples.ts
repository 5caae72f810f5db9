/** Histograms of a series by position, as functions of counters and of gauges see them. */
import { minus, plus, scaled } from "../../histogram/arithmetic.ts";
import { HistogramSum } from "../../histogram/sum.ts";
import { isGauge, isReset } from "../../histogram/reset.ts";
import { inTerms, isCustom } from "../../histogram/terms.ts";
import type { ObjectFold } from "../../kernels/slide-objects.ts";
import type { NativeHistogram } from "../../series-source.ts";
import type { ChangedWindow, CounterSamples } from "./counter-change.ts";

/** What functions of histograms have to tell. */
export interface HistogramNotes {
  readonly mixedSchemas: () => void;
  readonly notOfType: (wanted: "counter" | "gauge") => void;
  readonly bounds: (operation: "addition" | "subtraction" | "aggregation") => void;
  readonly hints: () => void;
}

/** Sums, or means, of samples. */
export function sumFold(histograms: readonly NativeHistogram[], isMean: boolean): ObjectFold<HistogramSum> {
  return {
    empty: () => new HistogramSum(isMean),
    push: (sum, at) => sum.add(histograms[at]!),
    merged: (left, right) => {
      const sum = left.clone();
      sum.merge(right);
      return sum;
    },
    bytes: (sum) => sum.bytes,
  };
}

/** How many of the samples before each position are so. */
export function countsBefore(histograms: readonly NativeHistogram[], isSo: (histogram: NativeHistogram) => boolean): Int32Array {
  const before = new Int32Array(histograms.length + 1);
  for (let at = 0; at < histograms.length; at++) before[at + 1] = before[at]! + (isSo(histograms[at]!) ? 1 : 0);
  return before;
}

/** Whether samples `[from, end)` have either custom bounds or not, all of them. */
export function areOfOneKind(custom: Int32Array, from: number, end: number): boolean {
  const count = custom[end]! - custom[from]!;
  return count === 0 || count === end - from;
}

/** See `CounterSamples`. */
export function histogramCounter(
  { times, starts }: { readonly times: Float64Array; readonly starts: Float64Array | undefined },
  histograms: readonly NativeHistogram[],
  isCounter: boolean,
  notes: HistogramNotes,
): CounterSamples<NativeHistogram, HistogramSum> {
  const custom = countsBefore(histograms, isCustom);
  const gauges = countsBefore(histograms, isGauge);
  const coarsest = coarsestSchemas(histograms);
  const change = ({ first, from, last }: ChangedWindow, lost: HistogramSum | undefined): NativeHistogram | undefined => {
    // The first one, too, where it cancels out: Prometheus looks at its type alone.
    const seen = first === undefined && from > 0 ? from - 1 : from;
    if (isCounter && gauges[last + 1]! > gauges[seen]!) notes.notOfType("counter");
    if (!isCounter && !(isGauge(histograms[from]!) && isGauge(histograms[last]!))) notes.notOfType("gauge");
    if (isCounter && !areOfOneKind(custom, from, last + 1)) {
      notes.mixedSchemas();
      return undefined;
    }
    let result = histograms[last]!;
    if (isCounter && !isCustom(result)) result = inTerms(result, { ...result, schema: coarsest(from, last + 1) });
    if (first !== undefined) {
      const difference = minus(result, histograms[first]!);
      if (difference === undefined) {
        notes.mixedSchemas();
        return undefined;
      }
      if (difference.wereBoundsReconciled) notes.bounds("subtraction");
      result = difference.histogram;
    }
    return withLost(result, lost, notes);
  };
  return {
    times,
    starts,
    count: histograms.length,
    isCounter,
    isReset: (at) => isReset(histograms[at]!, histograms[at - 1]!),
    fold: sumFold(histograms, false),
    change,
    scaled: (histogram, factor) => ({ ...scaled(histogram, factor), resetHint: "gauge" }),
    sizeAt: (at) => histograms[at]!.count,
    sizeOf: ({ count }) => count,
  };
}

/** The change with what was lost at resets. */
export function withLost(change: NativeHistogram, lost: HistogramSum | undefined, notes: HistogramNotes): NativeHistogram | undefined {
  if (lost === undefined) return change;
  const before = lost.result();
  const total = before && plus(change, before);
  if (total === undefined) {
    notes.mixedSchemas();
    return undefined;
  }
  if (total.wereBoundsReconciled || lost.wereBoundsReconciled) notes.bounds("addition");
  return total.histogram;
}

/** The coarsest resolution within `[from, end)`; neither may go back. */
function coarsestSchemas(histograms: readonly NativeHistogram[]): (from: number, end: number) => number {
  const schemas = Int32Array.from(histograms, ({ schema }) => schema);
  if (schemas.every((schema) => schema === schemas[0])) return () => schemas[0]!;
  // Positions of schemas that grow: the first is the coarsest one.
  const queue: number[] = [];
  let [head, taken] = [0, 0];
  return (from, end) => {
    for (; taken < end; taken++) {
      while (queue.length > head && schemas[queue.at(-1)!]! >= schemas[taken]!) queue.pop();
      queue.push(taken);
    }
    while (queue[head]! < from) head++;
    return schemas[queue[head]!]!;
  };
}
