import { expect, test } from "bun:test";
import { BINARY, type DataType, FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "./data-type.ts";
import { scalarAt } from "./scalar.ts";
import { takeRows } from "./take-rows.ts";
import type { Scalar } from "./vector.ts";
import { vectorOf } from "./vector-builder.ts";

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

test("few long texts of many are taken, empty, NULL and longest ones among them", () => {
  const values = Array.from({ length: 500 }, (_, row) => (row % 7 === 0 ? undefined : row % 11 === 0 ? "" : `${row} `.repeat(row % 100)));
  const vector = vectorOf(STRING, values);
  for (const step of [1, 5, 11, 60]) {
    const picks = Uint32Array.from({ length: Math.floor(500 / step) }, (_, i) => 499 - i * step);
    const taken = takeRows(vector, picks);
    expect(Array.from(picks, (_, i) => scalarAt(taken, STRING, i))).toEqual(Array.from(picks, (row) => values[row]));
  }
});
