/** What a function of a range computes from: one series, and which of its samples each step sees. */
import { ranges, type Work } from "../../kernels/pieces.ts";
import type { Scratch } from "../../kernels/scratch.ts";
import type { Windows } from "../../kernels/windows.ts";
import type { Moments } from "../../scope.ts";

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
  /** Of this call alone. */
  readonly scratch: Scratch;
}

/** Work that fills `out` and marks in `present` the steps that have a value. */
export type RangeKernel = (input: RangeInput, out: Float64Array, present: Uint8Array) => Work;

/** Calls `value` for each step that sees at least `least` samples; undefined: no value. */
export function perWindow(least: number, value: (input: RangeInput, first: number, end: number, step: number) => number): RangeKernel {
  return (input, out, present) => {
    const { first, end } = input.windows;
    return ranges(out.length, (from, to) => {
      for (let i = from; i < to; i++) {
        if (end[i]! - first[i]! < least) continue;
        out[i] = value(input, first[i]!, end[i]!, i);
        present[i] = 1;
      }
    });
  };
}
