import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FIELDS, requestOf } from "../../../test/support/storage/arbitrary-rows.ts";
import { chunkOf, mergedRows, type Request, type Row } from "../../../test/support/storage/rows.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { MergeMode } from "../../table/schema.ts";
import { Arena, SlabPool } from "./arena.ts";
import type { Chunk } from "./chunk.ts";
import { scatterColumn } from "./scatter.ts";
import { DROPPED, type RowSelection, type SortedRows, sortRows } from "./sort-rows.ts";

const MODES: readonly MergeMode[] = ["last_row", "last_non_null", "append"];
const BASE = 1_700_000_000_000_000_000n;
const pool = new SlabPool(0);

function chunksOf(requests: readonly Request[]): Chunk[] {
  const arena = new Arena(pool);
  return requests.map((request, i) => chunkOf(i + 1, request, FIELDS, arena));
}

/** Buckets in the order of `order`; series that it leaves out are dropped. */
function selectionOf(order: readonly number[], seriesCount: number, min: bigint, max: bigint): RowSelection {
  const bucketOfSeries = new Uint32Array(seriesCount).fill(DROPPED);
  order.forEach((series, bucket) => (bucketOfSeries[series] = bucket));
  return { base: BASE, minOffset: Number(min - BASE), maxOffset: Number(max - BASE), bucketOfSeries, bucketCount: order.length };
}

/** Sorted rows as plain rows, read column by column. */
function rowsOf(sorted: SortedRows, order: readonly number[]): Row[] {
  const columns = FIELDS.map(({ id, type }) => scatterColumn(sorted, id, type));
  const rows: Row[] = [];
  for (let run = 0; run < sorted.runBuckets.length; run++) {
    expect(sorted.runStarts[run + 1]!).toBeGreaterThan(sorted.runStarts[run]!);
    for (let row = sorted.runStarts[run]!; row < sorted.runStarts[run + 1]!; row++) {
      rows.push({
        series: order[sorted.runBuckets[run]!]!,
        time: BASE + BigInt(sorted.times[row]!),
        values: columns.map((column, c) => scalarAt(column, FIELDS[c]!.type, row)),
      });
    }
  }
  expect([sorted.rowCount, sorted.times.length, sorted.runStarts.at(-1) ?? 0]).toEqual([rows.length, rows.length, rows.length]);
  return rows;
}

function check(requests: readonly Request[], order: readonly number[], mode: MergeMode, min?: bigint, max?: bigint): void {
  const from = min ?? BASE - 2n ** 50n;
  const to = max ?? BASE + 2n ** 50n;
  const selection = selectionOf(order, 8, from, to);
  const inside = requests.map((request) => ({ ...request, rows: request.rows.filter(({ time }) => time >= from && time <= to) }));
  expect(rowsOf(sortRows(chunksOf(requests), selection, mode), order)).toEqual(mergedRows(inside, FIELDS, order, mode));
}

const ALL = [0, 1, 2, 3, 4, 5, 6, 7];
const COLUMN = FIELDS[0]!.id;

/** A request that writes the first field alone. */
function request(...rows: readonly (readonly [series: number, time: number, value: number | undefined])[]): Request {
  return { rows: rows.map(([series, time, value]) => ({ series, time: BASE + BigInt(time), values: [value] })), columnIds: [COLUMN] };
}

describe("sorted rows equal the naive merge", () => {
  const order = fc.shuffledSubarray(ALL, { minLength: 1 });
  const time = (scale: bigint): fc.Arbitrary<bigint> => fc.bigInt({ min: -6n, max: 6n }).map((step) => BASE + step * scale);
  for (const mode of MODES) {
    test(`in merge mode ${mode}, for any requests, series and time range`, () => {
      const scales = fc.constantFrom(1n, 1000n, 1_000_000_000n);
      const cases = scales.chain((scale) =>
        fc.record({ requests: fc.array(requestOf(8, time(scale)), { maxLength: 5 }), order, min: time(scale), max: time(scale) }),
      );
      fc.assert(
        fc.property(cases, fc.boolean(), ({ requests, order: wanted, min, max }, isOpen) => {
          if (isOpen) check(requests, wanted, mode);
          else check(requests, wanted, mode, min < max ? min : max, min < max ? max : min);
        }),
        { seed: 5, numRuns: 250 },
      );
    });
  }

  test("with times far apart, in and out of order", () => {
    const far = fc.bigInt({ min: BASE - 2n ** 50n, max: BASE + 2n ** 50n });
    fc.assert(
      fc.property(fc.array(requestOf(3, far), { maxLength: 4 }), far, far, (requests, a, b) => {
        check(requests, ALL, "last_row", a < b ? a : b, a < b ? b : a);
      }),
      { seed: 6, numRuns: 100 },
    );
  });

  test("with long runs that are out of order", () => {
    for (const shuffle of [1, 7, 389]) {
      const rows = Array.from({ length: 400 }, (_, i) => [i % 3, (i * shuffle) % 400, i % 100] as const);
      for (const mode of MODES) check([request(...rows), request(...rows.slice(100, 250))], ALL, mode);
    }
  });
});

describe("rows with one series and time", () => {
  test("keep the last row whole, of one request and across requests", () => {
    check([request([1, 5, 10], [1, 5, 11], [1, 6, 12]), request([1, 5, 20], [1, 4, 21])], ALL, "last_row");
    check([request([1, 5, 10]), request([1, 5, undefined])], ALL, "last_row");
  });

  test("keep the last value of each field where one is NULL", () => {
    check([request([1, 5, 10]), request([1, 5, undefined])], ALL, "last_non_null");
    check([request([1, 5, 10], [2, 5, 1]), request([1, 5, undefined], [2, 5, 3])], ALL, "last_non_null");
    check([request([1, 5, undefined]), request([1, 5, 7]), request([1, 5, undefined])], ALL, "last_non_null");
  });

  test("keep the last value of each field where a request leaves one out", () => {
    const fields = FIELDS.slice(0, 2).map(({ id }) => id);
    const both: Request = { rows: [{ series: 1, time: BASE, values: [1, 2] }], columnIds: fields };
    const second: Request = { rows: [{ series: 1, time: BASE, values: [undefined, 9] }], columnIds: fields.slice(1) };
    for (const mode of MODES) check([both, second], ALL, mode);
  });

  test("stay in append mode, in the order in which they were written", () => {
    check([request([1, 5, 10], [1, 5, 11]), request([1, 5, 20], [1, 4, 21])], ALL, "append");
  });
});

describe("a selection", () => {
  const requests = [request([0, 0, 1], [1, 10, 2], [2, 20, 3]), request([0, 30, 4])];
  test("may want nothing that is there", () => {
    check(requests, [7], "last_row");
    check(requests, ALL, "last_row", BASE + 31n, BASE + 40n);
    check(requests, ALL, "last_row", BASE + 11n, BASE + 19n);
    check([], ALL, "last_row");
  });
  test("has inclusive ends", () => {
    check(requests, ALL, "last_row", BASE + 10n, BASE + 20n);
    check(requests, ALL, "last_row", BASE + 10n, BASE + 10n);
  });
  test("skips chunks a whole epoch away", () => {
    const old: Request = { rows: [{ series: 0, time: -(2n ** 63n), values: [1] }], columnIds: [COLUMN] };
    const late: Request = { rows: [{ series: 0, time: 2n ** 63n - 1n, values: [1] }], columnIds: [COLUMN] };
    const sorted = sortRows(chunksOf([old, late, ...requests]), selectionOf(ALL, 8, BASE, BASE + 100n), "last_row");
    expect(sorted.rowCount).toBe(4);
  });
});

describe("a column", () => {
  test("is as narrow as its widest chunk", () => {
    const sorted = sortRows(chunksOf([request([0, 0, 1]), request([0, 1, 100])]), selectionOf(ALL, 8, BASE, BASE + 5n), "last_row");
    expect(scatterColumn(sorted, COLUMN, FIELDS[0]!.type)).toEqual({ kind: "number", values: Int8Array.of(1, 100), validity: undefined });
  });

  test("that no chunk has is NULL in all rows, of the kind of its type", () => {
    const sorted = sortRows(chunksOf([request([0, 0, 1], [0, 1, 2])]), selectionOf(ALL, 8, BASE, BASE + 5n), "last_row");
    for (const { type } of FIELDS) {
      const vector = scatterColumn(sorted, 999, type);
      for (const row of [0, 1]) expect(scalarAt(vector, type, row)).toBeUndefined();
    }
  });
});
