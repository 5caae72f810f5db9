import { timesSource } from "../../../../test/support/storage/scan-source.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { TombstoneBuilder } from "../../tombstone/tombstone-builder.ts";
import { carveRuns, type SourceTombstones } from "./carve-runs.ts";
import { RunList } from "./run-list.ts";
import type { ScanSource } from "./scan-source.ts";

type Range = readonly [series: number, first: number, last: number];

/** A source whose row r has time `times[r]`; counts how often it is read. */
function sourceOf(times: readonly number[], reads: { count: number }): ScanSource {
  return timesSource(async (ranges) => {
    reads.count++;
    const offsets = Float64Array.from(times);
    return ranges.map(({ start, end }) => ({ vector: { kind: "time", base: 0n, offsets, validity: undefined }, from: start, to: end }));
  });
}

function tombstones(source: number, ranges: readonly Range[]): SourceTombstones[] {
  const builder = new TombstoneBuilder(0n);
  for (const [series, first, last] of ranges) builder.add(series, first, last, 0);
  const set = builder.finish();
  return set === undefined ? [] : [{ source, set }];
}

/** Carves one run of series 1 in source 0 and gives the times of the rows left, piece by piece, and the reads it took. */
async function carve(times: readonly number[], sets: readonly SourceTombstones[]): Promise<{ pieces: number[][]; reads: number }> {
  const runs = new RunList();
  if (times.length > 0) runs.push(1, 0, 0, times.length, times[0]!, times.at(-1)!);
  const reads = { count: 0 };
  const carved = await carveRuns(runs, [sourceOf(times, reads)], sets, (slot) => slot);
  const pieces = Array.from({ length: carved.count }, (_, i) => {
    const piece = times.slice(carved.starts[i], carved.ends[i]);
    expect([carved.slots[i], carved.sources[i], carved.firsts[i], carved.lasts[i]]).toEqual([1, 0, piece[0]!, piece.at(-1)!]);
    return piece;
  });
  return { pieces, reads: reads.count };
}

test("rows within ranges go, whatever sources the ranges are of", async () => {
  const range = fc.tuple(fc.constantFrom(0, 1, 1, 1), fc.nat(40), fc.nat(6)).map(([s, first, n]): Range => [s, first, first + n]);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(40)), fc.array(range), fc.array(range), async (unsorted, one, other) => {
      const times = unsorted.sort((a, b) => a - b);
      const { pieces } = await carve(times, [...tombstones(1, one), ...tombstones(2, other)]);
      const isGone = (time: number): boolean => [...one, ...other].some(([s, first, last]) => s === 1 && first <= time && time <= last);
      expect(pieces.flat()).toEqual(times.filter((time) => !isGone(time)));
      expect(pieces.every((piece) => piece.length > 0)).toBe(true);
    }),
    { seed: 8, numRuns: 300 },
  );
});

test("a source does not delete its own rows, nor those of newer ones", async () => {
  const runs = new RunList();
  for (const source of [0, 1, 2]) runs.push(1, source, 0, 1, 5, 5);
  const sources = [0, 1, 2].map(() => sourceOf([5], { count: 0 }));
  const carved = await carveRuns(runs, sources, tombstones(1, [[1, 0, 9]]), (slot) => slot);
  expect([...carved.sources.subarray(0, carved.count)]).toEqual([1, 2]);
});

test("a run that is covered whole, and one that is not touched, are not read", async () => {
  expect(await carve([2, 3, 4], tombstones(1, [[1, 2, 4]]))).toEqual({ pieces: [], reads: 0 });
  expect(
    await carve(
      [2, 3, 4],
      tombstones(1, [
        [1, 5, 9],
        [2, 0, 9],
      ]),
    ),
  ).toEqual({ pieces: [[2, 3, 4]], reads: 0 });
});

test("a range between rows leaves the run whole", async () => {
  expect(await carve([2, 8, 9], tombstones(1, [[1, 4, 5]]))).toEqual({ pieces: [[2, 8, 9]], reads: 1 });
});

test("several rows of one time go together, as append mode had them before", async () => {
  expect((await carve([1, 2, 2, 2, 3], tombstones(1, [[1, 2, 2]]))).pieces).toEqual([[1], [3]]);
});
