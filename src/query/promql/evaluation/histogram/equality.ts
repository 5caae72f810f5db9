/** Whether two histograms are the same. */
import type { NativeHistogram } from "../series-source.ts";
import { areEqual, isSame } from "./kernels/spans.ts";
import { haveSameBounds } from "./terms.ts";

/** By layout, counts and sum; empty buckets and hints are nothing. A NaN is like a NaN. */
export function isEqual(a: NativeHistogram, b: NativeHistogram): boolean {
  if (a === b) return true;
  return (
    a.schema === b.schema &&
    isSame(a.count, b.count) &&
    isSame(a.sum, b.sum) &&
    a.zeroThreshold === b.zeroThreshold &&
    isSame(a.zeroCount, b.zeroCount) &&
    haveSameBounds(a, b) &&
    areEqual(a.positiveSpans, b.positiveSpans) &&
    areEqual(a.negativeSpans, b.negativeSpans)
  );
}
