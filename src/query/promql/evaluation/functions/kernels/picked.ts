/** What needs one look at a window: counts, ends, the last two samples. */
import { ranges } from "../../kernels/pieces.ts";
import { perWindow, type RangeKernel } from "./range-input.ts";

/** How many samples. */
export const COUNT_OVER_TIME: RangeKernel = ({ windows: { first, end } }, out, present) =>
  ranges(out.length, (from, to) => {
    for (let i = from; i < to; i++) {
      if (end[i]! <= first[i]!) continue;
      out[i] = end[i]! - first[i]!;
      present[i] = 1;
    }
  });

/** 1. */
export const PRESENT_OVER_TIME: RangeKernel = ({ windows: { first, end } }, out, present) =>
  ranges(out.length, (from, to) => {
    for (let i = from; i < to; i++) {
      if (end[i]! <= first[i]!) continue;
      out[i] = 1;
      present[i] = 1;
    }
  });

/** Of the first or the last sample its value, or its time in seconds. */
function picked(end: "first" | "last", what: "values" | "times"): RangeKernel {
  const back = end === "first" ? 0 : 1;
  const unit = what === "times" ? 1000 : 1;
  return (input, out, present) => {
    const source = input[what];
    const { windows } = input;
    const places = end === "first" ? windows.first : windows.end;
    return ranges(out.length, (from, to) => {
      for (let i = from; i < to; i++) {
        if (windows.end[i]! <= windows.first[i]!) continue;
        out[i] = source[places[i]! - back]! / unit;
        present[i] = 1;
      }
    });
  };
}

/** Values and times of the ends of windows. */
export const FIRST_OVER_TIME: RangeKernel = picked("first", "values");
export const LAST_OVER_TIME: RangeKernel = picked("last", "values");
export const TS_OF_FIRST: RangeKernel = picked("first", "times");
export const TS_OF_LAST: RangeKernel = picked("last", "times");

/** Per second between the last two samples of a counter. */
export const IRATE: RangeKernel = perWindow(2, ({ times, values }, _first, end) => {
  const before = values[end - 2]!;
  const value = values[end - 1]!;
  return (value < before ? value : value - before) / ((times[end - 1]! - times[end - 2]!) / 1000);
});
/** Between the last two samples. */
export const IDELTA: RangeKernel = perWindow(2, ({ values }, _first, end) => values[end - 1]! - values[end - 2]!);
