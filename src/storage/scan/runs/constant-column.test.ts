import { expect, test } from "bun:test";
import { INT64, STRING } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { ConstantColumn } from "./constant-column.ts";

test("every row holds the value, however many are asked for", () => {
  const column = new ConstantColumn(INT64, 7);
  for (const rows of [1, 10, 100_000]) expect(scalarAt(column.atLeast(rows), INT64, rows - 1)).toBe(7);
  expect(scalarAt(new ConstantColumn(STRING, "none").atLeast(3), STRING, 2)).toBe("none");
});

test("the vector is made once, as long as it is long enough", () => {
  const column = new ConstantColumn(INT64, 2n ** 60n);
  const vector = column.atLeast(100);
  expect(column.atLeast(50)).toBe(vector);
  expect(column.atLeast(101)).not.toBe(vector);
});
