/**
 * `rate`, `increase`, `delta`: how much values change over a window.
 *
 * A window's samples seldom reach its borders. The change between them is extended to a border when the distance is at most 1.1 of the
 * samples' average one, else by half of it; a counter is not extended below 0.
 */
import { PIECE, ranges, sequence, type Work } from "../../kernels/pieces.ts";
import { Fallen, fallsIn, NOTHING } from "./falls.ts";
import type { RangeInput, RangeKernel } from "./range-input.ts";

/** Of the average distance between samples: what is further away is no neighbour. */
const NEIGHBOUR_FACTOR = 1.1;
/** More than what a few roundings add. */
const SURELY = 1 + 2 ** -40;
/** Products with smaller changes may lose digits. */
const TINY = 1e-280;

/** Per second of the range; counters that fall began anew. */
export const RATE: RangeKernel = (input, out, present) => extrapolated(input, true, true, out, present);
/** Over the range, of a counter. */
export const INCREASE: RangeKernel = (input, out, present) => extrapolated(input, true, false, out, present);
/** Over the range, of a gauge. */
export const DELTA: RangeKernel = (input, out, present) => extrapolated(input, false, false, out, present);

function extrapolated(input: RangeInput, isCounter: boolean, isRate: boolean, out: Float64Array, present: Uint8Array): Work {
  const divisor = isRate ? input.rangeMillis / 1000 : 1;
  const toSteps = (lost: Float64Array): Work =>
    ranges(out.length, (from, to) => extrapolate(input, lost, isCounter, divisor, out, present, from, to));
  // Most counters never fall, which is told at once of all but long series.
  if (!isCounter || (input.count <= PIECE && fallsIn(input.values, 1, input.count) === 0)) return toSteps(NOTHING);
  const fallen = new Fallen(input, present);
  return sequence(
    () => fallen.work,
    () => toSteps(fallen.lost),
  );
}

/**
 * Samples and steps that lie evenly have the same distances at each step: what follows from those alone is kept from one step to the next
 * (240 steps of a scrape each: 12 → 4 ns a step, most of it divisions).
 */
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
  let between = 0;
  // NaN and not 0, so that they are doubles throughout.
  let spanMillis = Number.NaN;
  let beforeMillis = Number.NaN;
  let afterMillis = Number.NaN;
  let sampled = Number.NaN;
  let toStart = Number.NaN;
  let toEnd = Number.NaN;
  let factor = Number.NaN;
  for (let i = from; i < to; i++) {
    const low = first[i]!;
    const high = end[i]! - 1;
    if (high <= low) continue;
    const firstValue = values[low]!;
    let change = values[high]! - firstValue;
    if (hasLost) change += lost[i]!;
    const firstTime = times[low]!;
    const lastTime = times[high]!;
    const windowEnd = startMillis + i * stepMillis;
    const span = lastTime - firstTime;
    const before = firstTime - (windowEnd - rangeMillis);
    const after = windowEnd - lastTime;
    if (span !== spanMillis || before !== beforeMillis || after !== afterMillis || high - low !== between) {
      between = high - low;
      spanMillis = span;
      beforeMillis = before;
      afterMillis = after;
      sampled = span / 1000;
      const average = sampled / between;
      const threshold = average * NEIGHBOUR_FACTOR;
      toStart = before / 1000;
      toEnd = after / 1000;
      if (toStart >= threshold) toStart = average / 2;
      if (toEnd >= threshold) toEnd = average / 2;
      // In the order of Prometheus: ranks of quantiles that fall on a bucket's end depend on the last bit.
      factor = (sampled + toStart + toEnd) / sampled / divisor;
    }
    present[i] = 1;
    // A counter was 0 so many seconds before its first sample. A product tells without a division where that is surely far off.
    if (isCounter && change > 0 && firstValue >= 0 && !(firstValue * sampled > change * toStart * SURELY && change > TINY)) {
      const toZero = sampled * (firstValue / change);
      if (toZero < toStart) {
        out[i] = change * ((sampled + toZero + toEnd) / sampled / divisor);
        continue;
      }
    }
    out[i] = change * factor;
  }
}
