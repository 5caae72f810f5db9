import { expect, test } from "bun:test";
import { BINARY, type DataType, FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { MergeMode } from "../../../table/schema.ts";
import { mergeColumn, planMerge, takeRows } from "./merge-rows.ts";

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

test.each([
  ["number", FLOAT64, [1.5, undefined, -0]],
  ["wide", INT64, [2n ** 60n, undefined, 3]],
  ["time", TIMESTAMP_NANOSECOND, [10n ** 18n, undefined, 10n ** 18n + 1n]],
  ["wide", TIMESTAMP_NANOSECOND, [-(2n ** 63n), undefined, 2n ** 63n - 1n]],
  ["bytes", STRING, ["", undefined, "🐟"]],
  ["bytes", BINARY, [Uint8Array.of(1), undefined, new Uint8Array(0)]],
] as readonly (readonly [string, DataType, readonly Scalar[]])[])(
  "rows are taken from %s vectors in any order, more than once",
  (kind, type, values) => {
    const taken = takeRows(vectorOf(type, values), Uint32Array.of(2, 0, 1, 0));
    expect(taken.kind).toBe(kind as typeof taken.kind);
    expect([0, 1, 2, 3].map((row) => scalarAt(taken, type, row))).toEqual([values[2], values[0], values[1], values[0]]);
  },
);

test("rows are taken from dictionary vectors", () => {
  const taken = takeRows({ kind: "dictionary", codes: Uint32Array.of(2, 0, 1), dictionary: [undefined, "a", "b"] }, Uint32Array.of(0, 1));
  expect([0, 1].map((row) => scalarAt(taken, STRING, row))).toEqual(["b", undefined]);
});
