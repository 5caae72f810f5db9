/** Hints whether a histogram began anew, as sets of those that a sum is made of. */
import type { NativeHistogram } from "../series-source.ts";

const BITS = { unknown: 1, reset: 2, "not-reset": 4, gauge: 8 } as const;
const COLLISION: number = BITS.reset | BITS["not-reset"];

/** The set of one histogram's hint. */
export function hintBit({ resetHint }: NativeHistogram): number {
  return BITS[resetHint];
}

/** The hint of a sum: a gauge makes it one, and hints that differ make it unknown. */
export function hintOfBits(bits: number): NativeHistogram["resetHint"] {
  if ((bits & BITS.gauge) !== 0) return "gauge";
  if (bits === BITS.reset) return "reset";
  return bits === BITS["not-reset"] ? "not-reset" : "unknown";
}

/** Whether some were reset and others were not. */
export function isCollision(bits: number): boolean {
  return (bits & COLLISION) === COLLISION;
}

/** A counter's histogram taken out of its series: nobody knows what stood before it. */
export function withUnknownReset(histogram: NativeHistogram): NativeHistogram {
  const { resetHint } = histogram;
  return resetHint === "gauge" || resetHint === "unknown" ? histogram : { ...histogram, resetHint: "unknown" };
}
