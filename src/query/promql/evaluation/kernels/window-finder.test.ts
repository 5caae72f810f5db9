import { expect, test } from "bun:test";
import fc from "fast-check";
import { PIECE, wholly } from "./pieces.ts";
import { Scratch } from "./scratch.ts";
import { WindowFinder } from "./window-finder.ts";

const FREE: Scratch = new Scratch({ reserve: () => undefined, release: () => undefined });

/** Samples of `(moment - range, moment]`, counted one by one. */
function check(
  finder: WindowFinder,
  times: Float64Array,
  moments: { startMillis: number; stepMillis: number; count: number },
  range: number,
) {
  const work = finder.find(times, times.length);
  if (work !== undefined) wholly(work);
  const before = (millis: number): number => times.filter((time) => time <= millis).length;
  for (let step = 0; step < moments.count; step++) {
    const moment = moments.startMillis + step * moments.stepMillis;
    const want = [before(moment - range), before(moment)];
    expect([finder.windows.first[step], finder.windows.end[step]]).toEqual(want as [number, number]);
  }
}

const SERIES = fc.record({
  first: fc.integer({ min: -200, max: 200 }),
  gap: fc.constantFrom(1, 5, 10),
  count: fc.integer({ min: 0, max: 40 }),
  /** The sample that comes later than the others would have it. */
  late: fc.integer({ min: 0, max: 60 }),
});

test("even and uneven series, one after the other, have the windows that counting gives", () => {
  const query = fc.record({
    startMillis: fc.integer({ min: -300, max: 300 }),
    stepMillis: fc.constantFrom(0, 5, 7, 10, 20, 30),
    count: fc.integer({ min: 1, max: 30 }),
    range: fc.oneof(fc.integer({ min: 1, max: 150 }), fc.constant(12.5)),
    all: fc.array(SERIES, { minLength: 1, maxLength: 6 }),
  });
  fc.assert(
    fc.property(query, ({ range, all, ...moments }) => {
      const finder = new WindowFinder(moments, range, FREE);
      for (const { first, gap, count, late } of all) {
        const times = Float64Array.from({ length: count }, (_, at) => first + at * gap + (at >= late ? 3 : 0));
        check(finder, times, moments, range);
      }
    }),
    { seed: 5, numRuns: 400 },
  );
});

test("a series of other times does not keep the windows of the one before", () => {
  const moments = { startMillis: 100, stepMillis: 10, count: 8 };
  const finder = new WindowFinder(moments, 30, FREE);
  const even = Float64Array.from({ length: 12 }, (_, at) => 60 + at * 10);
  for (const times of [even, even.map((time) => time + 1), Float64Array.of(65, 99, 100, 131), even]) check(finder, times, moments, 30);
});

test("samples that lie evenly need no work, long series do", () => {
  const times = Float64Array.from({ length: 20 }, (_, at) => at * 10);
  const finder = new WindowFinder({ startMillis: 0, stepMillis: 20, count: 10 }, 50, FREE);
  expect(finder.find(times, times.length)).toBeUndefined();
  const steps = PIECE + 1;
  const long = new WindowFinder({ startMillis: 0, stepMillis: 10, count: steps }, 50, FREE);
  expect(long.find(times, times.length)).toBeDefined();
});
