/**
 * Histograms times numbers, and sums and differences of two.
 */
import type { NativeHistogram } from "../series-source.ts";
import { hintBit, hintOfBits, isCollision } from "./hints.ts";
import { add, compacted, copied, grown, multiplied, quotients } from "./kernels/spans.ts";
import { commonTerms, haveSameBounds, inTerms, isCustom } from "./terms.ts";

/** A sum or difference, and what had to be done for it. */
export interface Combined {
  readonly histogram: NativeHistogram;
  /** Custom bounds were not the same. */
  readonly wereBoundsReconciled: boolean;
  /** One is said to have been reset, the other not to have been. */
  readonly doHintsCollide: boolean;
}

/** All counts and the sum times a factor; what is negative is a gauge. */
export function scaled(histogram: NativeHistogram, factor: number): NativeHistogram {
  return {
    ...histogram,
    zeroCount: histogram.zeroCount * factor,
    count: histogram.count * factor,
    sum: histogram.sum * factor,
    positiveSpans: multiplied(histogram.positiveSpans, factor),
    negativeSpans: multiplied(histogram.negativeSpans, factor),
    resetHint: factor < 0 ? "gauge" : histogram.resetHint,
  };
}

/** All counts and the sum by a divisor; 0 leaves no buckets. */
export function divided(histogram: NativeHistogram, divisor: number): NativeHistogram {
  return {
    ...histogram,
    zeroCount: histogram.zeroCount / divisor,
    count: histogram.count / divisor,
    sum: histogram.sum / divisor,
    positiveSpans: divisor === 0 ? [] : quotients(histogram.positiveSpans, divisor),
    negativeSpans: divisor === 0 ? [] : quotients(histogram.negativeSpans, divisor),
    resetHint: divisor < 0 ? "gauge" : histogram.resetHint,
  };
}

/** Without empty buckets at the ends of spans. */
export function compact(histogram: NativeHistogram): NativeHistogram {
  const positiveSpans = compacted(histogram.positiveSpans);
  const negativeSpans = compacted(histogram.negativeSpans);
  if (positiveSpans === histogram.positiveSpans && negativeSpans === histogram.negativeSpans) return histogram;
  return { ...histogram, positiveSpans, negativeSpans };
}

function combined(a: NativeHistogram, b: NativeHistogram, factor: 1 | -1): Combined | undefined {
  const terms = commonTerms(a, b);
  if (terms === undefined) return undefined;
  const [left, right] = [inTerms(a, terms), inTerms(b, terms)];
  const side = (of: "positiveSpans" | "negativeSpans"): NativeHistogram["positiveSpans"] => {
    const wide = grown(left[of], right[of]);
    const result = wide === a[of] || wide === left[of] ? copied(wide) : wide;
    add(result, right[of], factor);
    return compacted(result);
  };
  const bits = hintBit(a) | hintBit(b);
  const histogram: NativeHistogram = {
    ...terms,
    zeroCount: left.zeroCount + factor * right.zeroCount,
    count: left.count + factor * right.count,
    sum: left.sum + factor * right.sum,
    positiveSpans: side("positiveSpans"),
    negativeSpans: side("negativeSpans"),
    resetHint: hintOfBits(bits),
  };
  return { histogram, wereBoundsReconciled: isCustom(a) && !haveSameBounds(a, b), doHintsCollide: isCollision(bits) };
}

/** The sum of two; undefined: one has custom bounds, the other has not. */
export function plus(a: NativeHistogram, b: NativeHistogram): Combined | undefined {
  return combined(a, b, 1);
}

/** The difference of two; see `plus`. */
export function minus(a: NativeHistogram, b: NativeHistogram): Combined | undefined {
  return combined(a, b, -1);
}
