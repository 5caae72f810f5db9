import { expect, test } from "bun:test";
import { firstNumberFrom, firstWordFrom, pieceOf } from "./binary-search.ts";

test("the first of equal numbers is found, and the end where all are below", () => {
  const check = (numbers: readonly number[], number: number, want: number): void => {
    expect(firstNumberFrom(Float64Array.from(numbers), number)).toBe(want);
    expect(firstWordFrom(Uint32Array.from(numbers), number)).toBe(want);
  };
  check([], 1, 0);
  check([1], 0, 0);
  check([1], 1, 0);
  check([1], 2, 1);
  check([1, 3, 3, 3, 5], 3, 1);
  check([1, 3, 3, 3, 5], 4, 4);
  check([1, 3, 3, 3, 5], 6, 5);
});

test("only the range that was given is looked at", () => {
  const numbers = [9, 1, 2, 3, 0];
  expect(firstNumberFrom(Float64Array.from(numbers), 3, 1, 4)).toBe(3);
  expect(firstNumberFrom(Float64Array.from(numbers), 4, 1, 4)).toBe(4);
  expect(firstWordFrom(Uint32Array.from(numbers), 0, 1, 4)).toBe(1);
});

test("a row lies in the last piece that begins at it or before it", () => {
  const check = (starts: readonly number[], row: number, want: number): void => {
    expect(pieceOf(Uint32Array.from(starts), row)).toBe(want);
  };
  check([0], 0, 0);
  check([0, 4], 3, 0);
  check([0, 4], 4, 0); // Behind the end.
  check([0, 4, 4, 9], 3, 0);
  check([0, 4, 4, 9], 4, 2); // The second piece is empty.
  check([0, 4, 4, 9], 8, 2);
});
