import { expect, test } from "bun:test";
import fc from "fast-check";
import { BINARY, type DataType, FLOAT64, INT64, STRING } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { RowCollector, tagKey } from "./row-collector.ts";
import { SeriesDictionary } from "../series-dictionary.ts";
import type { TableWrite } from "../write-batch.ts";

/** Rows of all writes as objects. */
function rowsOf(writes: readonly TableWrite[]): unknown[] {
  return writes.flatMap(({ rowCount, times, fields, keys }) =>
    Array.from({ length: rowCount }, (_, row) => ({
      time: times.base + BigInt(times.offsets[row] ?? 0),
      key: keys[row],
      ...Object.fromEntries(fields.map(({ name, type, vector }) => [name, scalarAt(vector, type, row)])),
    })),
  );
}

test("columns are found on the way, and rows that do not set them hold NULL", () => {
  const collector = new RowCollector("t", "nanosecond");
  collector.begin(5n, 0);
  collector.field("a", STRING).set("é");
  collector.begin(6n, 1);
  collector.field("n", INT64).set(7);
  collector.begin(7n, 0);
  const body = new TextEncoder().encode("__text__");
  collector.field("a", STRING).setBytes(body, 2, 6);
  expect(rowsOf(collector.writes())).toEqual([
    { time: 5n, key: 0, a: "é", n: undefined },
    { time: 6n, key: 1, a: undefined, n: 7 },
    { time: 7n, key: 0, a: "text", n: undefined },
  ]);
});

test("the last cell of a row counts, also when it is NULL", () => {
  const collector = new RowCollector("t", "millisecond");
  collector.begin(1n, 0);
  for (const value of ["long text", "b"]) collector.field("a", STRING).set(value);
  collector.begin(2n, 0);
  for (const value of ["c", undefined]) collector.field("a", STRING).set(value);
  collector.begin(3n, 0);
  collector.field("a", STRING).set("d");
  expect(rowsOf(collector.writes())).toMatchObject([{ a: "b" }, { a: undefined }, { a: "d" }]);
});

test("a column has one type", () => {
  const collector = new RowCollector("t", "millisecond");
  collector.begin(1n, 0);
  collector.field("a", INT64).set(1);
  expect(collector.typeOf("a")).toEqual(INT64);
  expect(collector.typeOf("b")).toBeUndefined();
  expect(() => collector.field("a", FLOAT64)).toThrow(
    "Column datatype mismatch. For column: a, expected datatype: Int64, actual datatype: Float64",
  );
});

test("times too far apart make several writes", () => {
  const collector = new RowCollector("t", "nanosecond");
  const times = [0n, 2n ** 62n, -(2n ** 62n), 5n];
  for (const [i, time] of times.entries()) {
    collector.begin(time, i);
    collector.field("a", STRING).set(`${i}`);
  }
  const writes = collector.writes();
  expect(writes.length).toBe(4);
  expect(rowsOf(writes)).toEqual(times.map((time, i) => ({ time, key: i, a: `${i}` })));
});

test("a tag set has one key; other names, values or tables have others", () => {
  const dictionary = new SeriesDictionary();
  const keyOf = (table: string, names: readonly string[], values: readonly string[]): number => tagKey(dictionary, table, names, values);
  const keys = [keyOf("t", ["a"], ["b"]), keyOf("t", ["a"], ["b"]), keyOf("t", ["a"], ["c"]), keyOf("u", ["a"], ["b"]), keyOf("t", [], [])];
  expect(keys).toEqual([0, 0, 1, 2, 3]);
  expect(dictionary.tagsOf(1)).toEqual({ table: "t", names: ["a"], values: ["c"] });
});

test("a tag set stays what it was when the lists that it came in are filled again", () => {
  const dictionary = new SeriesDictionary();
  const names = ["id"];
  const values = ["251"];
  const key = tagKey(dictionary, "t", names, values);
  values[0] = "252";
  const next = tagKey(dictionary, "t", names, values);
  names.length = 0;
  expect([dictionary.tagsOf(key), dictionary.tagsOf(next)]).toEqual([
    { table: "t", names: ["id"], values: ["251"] },
    { table: "t", names: ["id"], values: ["252"] },
  ]);
});

test("random cells come back", () => {
  const types: Readonly<Record<string, DataType>> = { s: STRING, b: BINARY, i: INT64, f: FLOAT64 };
  const cell = fc.oneof(
    fc.tuple(fc.constant("s"), fc.option(fc.string({ unit: "grapheme", maxLength: 40 }), { nil: undefined })),
    fc.tuple(fc.constant("b"), fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined })),
    fc.tuple(fc.constant("i"), fc.option(fc.integer(), { nil: undefined })),
    fc.tuple(fc.constant("f"), fc.option(fc.double({ noNaN: true }), { nil: undefined })),
  );
  const property = fc.property(fc.array(fc.array(cell, { maxLength: 5 }), { minLength: 1, maxLength: 600 }), (rows) => {
    const collector = new RowCollector("t", "nanosecond");
    const want: Record<string, Scalar>[] = [];
    for (const [i, cells] of rows.entries()) {
      collector.begin(BigInt(i), i);
      const row: Record<string, Scalar> = {};
      for (const [name, value] of cells) {
        collector.field(name, types[name] as DataType).set(value);
        row[name] = value;
      }
      want.push(row);
    }
    const [write] = collector.writes();
    for (const { name, type, vector } of write?.fields ?? []) {
      for (const [i, row] of want.entries()) expect(scalarAt(vector, type, i)).toEqual(row[name]);
    }
  });
  fc.assert(property, { seed: 20261121, numRuns: 30 });
});
