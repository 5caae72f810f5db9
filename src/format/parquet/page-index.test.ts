import { describe, expect, test } from "bun:test";
import type { DataType } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { PageIndex } from "./types.ts";
import { field, inputOf, openMemory, runsOf, writeToMemory } from "./testing/memory-file.ts";

const INT64: DataType = { kind: "int", bits: 64, signed: true };

function indexOf(type: DataType, values: readonly Scalar[]): PageIndex {
  const bytes = writeToMemory([field("v", type)], values.length, [inputOf(type, values)], { rowsPerPage: 4 });
  return openMemory(bytes).pageIndex(0, 0);
}

describe("the page index", () => {
  test("has bounds, NULL counts, row starts and sums of integers", () => {
    const index = indexOf(INT64, [5, -3, undefined, 4, undefined, undefined, undefined, undefined, 9]);
    expect(index.pageCount).toBe(3);
    expect([...index.rowStarts]).toEqual([0, 4, 8, 9]);
    expect([...index.nullCounts]).toEqual([1, 4, 0]);
    expect([...(index.mins ?? [])]).toEqual([-3, Number.NaN, 9]);
    expect([...(index.maxs ?? [])]).toEqual([5, Number.NaN, 9]);
    expect([...(index.sums ?? [])]).toEqual([6, 0, 9]);
  });

  test("rounds bounds beyond 2^53 outwards and keeps the exact ones", () => {
    const index = indexOf(INT64, [2n ** 53n + 1n, 2n ** 53n + 3n]);
    expect(index.mins?.[0]).toBe(2 ** 53);
    expect(index.maxs?.[0]).toBe(2 ** 53 + 4);
    expect([index.wideMins?.[0], index.wideMaxs?.[0]]).toEqual([2n ** 53n + 1n, 2n ** 53n + 3n]);
    expect(index.sums?.[0]).toBeNaN();
  });

  test("knows the ends of signed and unsigned 64 bits", () => {
    const signed = indexOf(INT64, [-(2n ** 63n), 2n ** 63n - 1n]);
    expect([signed.mins?.[0], signed.maxs?.[0]]).toEqual([-(2 ** 63), 2 ** 63]);
    const unsigned = indexOf({ kind: "int", bits: 64, signed: false }, [2n ** 64n - 1n, 1]);
    expect([unsigned.mins?.[0], unsigned.maxs?.[0]]).toEqual([1, 2 ** 64]);
    expect(unsigned.wideMaxs?.[0]).toBe(2n ** 64n - 1n);
  });

  test("leaves a page with NaN open above and without a sum", () => {
    const index = indexOf({ kind: "float", bits: 64 }, [1, Number.NaN, -2, 3, 0, 1, -0, 2, Number.NaN]);
    expect([...(index.mins ?? [])]).toEqual([-2, -0, Number.NEGATIVE_INFINITY]);
    expect([...(index.maxs ?? [])]).toEqual([Number.POSITIVE_INFINITY, 2, Number.POSITIVE_INFINITY]);
    expect([...(index.sums ?? [])]).toEqual([Number.NaN, 3, Number.NaN]);
  });

  test("gives times in the unit of the column", () => {
    const index = indexOf({ kind: "timestamp", unit: "second" }, [100n, 50n]);
    expect([index.wideMins?.[0], index.wideMaxs?.[0], index.mins?.[0]]).toEqual([50n, 100n, 50]);
    expect(index.sums).toBeUndefined();
  });

  test("cuts bounds of long strings to prefixes that still bound", () => {
    const long = "m".repeat(200);
    const index = indexOf({ kind: "string" }, [long, "k", undefined, undefined, undefined, undefined, undefined, undefined]);
    expect(new TextDecoder().decode(index.byteMins?.[0])).toBe("k");
    expect(new TextDecoder().decode(index.byteMaxs?.[0])).toBe(`${"m".repeat(63)}n`);
    expect([index.byteMins?.[1], index.mins]).toEqual([undefined, undefined]);
  });

  test("bounds bytes of 0xFF, which no shorter string does", () => {
    const value = new Uint8Array(80).fill(0xff);
    const index = indexOf({ kind: "binary" }, [value]);
    expect(index.byteMaxs?.[0]).toEqual(value);
    expect(index.byteMins?.[0]).toEqual(value.subarray(0, 64));
  });
});

test("pages end at series borders in their second half, in every column", () => {
  const rows = Array.from({ length: 100 }, (_, i) => i);
  const columns = [{ name: "tag", type: { kind: "string" }, nullable: true, role: "tag" } as const, field("v", INT64)];
  const inputs = [runsOf(rows.map((i) => `s${Math.floor(i / 12)}`)), inputOf(INT64, rows)];
  const bytes = writeToMemory(columns, 100, inputs, {
    rowsPerPage: 20,
    seriesEnds: Uint32Array.from([12, 24, 36, 48, 60, 72, 84, 96, 100]),
  });
  const file = openMemory(bytes);
  expect([...file.pageIndex(0, 0).rowStarts]).toEqual([0, 12, 24, 36, 48, 60, 72, 84, 100]);
  expect([...file.pageIndex(0, 1).rowStarts]).toEqual([...file.pageIndex(0, 0).rowStarts]);
});

test("page sums of later row groups are found", () => {
  const rows = Array.from({ length: 50 }, (_, i) => i);
  const columns = [field("s", { kind: "string" }), field("a", INT64), field("b", INT64)];
  const inputs = [
    inputOf({ kind: "string" }, rows.map(String)),
    inputOf(INT64, rows),
    inputOf(
      INT64,
      rows.map((i) => -i),
    ),
  ];
  const file = openMemory(writeToMemory(columns, 50, inputs, { rowsPerPage: 7, rowsPerRowGroup: 20 }));
  const total = (column: number): number =>
    file.rowGroups.reduce((sum, _, g) => sum + [...(file.pageIndex(g, column).sums ?? [])].reduce((a, b) => a + b, 0), 0);
  expect([total(1), total(2)]).toEqual([1225, -1225]);
  expect([...(file.pageIndex(2, 2).sums ?? [])]).toEqual([-301, -144]);
});
