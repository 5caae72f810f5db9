import { describe, expect, test } from "bun:test";
import type { DataType } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import { textTableOf } from "../../../column/text-table.ts";
import { tagInput } from "./data-file-writer.ts";

describe("tags that are numbers, one a row", () => {
  const check = (type: DataType, values: readonly string[], runs: readonly (readonly [code: number, rows: number])[]): void => {
    const texts = [undefined, ...values]; // Code 0 is NULL.
    let end = 0;
    const ends = Uint32Array.from(runs, ([, rows]) => (end += rows));
    const input = tagInput(
      type,
      textTableOf(texts),
      Uint32Array.from(runs, ([code]) => code),
      ends,
    );
    if (input.kind === "runs" || input.kind === "coded") throw new Error("values, not runs");
    const want = runs.flatMap(([code, rows]) => new Array<string | undefined>(rows).fill(texts[code]));
    expect(want.map((_, row) => scalarAt(input, type, row)?.toString())).toEqual(want);
  };
  const int = (bits: 8 | 16 | 32 | 64, signed: boolean): DataType => ({ kind: "int", bits, signed });
  const runs = (...list: readonly (readonly [code: number, rows: number])[]): typeof list => list;
  test("neighbours that are equal or not, zero among them", () =>
    check(int(32, false), ["0", "7", "1024"], runs([1, 3], [2, 1], [2, 2], [1, 2], [1, 1], [3, 1], [2, 4], [1, 1])));
  test("below zero, and at the ends of 32 bits", () =>
    check(int(32, true), ["-1", "-2147483648", "2147483647"], runs([1, 1], [2, 2], [3, 2], [3, 1])));
  test("beyond 31 bits", () => check(int(32, false), ["1", "2147483648", "4294967295"], runs([1, 2], [2, 2], [3, 1], [1, 1])));
  test("of 64 bits", () => check(int(64, true), ["1", "9007199254740993"], runs([1, 2], [2, 1])));
  test("that are not there", () => check(int(32, false), ["5"], runs([1, 2], [0, 2], [1, 1])));
  test("none", () => check(int(32, false), ["5"], runs()));
});
