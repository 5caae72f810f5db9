import { timesSource } from "../../../../test/support/storage/scan-source.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Segment } from "./assemble.ts";
import type { ScanSource } from "../runs/scan-source.ts";
import { splitCluster } from "./split-cluster.ts";

/** A source of one series with these times, in pages of three rows. */
function sourceOf(times: readonly number[]): ScanSource {
  return timesSource(async (ranges) =>
    ranges.map(({ start, end }) => {
      const page = Math.floor(start / 3) * 3;
      const vector = { kind: "time", base: 0n, offsets: Float64Array.from(times.slice(page)), validity: undefined } as const;
      return { vector, from: start - page, to: end - page };
    }),
  );
}

/** Splits sorted lists of times and returns the times of each part. */
async function split(lists: readonly (readonly number[])[], rowsMax: number): Promise<number[][]> {
  const cluster = lists.map((times, source): Segment => ({ source, series: 0, start: 0, end: times.length }));
  const parts = await splitCluster(cluster, lists.map(sourceOf), rowsMax);
  return parts.map((part) => part.flatMap(({ source, start, end }) => lists[source]!.slice(start, end)));
}

test("a short cluster stays whole", async () => {
  expect(await split([[1, 3], [2]], 3)).toEqual([[1, 3, 2]]);
});

test("a long one is cut at times", async () => {
  const parts = await split([Array.from({ length: 100 }, (_, i) => i), [5, 50, 95]], 30);
  expect(parts.length).toBeGreaterThanOrEqual(4);
  expect(parts.every((part) => part.length <= 30)).toBe(true);
});

test("equal times stay together, also when there is nothing else", async () => {
  expect(
    await split(
      [
        [7, 7, 7],
        [7, 7],
      ],
      2,
    ),
  ).toEqual([[7, 7, 7, 7, 7]]);
  expect(
    await split(
      [
        [1, 7, 7],
        [7, 7],
      ],
      2,
    ),
  ).toEqual([[1], [7, 7, 7, 7]]);
  expect(
    await split(
      [
        [7, 7, 7, 9],
        [7, 7],
      ],
      2,
    ),
  ).toEqual([[7, 7, 7, 7, 7], [9]]);
});

test("parts follow each other in time, hold every row, and are short unless times repeat", async () => {
  const list = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 40 }).map((times) => times.sort((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 20 }), async (lists, rowsMax) => {
      const parts = await split(lists, rowsMax);
      expect(parts.flat().sort((a, b) => a - b)).toEqual(lists.flat().sort((a, b) => a - b));
      for (let i = 1; i < parts.length; i++) expect(Math.min(...parts[i]!)).toBeGreaterThan(Math.max(...parts[i - 1]!));
      for (const part of parts) expect(part.length <= rowsMax || new Set(part).size === 1).toBe(true);
    }),
    { seed: 18, numRuns: 100 },
  );
});
