/**
 * `rate`, `increase`, `delta`: how much values change over a window.
 *
 * A window's samples seldom reach its borders. The change between them is extended to a border when the distance is at most 1.1 of the
 * samples' average one, else by half of it; a counter is not extended below 0.
 */
import { ranges, sequence, type Work } from "../../kernels/pieces.ts";
import { Fallen, NOTHING } from "./falls.ts";
import type { RangeInput, RangeKernel } from "./range-input.ts";

/** Of the average distance between samples: what is further away is no neighbour. */
const NEIGHBOUR_FACTOR = 1.1;

/** Per second of the range; counters that fall began anew. */
export const RATE: RangeKernel = (input, out, present) => extrapolated(input, true, true, out, present);
/** Over the range, of a counter. */
export const INCREASE: RangeKernel = (input, out, present) => extrapolated(input, true, false, out, present);
/** Over the range, of a gauge. */
export const DELTA: RangeKernel = (input, out, present) => extrapolated(input, false, false, out, present);

function extrapolated(input: RangeInput, isCounter: boolean, isRate: boolean, out: Float64Array, present: Uint8Array): Work {
  const fallen = isCounter ? new Fallen(input, present) : undefined;
  const divisor = isRate ? input.rangeMillis / 1000 : 1;
  return sequence(
    () => fallen?.work,
    () => ranges(out.length, (from, to) => extrapolate(input, fallen?.lost ?? NOTHING, isCounter, divisor, out, present, from, to)),
  );
}

function extrapolate(
  { times, values, windows: { first, end }, moments: { startMillis, stepMillis }, rangeMillis }: RangeInput,
  lost: Float64Array,
  isCounter: boolean,
  divisor: number,
  out: Float64Array,
  present: Uint8Array,
  from: number,
  to: number,
): void {
  const hasLost = lost.length > 0;
  for (let i = from; i < to; i++) {
    const low = first[i]!;
    const high = end[i]! - 1;
    if (high <= low) continue;
    let change = values[high]! - values[low]!;
    if (hasLost) change += lost[i]!;
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
    // In the order of Prometheus: ranks of quantiles that fall on a bucket's end depend on the last bit.
    out[i] = change * ((sampled + toStart + toEnd) / sampled / divisor);
    present[i] = 1;
  }
}
