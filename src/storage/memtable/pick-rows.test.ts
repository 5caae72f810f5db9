/** Rows by chains are the rows that a pass over everything finds. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { MergeMode } from "../../table/schema.ts";
import { buildDeleteChunk, tombstonesOf } from "./delete-chunk.ts";
import { Arena, SlabPool } from "./arena.ts";
import type { Chunk } from "./chunk.ts";
import { buildChunk } from "./chunk-builder.ts";
import { type MemtableView, pickRows, type RowPick } from "./pick-rows.ts";
import { RowPostings, rowStarts } from "./row-postings.ts";
import { DROPPED, type SortedRows, sortRows } from "./sort-rows.ts";

const SERIES = 6;
const arena = new Arena(new SlabPool(0));

/** Rows of one request: series and time. */
type Rows = readonly (readonly [series: number, time: number])[];

/** Ranges of one delete: series, first time, last minus first. */
interface Deletes {
  readonly deletes: readonly (readonly [series: number, first: number, length: number])[];
}

function chunkOf(rows: Rows, sequence: number, timeBase = 1000n): Chunk {
  return buildChunk(
    {
      sequence,
      rowCount: rows.length,
      series: Uint32Array.from(rows, ([series]) => series),
      seriesMax: SERIES - 1,
      timeBase,
      timeOffsets: Float64Array.from(rows, ([, time]) => time),
      columns: [],
    },
    arena,
  );
}

function deleteOf({ deletes }: Deletes, sequence: number): Chunk {
  const arrays = {
    series: Uint32Array.from(deletes, ([series]) => series),
    firsts: Float64Array.from(deletes, ([, first]) => first),
    lengths: Float64Array.from(deletes, ([, , length]) => length),
  };
  return buildDeleteChunk({ sequence, count: deletes.length, seriesMax: SERIES - 1, timeBase: 1000n, rows: undefined, ...arrays }, arena);
}

function isDeletes(request: Rows | Deletes): request is Deletes {
  return "deletes" in request;
}

function viewOf(requests: readonly (Rows | Deletes)[], firstSequence: number): MemtableView {
  const chunks = requests.map((request, i) =>
    isDeletes(request) ? deleteOf(request, firstSequence + i) : chunkOf(request, firstSequence + i),
  );
  const postings = new RowPostings();
  for (let known = 1; known <= chunks.length; known++) {
    const some = chunks.slice(0, known);
    postings.extend(some, rowStarts(some), SERIES);
  }
  return { chunks, starts: rowStarts(chunks), postings, times: undefined };
}

/** Each row as "bucket time chunk/row", in order; rows that share a place all listed. */
function rowsOf({ rowCount, chunks, times, runBuckets, runStarts }: SortedRows): string[] {
  const places: string[][] = Array.from({ length: rowCount }, () => []);
  for (const { chunk, rows, positions } of chunks) {
    for (let i = 0; i < positions.length; i++) {
      if (positions[i] !== DROPPED) places[positions[i]!]!.push(`${chunk.sequence}/${rows === undefined ? i : rows[i]!}`);
    }
  }
  const lines: string[] = [];
  for (let run = 0; run < runBuckets.length; run++) {
    for (let at = runStarts[run]!; at < runStarts[run + 1]!; at++) lines.push(`${runBuckets[run]} ${times[at]} ${places[at]!.join("+")}`);
  }
  return lines;
}

function pickOf(slots: readonly number[], minOffset: number, maxOffset: number, newestOnly: boolean): RowPick {
  const common = { base: 1000n, minOffset, maxOffset, newestOnly, visitsMax: Number.POSITIVE_INFINITY, tombstones: undefined };
  return { ...common, slotCount: slots.length, seriesOf: (slot) => slots[slot]! };
}

/** The same by a pass over all rows. */
function naive(views: readonly MemtableView[], slots: readonly number[], pick: RowPick, mode: MergeMode): string[] {
  const bucketOfSeries = new Uint32Array(SERIES).fill(DROPPED);
  for (const [slot, series] of slots.entries()) bucketOfSeries[series] = slot;
  const selection = { ...pick, bucketOfSeries, bucketCount: slots.length };
  const lines = rowsOf(
    sortRows(
      views.flatMap(({ chunks }) => chunks),
      selection,
      mode,
    ),
  );
  if (!pick.newestOnly) return lines;
  const newest = new Map(lines.map((line) => line.split(" ").slice(0, 2) as [string, string]));
  return lines.filter((line) => newest.get(line.split(" ")[0]!) === line.split(" ")[1]);
}

const modes: readonly MergeMode[] = ["last_row", "last_non_null", "append"];

describe("rows picked by chains", () => {
  test("are those that a pass over all rows finds, in any order of arrival", () => {
    const rows = fc.array(fc.tuple(fc.nat(SERIES - 1), fc.nat(12)), { minLength: 1, maxLength: 12 });
    const deletes = fc.array(fc.tuple(fc.nat(SERIES - 1), fc.nat(12), fc.nat(4)), { minLength: 1, maxLength: 4 });
    const request = fc.oneof({ weight: 4, arbitrary: rows }, { weight: 1, arbitrary: deletes.map((some) => ({ deletes: some })) });
    const requests = fc.array(request, { maxLength: 5 });
    const slots = fc.uniqueArray(fc.nat(SERIES - 1), { maxLength: SERIES });
    fc.assert(
      fc.property(
        requests,
        requests,
        slots,
        fc.nat(12),
        fc.nat(12),
        fc.boolean(),
        fc.constantFrom(...modes),
        (old, young, wanted, a, b, newest, mode) => {
          const views = [viewOf(old, 1), viewOf(young, 100)].filter(({ chunks }) => chunks.length > 0);
          const [min, max] = [Math.min(a, b), Math.max(a, b)];
          const chunks = views.flatMap((view) => view.chunks);
          const tombstones = tombstonesOf(chunks, 1000n, min, max, (series) => wanted.includes(series));
          const pick = { ...pickOf(wanted, min, max, newest), tombstones };
          const picked = pickRows(views, pick, mode);
          expect(picked === undefined ? undefined : rowsOf(picked)).toEqual(naive(views, wanted, pick, mode));
        },
      ),
      { seed: 31, numRuns: 500 },
    );
  });

  test("do not hold rows that came after the view was taken", () => {
    const view = viewOf([[[0, 1]], [[0, 2]]], 1);
    const later = [...view.chunks, chunkOf([[0, 3]], 3), chunkOf([[0, 1]], 4)];
    view.postings.extend(later, rowStarts(later), SERIES);
    const lines = (newest: boolean): string[] => rowsOf(pickRows([view], pickOf([0], 0, 9, newest), "last_row")!);
    expect([lines(false), lines(true)]).toEqual([["0 1 1/0", "0 2 2/0"], ["0 2 2/0"]]);
  });

  test("stay when small chunks were joined meanwhile", () => {
    const view = viewOf([[[0, 1]], [[1, 2]], [[0, 3]]], 1);
    const joined = [
      chunkOf(
        [
          [0, 1],
          [1, 2],
          [0, 3],
          [1, 4],
        ],
        9,
      ),
    ];
    view.postings.extend(joined, rowStarts(joined), SERIES);
    const young: MemtableView = { ...view, chunks: joined, starts: rowStarts(joined) };
    const lines = (of: MemtableView): string[] => rowsOf(pickRows([of], pickOf([0, 1], 0, 9, false), "last_row")!);
    expect(lines(view)).toEqual(["0 1 1/0", "0 3 3/0", "1 2 2/0"]);
    expect(lines(young)).toEqual(["0 1 9/0", "0 3 9/2", "1 2 9/1", "1 4 9/3"]);
  });

  test("are given up when too many rows would have to be looked at", () => {
    const view = viewOf([Array.from({ length: 100 }, (_, i) => [0, i] as const)], 1);
    const pick = pickOf([0], 0, 999, false);
    expect(pickRows([view], { ...pick, visitsMax: 99 }, "append")).toBeUndefined();
    expect(pickRows([view], { ...pick, visitsMax: 100 }, "append")?.rowCount).toBe(100);
    expect(pickRows([view], { ...pick, visitsMax: 2, newestOnly: true }, "append")?.rowCount).toBe(1);
    expect(pickRows([view], { ...pick, visitsMax: 12, minOffset: 90 }, "append")?.rowCount).toBe(10);
  });

  test("take little more to find when rows come a little late", () => {
    const times = Array.from({ length: 100 }, (_, i) => (i % 5 === 4 ? i - 3 : i));
    const view = viewOf([times.map((time) => [0, time] as const)], 1);
    const pick = pickOf([0], 0, 999, false);
    expect(pickRows([view], { ...pick, visitsMax: 5, newestOnly: true }, "append")?.rowCount).toBe(1);
    expect(pickRows([view], { ...pick, visitsMax: 15, minOffset: 90 }, "append")?.rowCount).toBe(times.filter((time) => time >= 90).length);
  });

  test("are all found where times are too far apart for exact offsets", () => {
    const far = 1000n + 2n ** 60n;
    const chunks = [chunkOf([[0, 5]], 1), chunkOf([[0, 7]], 2, far), chunkOf([[0, 6]], 3, far), chunkOf([[0, 1]], 4)];
    const postings = new RowPostings();
    postings.extend(chunks, rowStarts(chunks), SERIES);
    const view: MemtableView = { chunks, starts: rowStarts(chunks), postings, times: undefined };
    const lines = (base: bigint, newest: boolean): string[] => rowsOf(pickRows([view], { ...pickOf([0], 0, 9, newest), base }, "append")!);
    expect([lines(1000n, false), lines(1000n, true)]).toEqual([["0 1 4/0", "0 5 1/0"], ["0 5 1/0"]]);
    expect([lines(far, false), lines(far, true)]).toEqual([["0 6 3/0", "0 7 2/0"], ["0 7 2/0"]]);
  });
});
