import { expect, test } from "bun:test";
import fc from "fast-check";
import { type DataType, FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { WriteBatch } from "../write-batch.ts";
import { ColumnWrites, type WrittenColumn } from "./column-writes.ts";

const COLUMNS: readonly WrittenColumn[] = [
  { name: "v", type: FLOAT64, semantic: "field" },
  { name: "host", type: STRING, semantic: "tag" },
  { name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" },
  { name: "id", type: INT64, semantic: "tag" },
  { name: "note", type: STRING, semantic: "field" },
];

/** Rows as objects, with their tags. */
function rowsOf({ dictionary, tables }: WriteBatch): unknown[] {
  return tables.flatMap(({ rowCount, keys, times, fields }) =>
    Array.from({ length: rowCount }, (_, row) => {
      const { names, values, nulls = [] } = dictionary.tagsOf(keys[row] as number);
      return {
        time: times.base + BigInt(times.offsets[row] as number),
        tags: Object.fromEntries([...names.map((name, i) => [name, values[i]]), ...nulls.map((name) => [name, undefined])]),
        fields: Object.fromEntries(fields.map(({ name, type, vector }) => [name, scalarAt(vector, type, row)])),
      };
    }),
  );
}

/** Texts as a dictionary with entries that nobody uses. */
function dictionaryOf(values: readonly Scalar[]): Vector {
  const dictionary = [undefined, "unused", ...new Set(values.filter((value): value is string => typeof value === "string"))];
  return { kind: "dictionary", codes: Uint32Array.from(values, (value) => dictionary.indexOf(value as string)), dictionary };
}

test("random columns are the rows that they were made of, batch after batch", () => {
  const text = fc.option(fc.constantFrom("", "a", "b", "ü", "a1"), { nil: undefined });
  const row = fc.tuple(
    fc.option(fc.double({ noNaN: true }), { nil: undefined }),
    text,
    fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 52n)),
    fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
    text,
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.array(row, { minLength: 1, maxLength: 12 })), { maxLength: 4 }), (batches) => {
      const writes = new ColumnWrites("t", COLUMNS);
      for (const [asDictionary, rows] of batches) {
        const vectors = COLUMNS.map(({ type }, i) => {
          const values = rows.map((each): Scalar => each[i]);
          return asDictionary && type.kind === "string" ? dictionaryOf(values) : vectorOf(type, values);
        });
        const want = rows.map(([v, host, time, id, note]) => ({
          time,
          tags: { host, id: id === undefined ? undefined : String(id) },
          fields: { v, note },
        }));
        expect(rowsOf(writes.batch(vectors, rows.length))).toEqual(want);
      }
    }),
    { seed: 20_261_124, numRuns: 300 },
  );
});

test("equal tags have one key however they come, and a dictionary may grow between batches", () => {
  const types: readonly DataType[] = [STRING, TIMESTAMP_NANOSECOND];
  const columns: readonly WrittenColumn[] = [
    { name: "host", type: STRING, semantic: "tag" },
    { name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" },
  ];
  const writes = new ColumnWrites("t", columns);
  const times = vectorOf(types[1] as DataType, [1n, 2n]);
  const dictionary: (string | undefined)[] = [undefined, "a"];
  const keysOf = (vector: Vector): number[] => [...(writes.batch([vector, times], 2).tables[0]?.keys ?? [])];
  expect(keysOf({ kind: "dictionary", codes: new Uint32Array([1, 0]), dictionary })).toEqual([0, 1]);
  dictionary.push("b");
  expect(keysOf({ kind: "dictionary", codes: new Uint32Array([2, 1]), dictionary })).toEqual([2, 0]);
  expect(keysOf({ kind: "dictionary", codes: new Uint32Array([2, 1]), dictionary: [undefined, "b", "a"] })).toEqual([0, 2]);
  expect(keysOf(vectorOf(STRING, ["b", undefined]))).toEqual([2, 1]);
});

test("refuses a time that is NULL", () => {
  const vectors = COLUMNS.map(({ type }) => vectorOf(type, [undefined]));
  expect(() => new ColumnWrites("t", COLUMNS).batch(vectors, 1)).toThrow("cannot write to t: the time index ts is NULL in some rows");
});

test("batches of several blocks: tags that do not depend on each other, sets that come back, tags of numbers, NULLs", () => {
  const columns: readonly WrittenColumn[] = [
    { name: "a", type: STRING, semantic: "tag" },
    { name: "b", type: STRING, semantic: "tag" },
    { name: "n", type: INT64, semantic: "tag" },
    { name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" },
  ];
  const writes = new ColumnWrites("t", columns);
  const rowCount = 10_000;
  for (const seed of [1, 7, 1]) {
    const a = Array.from({ length: rowCount }, (_, row): Scalar => ((row * seed) % 11 === 0 ? undefined : `a${(row * 31 * seed) % 97}`));
    const b = Array.from({ length: rowCount }, (_, row): Scalar => `b${(row * 17 * seed) % 89}`);
    const n = Array.from({ length: rowCount }, (_, row): Scalar => (row % 13 === 0 ? undefined : (row % 3) - 1));
    const times = vectorOf(
      TIMESTAMP_NANOSECOND,
      a.map((_, row) => BigInt(row)),
    );
    const batch = writes.batch([vectorOf(STRING, a), dictionaryOf(b), vectorOf(INT64, n), times], rowCount);
    const want = a.map((each, row) => ({ a: each, b: b[row], n: n[row] === undefined ? undefined : String(n[row]) }));
    expect(rowsOf(batch).map((row) => (row as { readonly tags: unknown }).tags)).toEqual(want);
    expect(new Set(batch.tables[0]?.keys).size).toBe(new Set(want.map((row) => JSON.stringify(row))).size);
  }
});

test("of tags without a column there is one set", () => {
  const writes = new ColumnWrites("t", [{ name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp" }]);
  const batch = writes.batch([vectorOf(TIMESTAMP_NANOSECOND, [1n, 2n, 3n])], 3);
  expect([...(batch.tables[0]?.keys ?? [])]).toEqual([0, 0, 0]);
});
