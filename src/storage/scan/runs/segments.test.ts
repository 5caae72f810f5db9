import { timesSource } from "../../../../test/support/storage/scan-source.ts";
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Vector } from "../../../column/vector.ts";
import { RunList } from "./run-list.ts";
import type { ScanSource } from "./scan-source.ts";
import { clipRuns, findOverlaps, keepNewest } from "./segments.ts";

/** A run: series, source, first and last time; one row a time. */
type Run = readonly [series: number, source: number, first: number, last: number];

function listOf(...runs: readonly Run[]): RunList {
  const list = new RunList();
  for (const [series, source, first, last] of runs) list.push(series, source, 0, last - first + 1, first, last);
  return list;
}

function runsOf(list: RunList): string[] {
  return Array.from({ length: list.count }, (_, i) => `${list.starts[i]}-${list.ends[i]}@${list.firsts[i]}..${list.lasts[i]}`);
}

/** A source of one series with these times, read in pieces of `pageRows`. */
function sourceOf(times: readonly number[], pageRows: number): ScanSource {
  const piece = (start: number, end: number): { vector: Vector; from: number; to: number } => {
    const page = Math.floor(start / pageRows) * pageRows;
    const offsets = Float64Array.from(times.slice(page, page + pageRows));
    return { vector: { kind: "time", base: 0n, offsets, validity: undefined }, from: start - page, to: end - page };
  };
  return timesSource(async (ranges) => {
    const pieces = [];
    for (const { start, end } of ranges) {
      for (let at = start; at < end; ) {
        const to = Math.min(end, (Math.floor(at / pageRows) + 1) * pageRows);
        pieces.push(piece(at, to));
        at = to;
      }
    }
    return pieces;
  });
}

async function clipped(times: readonly number[], min: number, max: number, pageRows = 3): Promise<string> {
  const list = new RunList();
  list.push(0, 0, 0, times.length, times[0]!, times.at(-1)!);
  await clipRuns(list, [sourceOf(times, pageRows)], min, max);
  const [start, end] = [list.starts[0]!, list.ends[0]!];
  return start >= end ? "empty" : `${start}-${end}@${list.firsts[0]}..${list.lasts[0]}`;
}

test("runs are cut to the range, both ends inclusive, whatever the pages", async () => {
  const times = [10, 20, 20, 30, 40, 50, 60];
  for (const pageRows of [1, 2, 3, 100]) {
    expect(await clipped(times, 0, 100, pageRows)).toBe("0-7@10..60");
    expect(await clipped(times, 20, 50, pageRows)).toBe("1-6@20..50");
    expect(await clipped(times, 21, 49, pageRows)).toBe("3-5@30..40");
    expect(await clipped(times, 60, 60, pageRows)).toBe("6-7@60..60");
    expect(await clipped(times, 10, 10, pageRows)).toBe("0-1@10..10");
    expect(await clipped(times, 51, 59, pageRows)).toBe("empty");
  }
});

test("cutting keeps exactly the rows of the range", async () => {
  const times = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 20 }).map((list) => list.sort((a, b) => a - b));
  const bound = fc.integer({ min: 0, max: 50 });
  await fc.assert(
    fc.asyncProperty(times, bound, bound, fc.integer({ min: 1, max: 5 }), async (list, a, b, pageRows) => {
      const [min, max] = [Math.min(a, b), Math.max(a, b)];
      if (list.at(-1)! < min || list[0]! > max) return;
      const kept = list.filter((time) => time >= min && time <= max);
      const from = list.findIndex((time) => time >= min);
      const want = kept.length === 0 ? "empty" : `${from}-${from + kept.length}@${kept[0]}..${kept.at(-1)}`;
      expect(await clipped(list, min, max, pageRows)).toBe(want);
    }),
    { seed: 9 },
  );
});

function overlaps(list: RunList, mayOverlap = true): { readonly single: number[]; readonly clusters: number[][] } {
  const { single, clusters } = findOverlaps(list, 0, 10, mayOverlap);
  return { single: [...single], clusters: clusters.map((cluster) => [...cluster]) };
}

test("runs of different series never overlap", () => {
  expect(overlaps(listOf([0, 0, 1, 9], [1, 0, 1, 9], [2, 1, 1, 9]))).toEqual({ single: [0, 1, 2], clusters: [] });
});

test("runs of one series that share a time are one cluster, oldest source first", () => {
  expect(overlaps(listOf([0, 2, 5, 9], [0, 1, 1, 5]))).toEqual({ single: [], clusters: [[1, 0]] });
});

test("runs that only touch stand alone", () => {
  expect(overlaps(listOf([0, 0, 1, 5], [0, 1, 6, 9]))).toEqual({ single: [0, 1], clusters: [] });
});

test("a cluster is as long as its chain, and one series may have several", () => {
  const list = listOf([0, 0, 1, 3], [0, 1, 3, 6], [0, 2, 6, 8], [0, 3, 20, 30], [0, 4, 50, 60], [0, 5, 55, 56], [1, 0, 1, 60]);
  expect(overlaps(list)).toEqual({
    single: [3, 6],
    clusters: [
      [0, 1, 2],
      [4, 5],
    ],
  });
});

test("a long run keeps what lies within it together", () => {
  expect(overlaps(listOf([0, 0, 1, 100], [0, 1, 2, 3], [0, 2, 50, 60])).clusters).toEqual([[0, 1, 2]]);
});

test("empty runs are left out", () => {
  const list = listOf([0, 0, 1, 5], [0, 1, 3, 9]);
  list.ends[1] = list.starts[1]!;
  expect(overlaps(list)).toEqual({ single: [0], clusters: [] });
});

test("where nothing needs to be merged or ordered, overlapping runs stand alone", () => {
  expect(overlaps(listOf([0, 0, 1, 5], [0, 1, 3, 9]), false)).toEqual({ single: [0, 1], clusters: [] });
});

test("the newest row of each series stays; ties stay where rows are merged", () => {
  const list = listOf([0, 0, 1, 5], [0, 1, 3, 9], [0, 2, 7, 9], [1, 0, 1, 2]);
  keepNewest(list, 0, 10, new Uint8Array(10), true);
  expect(runsOf(list)).toEqual(["0-0@1..5", "6-7@9..9", "2-3@9..9", "1-2@2..2"]);
});

test("without merging only the newest source's row stays", () => {
  const list = listOf([0, 0, 1, 9], [0, 1, 3, 9], [0, 2, 1, 2]);
  keepNewest(list, 0, 10, new Uint8Array(10), false);
  expect(runsOf(list)).toEqual(["0-0@1..9", "6-7@9..9", "0-0@1..2"]);
});

test("a series that a newer group has answered stays out", () => {
  const seen = new Uint8Array(10);
  keepNewest(listOf([0, 0, 1, 5]), 0, 10, seen, true);
  const older = listOf([0, 0, 1, 5], [1, 0, 1, 5]);
  keepNewest(older, 0, 10, seen, true);
  expect(runsOf(older)).toEqual(["0-0@1..5", "4-5@5..5"]);
  expect([...seen.subarray(0, 3)]).toEqual([1, 1, 0]);
});

test("a slice of slots is looked at alone", () => {
  const list = listOf([7, 0, 1, 5], [7, 1, 3, 9], [9, 0, 1, 2]);
  const seen = new Uint8Array(10);
  expect(findOverlaps(list, 7, 3, true)).toEqual({ single: Uint32Array.of(2), clusters: [[0, 1]] });
  keepNewest(list, 7, 3, seen, true);
  expect(runsOf(list)).toEqual(["0-0@1..5", "6-7@9..9", "1-2@2..2"]);
  expect([...seen]).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
});

test("a list of runs grows without losing any", () => {
  const list = listOf(...Array.from({ length: 1000 }, (_, i): Run => [i, i % 7, i, i + 1]));
  expect([list.count, list.slots[999], list.sources[999], list.firsts[999], list.lasts[255]]).toEqual([1000, 999, 5, 999, 256]);
});
