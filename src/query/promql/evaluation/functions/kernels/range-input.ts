/** What a function of a range computes from: one series, and which of its samples each step sees. */
import type { Moments } from "../../scope.ts";
import type { Windows } from "../../kernels/windows.ts";

/** See the file header. */
export interface RangeInput {
  /** Milliseconds. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly count: number;
  readonly windows: Windows;
  /** Ends of the windows. */
  readonly moments: Moments;
  readonly rangeMillis: number;
  /** The step's own moments, which `@` and `offset` do not move. */
  readonly evaluation: Moments;
  /** Scalar arguments, a number a step. */
  readonly parameters: readonly Float64Array[];
}

/** Fills `out` and marks in `present` the steps that have a value. */
export type RangeKernel = (input: RangeInput, out: Float64Array, present: Uint8Array) => void;

/** Calls `value` for each step that sees at least `least` samples; undefined: no value. */
export function perWindow(
  least: number,
  value: (input: RangeInput, first: number, end: number, step: number) => number | undefined,
): RangeKernel {
  return (input, out, present) => {
    const { first, end } = input.windows;
    for (let i = 0; i < out.length; i++) {
      if (end[i]! - first[i]! < least) continue;
      const result = value(input, first[i]!, end[i]!, i);
      if (result === undefined) continue;
      out[i] = result;
      present[i] = 1;
    }
  };
}
