/**
 * `integral`: the area below the samples of a window, value by second.
 *
 * Between two samples the value is the first one's (strategy 0), the second one's (1), or lies on the line between them (2).
 */
import { ranges, sequence } from "../../kernels/pieces.ts";
import type { RangeKernel } from "./range-input.ts";
import { SUM_OVER_TIME } from "./sums.ts";

/** How the value runs from one sample to the next: the part of the first one in their mean. */
const PART_OF_FIRST: readonly number[] = [1, 0, 0.5];
/** The strategy of a call that names none. */
const DEFAULT_STRATEGY = 2;

/** Whether a number is a strategy. */
export function isStrategy(value: number): boolean {
  return PART_OF_FIRST[value] !== undefined;
}

/** Of windows with two samples at least. Parameter: the strategy, at all steps the same. */
export const INTEGRAL: RangeKernel = (input, out, present) => {
  const { times, values, count, windows, parameters, scratch } = input;
  const part = PART_OF_FIRST[parameters[0]?.[0] ?? DEFAULT_STRATEGY]!;
  const areas = scratch.float64("areas", count);
  const first = scratch.int32("areaFirst", out.length);
  return sequence(
    () => ranges(count, (from, to) => fillAreas(times, values, part, areas, from, to)),
    () => ranges(out.length, (from, to) => fillFirst(windows.first, first, from, to)),
    () => SUM_OVER_TIME({ ...input, values: areas, windows: { first, end: windows.end } }, out, present),
  );
};

/** The area before each sample. */
function fillAreas(times: Float64Array, values: Float64Array, part: number, areas: Float64Array, from: number, to: number): void {
  for (let at = Math.max(1, from); at < to; at++) {
    // Of the other sample nothing is taken, as it may be infinite.
    const mean = part === 0.5 ? values[at - 1]! * 0.5 + values[at]! * 0.5 : values[part === 1 ? at - 1 : at]!;
    areas[at] = (mean * (times[at]! - times[at - 1]!)) / 1000;
  }
}

/** Of the area before its first sample a window has nothing. */
function fillFirst(first: Int32Array, behind: Int32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) behind[i] = first[i]! + 1;
}
