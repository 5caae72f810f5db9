import { describe, expect, test } from "bun:test";
import { cutPages } from "./page-cut.ts";
import type { ColumnInput } from "../types.ts";

describe("page cuts", () => {
  const bytesColumn = (lengths: readonly number[]): ColumnInput => {
    const offsets = new Uint32Array(lengths.length + 1);
    lengths.forEach((length, i) => {
      offsets[i + 1] = offsets[i]! + length;
    });
    return { kind: "bytes", offsets, bytes: new Uint8Array(0), validity: undefined };
  };
  const check = (
    inputs: readonly ColumnInput[],
    rows: number,
    perPage: number,
    series: readonly number[] | undefined,
    want: readonly number[],
  ): void =>
    expect([...cutPages(inputs, 0, rows, perPage, series === undefined ? undefined : Uint32Array.from(series))]).toEqual([...want]);

  test("by rows", () => check([], 25, 10, undefined, [10, 20, 25]));
  test("none without rows", () => check([], 0, 10, undefined, []));
  test("back to a series border in the second half", () => check([], 25, 10, [7, 18, 25], [7, 17, 25]));
  test("not to a border in the first half", () => check([], 25, 10, [4, 25], [10, 20, 25]));
  test("before a page of strings grows too long", () => check([bytesColumn([600_000, 600_000, 10, 10])], 4, 10, undefined, [1, 4]));
  test("a value longer than a page alone", () => check([bytesColumn([5, 3_000_000, 5])], 3, 10, undefined, [1, 2, 3]));
});
