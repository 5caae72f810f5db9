/** Histograms as text: what `count_values` counts by. */
import { shortNumberText } from "../../syntax/value-text.ts";
import type { NativeHistogram } from "../series-source.ts";
import { bucketsOf } from "./kernels/buckets.ts";

/** `{count:4, sum:5, [-2,-1):1, [-0.001,0.001]:1, (1,2]:2}`: buckets that are not empty, the brackets round for ends that are left out. */
export function histogramText(histogram: NativeHistogram): string {
  const parts = [`count:${shortNumberText(histogram.count)}`, `sum:${shortNumberText(histogram.sum)}`];
  for (const { lower, upper, count } of bucketsOf(histogram, false)) {
    // Ends away from 0 belong to their bucket.
    const ends = `${lower < 0 ? "[" : "("}${shortNumberText(lower)},${shortNumberText(upper)}${upper > 0 ? "]" : ")"}`;
    parts.push(`${ends}:${shortNumberText(count)}`);
  }
  return `{${parts.join(", ")}}`;
}
