/**
 * Whether a counter began anew between two histograms: its hint says so, or any count fell.
 */
import type { NativeHistogram } from "../series-source.ts";
import { isAnyBelow } from "./kernels/spans.ts";
import { commonTerms, haveSameBounds, inTerms, isCustom, widenedThreshold } from "./terms.ts";

/** Whether `histogram` does not go on with `previous`. A finer resolution and a narrower zero bucket come with a reset alone. */
export function isReset(histogram: NativeHistogram, previous: NativeHistogram): boolean {
  if (histogram.resetHint === "reset") return true;
  if (histogram.resetHint === "not-reset") return false;
  if (histogram.count < previous.count) return true;
  if (isCustom(histogram) !== isCustom(previous)) return true;
  if (isCustom(histogram)) {
    if (haveSameBounds(histogram, previous)) return isAnyBelow(histogram.positiveSpans, previous.positiveSpans);
    const terms = commonTerms(histogram, previous) ?? histogram;
    return isAnyBelow(inTerms(histogram, terms).positiveSpans, inTerms(previous, terms).positiveSpans);
  }
  const { schema, zeroThreshold } = histogram;
  if (schema > previous.schema || zeroThreshold < previous.zeroThreshold) return true;
  if (widenedThreshold(previous, zeroThreshold) !== zeroThreshold) return true;
  const before = inTerms(previous, histogram);
  if (histogram.zeroCount < before.zeroCount) return true;
  return isAnyBelow(histogram.positiveSpans, before.positiveSpans) || isAnyBelow(histogram.negativeSpans, before.negativeSpans);
}

/** Whether a hint makes a histogram none of a counter. */
export function isGauge({ resetHint }: NativeHistogram): boolean {
  return resetHint === "gauge";
}
