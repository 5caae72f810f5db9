/** Two servers agree exactly when they answered the same rows. */
import { describe, expect, test } from "bun:test";
import { type CanonicalCell, type CellKind, columnOrder, digestRows } from "./canonical.ts";

const KINDS: readonly CellKind[] = ["text", "integer", "float"];
type Rows = readonly (readonly CanonicalCell[])[];

function check(one: Rows, other: Rows, isSame: boolean, isOrdered = false): void {
  const digest = (rows: Rows): string => JSON.stringify(digestRows(rows, KINDS, [0, 1, 2], isOrdered));
  expect(digest(one) === digest(other)).toBe(isSame);
}

const A: readonly CanonicalCell[] = ["a", 1, 0.5];
const B: readonly CanonicalCell[] = ["b", 2, 1.5];

describe("the same rows", () => {
  test("in another order are the same, unless the query ordered them", () => {
    check([A, B], [B, A], true);
    check([A, B], [B, A], false, true);
  });

  test("with integers as text, numbers or bigints are the same", () => {
    check([["a", "1686441600000000001", 1]], [["a", 1686441600000000001n, 1]], true);
    check([["a", 5, 1]], [["a", 5n, 1]], true);
  });

  test("with floats that differ in the last bits are the same", () => {
    check([["a", 1, 0.1 + 0.2]], [["a", 1, 0.3]], true);
  });
});

describe("other rows", () => {
  test("in a cell, in number, or in how often are not the same", () => {
    check([A], [["a", 2, 0.5]], false);
    check([A], [["a", 1, 0.5000001]], false);
    check([A], [["A", 1, 0.5]], false);
    check([A, B], [A], false);
    check([A, A, B], [A, B, B], false);
    check([["a", null, 0.5]], [["a", 0, 0.5]], false);
    check([["1686441600000000001", 1, 1]], [["1686441600000000002", 1, 1]], false);
  });
});

test("SELECT * compares columns by name, others by position", () => {
  expect(columnOrder("SELECT * from cpu", ["b", "c", "a"])).toEqual([2, 0, 1]);
  expect(columnOrder("SELECT b, a from cpu", ["b", "a"])).toEqual([0, 1]);
});
