import { expect, test } from "bun:test";
import fc from "fast-check";
import { wholly } from "../../kernels/pieces.ts";
import { Scratch } from "../../kernels/scratch.ts";
import { WindowFinder } from "../../kernels/window-finder.ts";
import { INCREASE, RATE } from "./rate.ts";
import type { RangeKernel } from "./range-input.ts";

const FREE: Scratch = new Scratch({ reserve: () => undefined, release: () => undefined });
const RANGE_MILLIS = 40_000;
const STEPS = 12;

/** Of a counter that never falls, every division written out in the order of Prometheus; undefined: no result. */
function extrapolated(times: readonly number[], values: readonly number[], end: number, isRate: boolean): number | undefined {
  const seen = [...times.keys()].filter((at) => (times[at] ?? 0) > end - RANGE_MILLIS && (times[at] ?? 0) <= end);
  const [low, high] = [seen[0] ?? 0, seen.at(-1) ?? 0];
  if (seen.length < 2) return undefined;
  const [first, last, value] = [times[low] ?? 0, times[high] ?? 0, values[low] ?? 0];
  const change = (values[high] ?? 0) - value;
  const sampled = (last - first) / 1000;
  const average = sampled / (seen.length - 1);
  const near = (seconds: number): number => (seconds >= average * 1.1 ? average / 2 : seconds);
  let toStart = near((first - (end - RANGE_MILLIS)) / 1000);
  if (change > 0 && value >= 0) toStart = Math.min(toStart, sampled * (value / change));
  return change * ((sampled + toStart + near((end - last) / 1000)) / sampled / (isRate ? RANGE_MILLIS / 1000 : 1));
}

function check(kernel: RangeKernel, times: readonly number[], values: readonly number[], stepMillis: number): void {
  const moments = { startMillis: 30_000, stepMillis, count: STEPS };
  const samples = { times: Float64Array.from(times), values: Float64Array.from(values), count: times.length };
  const finder = new WindowFinder(moments, RANGE_MILLIS, FREE);
  const work = finder.find(samples.times, samples.count);
  if (work !== undefined) wholly(work);
  const [out, present] = [new Float64Array(STEPS), new Uint8Array(STEPS)];
  const of = { windows: finder.windows, moments, rangeMillis: RANGE_MILLIS, evaluation: moments, parameters: [], scratch: FREE };
  wholly(kernel({ ...samples, ...of }, out, present));
  for (let step = 0; step < STEPS; step++) {
    const want = extrapolated(times, values, moments.startMillis + step * stepMillis, kernel === RATE);
    expect(present[step] === 1 ? out[step] : undefined).toBe(want);
  }
}

test("rates are those of the formula to the last bit, whether steps are alike or counters near 0", () => {
  const counter = fc.record({
    first: fc.constantFrom(0, 1e-300, 1, 20, 1e9),
    rise: fc.constantFrom(0, 1e-320, 1e-300, 1e-3, 1, 7),
    rises: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 30 }),
    gapMillis: fc.constantFrom(1000, 5000, 15_000),
    /** Not 0: samples do not lie evenly. */
    jitterMillis: fc.constantFrom(0, 0, 400),
    stepMillis: fc.constantFrom(1000, 5000, 7000, 15_000),
  });
  fc.assert(
    fc.property(counter, ({ first, rise, rises, gapMillis, jitterMillis, stepMillis }) => {
      let value = first;
      const values = rises.map((factor) => (value += factor * rise));
      const times = rises.map((factor, at) => 7 + at * gapMillis + (factor % 3) * jitterMillis);
      for (const kernel of [RATE, INCREASE]) check(kernel, times, values, stepMillis);
    }),
    { seed: 11, numRuns: 300 },
  );
});
