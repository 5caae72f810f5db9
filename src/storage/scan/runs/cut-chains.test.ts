import { timesSource } from "../../../../test/support/storage/scan-source.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { cutChains } from "./cut-chains.ts";
import { RunList } from "./run-list.ts";
import type { ScanSource } from "./scan-source.ts";
import { findOverlaps } from "./segments.ts";

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

/** Cuts sorted lists of times, one source each. Returns the times of what stands alone and of what does not, by source. */
async function cut(lists: readonly (readonly number[])[], rowsMin: number) {
  const runs = new RunList();
  for (const [source, times] of lists.entries()) runs.push(0, source, 0, times.length, times[0]!, times.at(-1)!);
  const emission = await cutChains(runs, findOverlaps(runs, 0, 1, true), lists.map(sourceOf), rowsMin);
  const timesOf = (run: number) => lists[runs.sources[run]!]!.slice(runs.starts[run], runs.ends[run]);
  const isSorted = (order: readonly number[]) => order.every((value, i) => i === 0 || order[i - 1]! <= value);
  expect(isSorted([...emission.single].map((run) => runs.sources[run]!))).toBe(true);
  for (const run of [...emission.single, ...emission.clusters.flat()]) {
    expect(runs.firsts[run]).toBeLessThanOrEqual(timesOf(run)[0]!);
    expect(runs.lasts[run]).toBeGreaterThanOrEqual(timesOf(run).at(-1)!);
  }
  return {
    alone: [...emission.single].map((run) => ({ source: runs.sources[run]!, times: timesOf(run) })),
    clusters: emission.clusters.map((cluster) => cluster.map((run) => ({ source: runs.sources[run]!, times: timesOf(run) }))),
  };
}

test("files that overlap at their ends are merged there alone", async () => {
  const { alone, clusters } = await cut(
    [
      [1, 2, 3, 4, 5],
      [5, 6, 7, 8, 9],
      [9, 9, 10, 11],
    ],
    2,
  );
  expect(alone.map(({ times }) => times)).toEqual([
    [1, 2, 3, 4],
    [6, 7, 8],
    [10, 11],
  ]);
  expect(clusters.map((cluster) => cluster.map(({ times }) => times))).toEqual([
    [[5], [5]],
    [[9], [9, 9]],
  ]);
});

test("short runs, and runs that are alone for few rows, stay together", async () => {
  const lists = [
    [1, 2, 3, 4],
    [2, 3, 4, 5],
  ];
  expect((await cut(lists, 8)).clusters).toHaveLength(1);
  expect((await cut(lists, 3)).alone).toEqual([]);
});

test("all rows come, what stands alone shares no time with others, and clusters are apart", async () => {
  const list = fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 40 }).map((times) => times.sort((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(fc.array(list, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 8 }), async (lists, rowsMin) => {
      const { alone, clusters } = await cut(lists, rowsMin);
      const parts = [...alone, ...clusters.flat()];
      for (const [source, times] of lists.entries()) {
        const own = parts.filter((part) => part.source === source).flatMap((part) => part.times);
        expect(own.sort((a, b) => a - b)).toEqual([...times]);
      }
      const units = [...alone.map((part) => part.times), ...clusters.map((cluster) => cluster.flatMap((part) => part.times))];
      const seen = new Set<number>();
      for (const unit of units) {
        const own = new Set(unit);
        for (const time of own) expect(seen.has(time)).toBe(false);
        for (const time of own) seen.add(time);
      }
    }),
    { seed: 23, numRuns: 300 },
  );
});
