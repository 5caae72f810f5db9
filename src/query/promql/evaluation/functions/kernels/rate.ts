/**
 * `rate`, `increase`, `delta`, `irate`, `idelta`, `resets`, `changes`: how values move within a window.
 *
 * A window's samples seldom reach its borders. The change between them is rangeed to a border when the distance is at most 1.1 of the
 * samples' average one, else by half of it; a counter is not rangeed below 0.
 */
import { SUM } from "./folds.ts";
import { perWindow, type RangeInput, type RangeKernel } from "./range-input.ts";
import { slide } from "./sliding.ts";

/** Of the average distance between samples: what is further away is no neighbour. */
const NEIGHBOUR_FACTOR = 1.1;

/** Per second of the range; counters that fall began anew. */
export const RATE: RangeKernel = (input, out, present) => extrapolated(input, true, true, out, present);
/** Over the range, of a counter. */
export const INCREASE: RangeKernel = (input, out, present) => extrapolated(input, true, false, out, present);
/** Over the range, of a gauge. */
export const DELTA: RangeKernel = (input, out, present) => extrapolated(input, false, false, out, present);

function extrapolated(input: RangeInput, isCounter: boolean, isRate: boolean, out: Float64Array, present: Uint8Array): void {
  const { times, values, windows, moments, rangeMillis } = input;
  const { first, end } = windows;
  const lost = isCounter ? fallenBefore(input) : undefined;
  const divisor = isRate ? rangeMillis / 1000 : 1;
  const { startMillis, stepMillis } = moments;
  for (let i = 0; i < out.length; i++) {
    const low = first[i]!;
    const high = end[i]! - 1;
    if (high <= low) continue;
    let change = values[high]! - values[low]!;
    if (lost !== undefined) change += lost[i]!;
    const firstTime = times[low]!;
    const lastTime = times[high]!;
    const windowEnd = startMillis + i * stepMillis;
    const sampled = (lastTime - firstTime) / 1000;
    const average = sampled / (high - low);
    let toStart = (firstTime - (windowEnd - rangeMillis)) / 1000;
    let toEnd = (windowEnd - lastTime) / 1000;
    const threshold = average * NEIGHBOUR_FACTOR;
    if (toStart >= threshold) toStart = average / 2;
    if (isCounter && change > 0 && values[low]! >= 0) toStart = Math.min(toStart, sampled * (values[low]! / change));
    if (toEnd >= threshold) toEnd = average / 2;
    out[i] = (change * ((sampled + toStart + toEnd) / sampled)) / divisor;
    present[i] = 1;
  }
}

/** By step: the sum of the values from which a counter fell within the window. Undefined: it never does. */
export function fallenBefore({ times, values, count, windows }: RangeInput): Float64Array | undefined {
  let at = 1;
  while (at < count && !(values[at]! < values[at - 1]!)) at++;
  if (at >= count) return undefined;
  const falls = new Float64Array(count);
  for (; at < count; at++) if (values[at]! < values[at - 1]!) falls[at] = values[at - 1]!;
  const lost = new Float64Array(windows.first.length);
  // The first sample of a window has none before it.
  const after = windows.first.map((first) => first + 1);
  slide(SUM, times, falls, after, windows.end, (state, to, step) => void (lost[step] = state[to]! + state[to + 1]!));
  return lost;
}

/** How often something is so of a sample and the one before it, within each window. */
function counting(isSo: (before: number, value: number) => boolean): RangeKernel {
  return (input, out, present) => {
    const { values, count, windows } = input;
    const before = new Float64Array(count + 1);
    for (let at = 1; at < count; at++) before[at + 1] = before[at]! + (isSo(values[at - 1]!, values[at]!) ? 1 : 0);
    const { first, end } = windows;
    for (let i = 0; i < out.length; i++) {
      if (end[i]! <= first[i]!) continue;
      out[i] = before[end[i]!]! - before[first[i]! + 1]!;
      present[i] = 1;
    }
  };
}

/** Samples below the one before. */
export const RESETS: RangeKernel = counting((before, value) => value < before);
/** Samples unlike the one before; NaN is like NaN. */
export const CHANGES: RangeKernel = counting((before, value) => value !== before && !(Number.isNaN(value) && Number.isNaN(before)));

/** Per second between the last two samples of a counter. */
export const IRATE: RangeKernel = perWindow(2, ({ times, values }, _first, end) => {
  const [before, value] = [values[end - 2]!, values[end - 1]!];
  return (value < before ? value : value - before) / ((times[end - 1]! - times[end - 2]!) / 1000);
});
/** Between the last two samples. */
export const IDELTA: RangeKernel = perWindow(2, ({ values }, _first, end) => values[end - 1]! - values[end - 2]!);
