import { describe, expect, test } from "bun:test";
import { chunkOf, chunkScalar, type FieldColumn, mergedRows, type Request, type Row } from "../../../test/support/storage/rows.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { MergeMode } from "../../table/schema.ts";
import { Arena, SlabPool } from "./arena.ts";
import { joinChunks } from "./join-chunks.ts";
import { repeatedColumns } from "./repeated-bytes.ts";
import { scatterColumn } from "./scatter.ts";
import { sortRows } from "./sort-rows.ts";

const FIELDS: readonly FieldColumn[] = [
  { id: 10, type: STRING },
  { id: 11, type: STRING },
];
const arena = new Arena(new SlabPool(0));

/** A request of `[series, time]` rows; `texts` gives the first field, the second tells rows apart. */
function request(rows: readonly (readonly [number, number])[], texts: (row: number) => Scalar): Request {
  return {
    rows: rows.map(([series, time], i) => ({ series, time: BigInt(time), values: [texts(i), `row ${i} of ${rows.length}`] })),
    columnIds: [10, 11],
  };
}

/** The requests as chunks, sorted and moved, against the naive merge. */
function check(requests: readonly Request[], mode: MergeMode): void {
  const chunks = requests.map((each, i) => chunkOf(i + 1, each, FIELDS, arena));
  expect(chunks.some(({ columns }) => columns.some(({ data }) => data.kind === "repeated"))).toBe(true);
  const bucketOfSeries = Uint32Array.of(0, 1);
  const sorted = sortRows(chunks, { base: 0n, minOffset: 0, maxOffset: 1e9, bucketOfSeries, bucketCount: 2 }, mode);
  const columns = FIELDS.map(({ id, type }) => scatterColumn(sorted, id, type));
  const got: Row[] = [];
  for (let run = 0; run < sorted.runBuckets.length; run++) {
    for (let row = sorted.runStarts[run] ?? 0; row < (sorted.runStarts[run + 1] ?? 0); row++) {
      const values = columns.map((column) => scalarAt(column, STRING, row));
      got.push({ series: sorted.runBuckets[run] ?? -1, time: BigInt(sorted.times[row] ?? -1), values });
    }
  }
  expect(got).toEqual(mergedRows(requests, FIELDS, [0, 1], mode));
}

const IN_ORDER = [0, 1, 2, 3, 4].map((time) => [0, time] as const);
const MIXED = [9, 3, 3, 7, 1, 0].map((time, i) => [i % 2, time] as const);

describe("texts that all rows of a request have", () => {
  for (const mode of ["append", "last_row", "last_non_null"] as const) {
    test(`come back in merge mode ${mode}, beside requests whose rows differ`, () => {
      const differ = request(MIXED, (row) => ["a", undefined, "é".repeat(50), "", "longer than the others", undefined][row]);
      check([request(IN_ORDER, () => "same")], mode);
      check([request(IN_ORDER, () => "")], mode);
      check([request(MIXED, () => "é".repeat(10)), differ], mode);
      check([differ, request(MIXED, () => "x"), request(IN_ORDER, () => "x")], mode);
      check([differ, request(MIXED, () => "")], mode);
    });
  }

  test("are cast where the column had another type", () => {
    const chunk = chunkOf(
      1,
      request(IN_ORDER, () => "42"),
      FIELDS,
      arena,
    );
    const selection = { base: 0n, minOffset: 0, maxOffset: 1e9, bucketOfSeries: Uint32Array.of(0), bucketCount: 1 };
    const cast = scatterColumn(sortRows([chunk], selection, "append"), 20, INT64, [{ id: 10, type: STRING }]);
    expect(IN_ORDER.map((_, row) => scalarAt(cast, INT64, row))).toEqual([42, 42, 42, 42, 42]);
  });

  test("are joined with texts that differ", () => {
    const differ = request(IN_ORDER, (row) => (row === 2 ? undefined : `text ${row}`));
    const requests = [request(IN_ORDER, () => "same"), differ, request(IN_ORDER, () => "")];
    const joined = joinChunks(
      requests.map((each, i) => chunkOf(i + 1, each, FIELDS, arena)),
      arena,
    );
    const data = joined?.columns[0]?.data;
    const values = Array.from({ length: 15 }, (_, row) => (data === undefined ? "" : chunkScalar(data, STRING, row)));
    expect(values).toEqual(requests.flatMap(({ rows }) => rows.map((row) => row.values[0])));
    const alike = joinChunks(
      [1, 2].map((sequence) =>
        chunkOf(
          sequence,
          request(IN_ORDER, () => "same"),
          FIELDS,
          arena,
        ),
      ),
      arena,
    );
    expect(alike?.columns.map((column) => column.data.kind)).toEqual(["repeated", "bytes"]);
  });
});

/** Which of the columns are held once. */
function found(...columns: readonly (readonly Scalar[])[]): readonly number[] {
  return [
    ...repeatedColumns(
      columns.map((values) => ({ vector: vectorOf(typeof values[0] === "number" ? INT64 : STRING, values) })),
      columns[0]?.length ?? 0,
    ),
  ].sort((a, b) => a - b);
}

describe("a column is held once", () => {
  test("when all of its rows are equal", () => {
    expect(found(["ab", "ab", "ab"], ["", "", ""], ["a", "b", "c"])).toEqual([0, 1]);
    expect(found(["a", "a"])).toEqual([0]);
  });

  test("but not when one differs, is NULL, or is the only one", () => {
    expect(found(["ab", "ab", "aa"], ["b", "ab", "a"], ["aa", "b", "aab"])).toEqual([]);
    expect(found(["a", undefined, "a"], [undefined, undefined, undefined])).toEqual([]);
    expect(found(["a"])).toEqual([]);
    expect(found([1, 1])).toEqual([]);
  });

  test("unless a flush would have to hold far more than the request took", () => {
    const long = "x".repeat(1000);
    expect(found([long, long], ["ab", "ab"], ["c", "d"])).toEqual([1]);
    expect(found([long, long], ["y".repeat(600), "z".repeat(600)])).toEqual([0]);
  });
});
