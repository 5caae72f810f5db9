import { expect, test } from "bun:test";
import { type DataType, INT64 } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { MergeMode } from "../../../table/schema.ts";
import { mergeColumn, planMerge } from "./merge-rows.ts";

/** A row: series, time, age, value. */
type Row = readonly [group: number, time: number, age: number, value: Scalar];

function merged(rows: readonly Row[], mode: MergeMode, type: DataType = INT64): string[] {
  const plan = planMerge(
    Uint32Array.from(rows, ([group]) => group),
    Float64Array.from(rows, ([, time]) => time),
    Uint32Array.from(rows, ([, , age]) => age),
    mode,
  );
  const vector = mergeColumn(
    plan,
    vectorOf(
      type,
      rows.map(([, , , value]) => value),
    ),
    mode,
  );
  return Array.from({ length: plan.rowCount }, (_, r) => {
    const [group, time] = rows[plan.order[plan.starts[r]!]!]!;
    return `${group}@${time}=${String(scalarAt(vector, type, r))}`;
  });
}

const ROWS: readonly Row[] = [
  [0, 5, 0, 1],
  [0, 7, 0, 2],
  [0, 5, 1, undefined],
  [0, 6, 1, 4],
  [1, 5, 0, 5],
  [0, 7, 2, 6],
  [1, 5, 2, undefined],
];

test("the newest row wins whole", () => {
  expect(merged(ROWS, "last_row")).toEqual(["0@5=undefined", "0@6=4", "0@7=6", "1@5=undefined"]);
});

test("the newest value that is not NULL wins", () => {
  expect(merged(ROWS, "last_non_null")).toEqual(["0@5=1", "0@6=4", "0@7=6", "1@5=5"]);
});

test("in append mode all rows stay, ordered by time and then by age", () => {
  expect(merged(ROWS, "append")).toEqual(["0@5=1", "0@5=undefined", "0@6=4", "0@7=2", "0@7=6", "1@5=5", "1@5=undefined"]);
});

test("rows of one source and time keep their order", () => {
  const rows: Row[] = Array.from({ length: 50 }, (_, i): Row => [0, 1, 0, i]);
  expect(merged(rows, "append")).toEqual(rows.map(([, , , value]) => `0@1=${String(value)}`));
  expect(merged(rows, "last_row")).toEqual(["0@1=49"]);
});

test("a value that is NULL everywhere stays NULL", () => {
  expect(
    merged(
      [
        [0, 1, 0, undefined],
        [0, 1, 1, undefined],
      ],
      "last_non_null",
    ),
  ).toEqual(["0@1=undefined"]);
});

test("nothing merges to nothing", () => expect(merged([], "last_row")).toEqual([]));
