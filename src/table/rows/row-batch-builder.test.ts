import { expect, test } from "bun:test";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { RowBatchBuilder, type RowColumn } from "./row-batch-builder.ts";

const columns: readonly RowColumn[] = [
  { name: "host", type: STRING, semantic: "tag" },
  { name: "zone", type: STRING, semantic: "tag" },
  { name: "v", type: INT64, semantic: "field" },
  { name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" },
];

test("gives equal tag sets one key, and leaves out tags without a value", () => {
  const builder = new RowBatchBuilder("t", columns);
  builder.add(["a", "x", 1, 1n]);
  builder.add(["a", undefined, 2, 2n]);
  builder.add(["a", "", undefined, 3n]);
  builder.add(["a", "x", 4, 4n]);
  const { dictionary, tables } = builder.batch();
  const [write] = tables;
  const keys = Array.from(write?.keys ?? []);
  expect(keys[0]).toBe(keys[3] as number);
  expect(new Set(keys).size).toBe(3);
  expect(dictionary.tagsOf(keys[0] ?? 0)).toEqual({ table: "t", names: ["host", "zone"], values: ["a", "x"] });
  expect(dictionary.tagsOf(keys[1] ?? 0)).toEqual({ table: "t", names: ["host"], values: ["a"], nulls: ["zone"] });
  expect(dictionary.tagsOf(keys[2] ?? 0)).toEqual({ table: "t", names: ["host", "zone"], values: ["a", ""] });
  const field = write?.fields[0];
  expect(field && [0, 1, 2, 3].map((row) => scalarAt(field.vector, field.type, row))).toEqual([1, 2, undefined, 4]);
});

test("does not mix up tags whose texts run together", () => {
  const builder = new RowBatchBuilder("t", columns);
  builder.add(["a1:", "b", 1, 1n]);
  builder.add(["a", "1:b", 1, 1n]);
  expect(Array.from(builder.batch().tables[0]?.keys ?? [])).toEqual([0, 1]);
});

test("begins another write where times lie too far apart", () => {
  const builder = new RowBatchBuilder("t", columns);
  for (const time of [0n, 1n, 2n ** 60n, 2n ** 60n + 1n, -(2n ** 60n)]) builder.add([undefined, undefined, 1, time]);
  expect(builder.rowCount).toBe(5);
  expect(builder.batch().tables.map((write) => write.rowCount)).toEqual([2, 2, 1]);
});

test("refuses a row without a time", () => {
  expect(() => new RowBatchBuilder("t", columns).add(["a", "b", 1, undefined])).toThrow("a time of the time index");
  expect(() => new RowBatchBuilder("t", columns.slice(0, 2))).toThrow("one column of t is its time index");
});
