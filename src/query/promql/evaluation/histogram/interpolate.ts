/** Histograms on the line between two. */
import type { NativeHistogram } from "../series-source.ts";
import { minus, plus, scaled } from "./arithmetic.ts";
import { isReset } from "./reset.ts";

/**
 * The histogram at a share of the way from one to the next. A counter that began anew between them began at nothing with the first.
 * Undefined: one has custom bounds, the other has not.
 */
export function interpolated(
  before: NativeHistogram,
  after: NativeHistogram,
  share: number,
  isCounter: boolean,
): NativeHistogram | undefined {
  if (isCounter && isReset(after, before)) return scaled(after, share);
  const change = minus(after, before);
  return change === undefined ? undefined : plus(before, { ...scaled(change.histogram, share), resetHint: before.resetHint })?.histogram;
}
