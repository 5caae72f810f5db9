import { describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tableId } from "../../base/units.ts";
import { BINARY, type DataType, FLOAT32, INT64, STRING, UINT8 } from "../../column/data-type.ts";
import type { MetaValue } from "../../storage/meta-store/meta-store.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import type { ColumnDefault, TableSchema } from "../../table/schema.ts";
import { decodeFile, decodeSchema, encodeFile, encodeSchema, fileKey, flushedKey, tableKey } from "./meta-codec.ts";

const TYPES: readonly DataType[] = [
  INT64,
  UINT8,
  FLOAT32,
  STRING,
  BINARY,
  { kind: "boolean" },
  { kind: "date" },
  { kind: "timestamp", unit: "microsecond" },
  { kind: "duration", unit: "second" },
  { kind: "interval" },
  { kind: "decimal", precision: 38, scale: 10 },
  { kind: "json" },
  { kind: "json", structured: true },
  { kind: "time", unit: "microsecond" },
  { kind: "vector", dimension: 3 },
  NATIVE_HISTOGRAM,
  { kind: "map", key: STRING, value: { kind: "list", element: INT64 } },
];

function schemaWith(changes: Partial<TableSchema> = {}): TableSchema {
  return {
    id: tableId(7),
    database: "public",
    name: "cpu",
    version: 3,
    engine: "mito",
    options: { ttl: "7days", comment: 'a "quoted" one' },
    primaryKey: ["host"],
    columns: [
      { id: 1, name: "host", type: STRING, semantic: "tag", nullable: true, comment: "", indexes: ["SKIPPING INDEX"] },
      { id: 2, name: "ts", type: { kind: "timestamp", unit: "nanosecond" }, semantic: "timestamp", nullable: false },
    ],
    ...changes,
  };
}

function withDefault(value: ColumnDefault): TableSchema {
  return schemaWith({ columns: [{ id: 1, name: "v", type: INT64, semantic: "field", nullable: true, default: value }] });
}

/** Through JSON text, as the stores keep it. */
function stored(value: MetaValue): MetaValue {
  return JSON.parse(JSON.stringify(value)) as MetaValue;
}

function check(schema: TableSchema, nextColumnId = 9): void {
  const decoded = decodeSchema("table/7", stored(encodeSchema(schema, nextColumnId)));
  expect(decoded).toEqual({ schema, nextColumnId });
}

test("a schema reads back as it was", () => check(schemaWith()));

test("every type reads back with its parameters", () => {
  for (const type of TYPES) check(schemaWith({ columns: [{ id: 1, name: "v", type, semantic: "field", nullable: false }] }));
});

test("what only some tables and columns have reads back", () => {
  check(schemaWith({ createdMillis: 1_700_000_000_123 }));
  check(schemaWith({ spreads: [{ spread: 4 }, { from: -5n, spread: 8 }, { from: 2n ** 63n - 1n, spread: 1024 }] }));
  const partitions = { columns: ["host"], rules: ["host < 'a'", "host >= 'a'"] };
  check(schemaWith({ partitions }));
  const compared = { kind: "compare", column: "host", operator: "<=", text: "" } as const;
  check(schemaWith({ partitions: { ...partitions, tests: [{ kind: "any", of: [compared, { kind: "all", of: [compared] }] }, compared] } }));
  const hints = [
    { path: ["a", "b.c"], type: INT64, nullable: false, default: "9223372036854775807" },
    { path: ["d"], type: STRING, nullable: true },
  ];
  check(
    schemaWith({
      columns: [{ id: 1, name: "j", type: { kind: "json", structured: true }, semantic: "field", nullable: true, hints }],
    }),
  );
});

describe("defaults read back exactly", () => {
  const values = [
    undefined,
    true,
    false,
    0,
    1.5,
    -1e-300,
    Number.MAX_SAFE_INTEGER,
    2n ** 63n - 1n,
    -(2n ** 63n),
    5n,
    "",
    "1",
    "text",
    new Uint8Array(0),
    Uint8Array.of(0, 255),
    Number.POSITIVE_INFINITY,
  ];
  for (const value of values) test(`${typeof value} ${String(value)}`, () => check(withDefault({ kind: "literal", value })));

  test("current_timestamp()", () => check(withDefault({ kind: "now" })));
  test("now()", () => check(withDefault({ kind: "now", written: "now()" })));

  test("-0 and NaN", () => {
    for (const value of [-0, Number.NaN]) {
      const { schema } = decodeSchema("table/7", stored(encodeSchema(withDefault({ kind: "literal", value }), 2)));
      const back = schema.columns[0]?.default;
      expect(back?.kind === "literal" && Object.is(back.value, value)).toBe(true);
    }
  });
});

test("a file's description reads back, with times at the ends of 64 bits", () => {
  const file = {
    id: 5,
    name: "tables/0000000007/0000000005.parquet",
    rowCount: 10,
    byteLength: 1000,
    minTime: -(2n ** 63n),
    maxTime: 2n ** 63n - 1n,
    sequence: 77,
    schemaVersion: 3,
  };
  expect(decodeFile("file/7/5", stored(encodeFile(file)))).toEqual(file);
  const deleting = { ...file, rowCount: 0, tombstones: { count: 3, rowCount: 400 } };
  expect(decodeFile("file/7/5", stored(encodeFile(deleting)))).toEqual(deleting);
  expect(() => decodeFile("file/7/5", { ...(encodeFile(file) as object), tombstones: { count: 1.5, rowCount: 1 } })).toThrow(
    "a whole number",
  );
});

test("keys sort by their numbers, and files of one table have a prefix of their own", () => {
  expect([tableKey(tableId(2)), tableKey(tableId(10))].toSorted()).toEqual([tableKey(tableId(2)), tableKey(tableId(10))]);
  expect(fileKey(tableId(1), 5).startsWith(fileKey(tableId(1)))).toBe(true);
  expect(fileKey(tableId(10), 5).startsWith(fileKey(tableId(1)))).toBe(false);
  expect(flushedKey(tableId(1))).not.toBe(flushedKey(tableId(10)));
});

const good = stored(encodeSchema(withDefault({ kind: "literal", value: 5n }), 2)) as Record<string, MetaValue>;
const column = (good["columns"] as readonly Record<string, MetaValue>[])[0] ?? {};
const compared = { kind: "compare", column: "a", operator: "<", text: "5" };
const withTest = (test: MetaValue): MetaValue => ({ ...good, partitions: { columns: ["a"], rules: ["a < 5"], tests: [test] } });
/** Tests inside each other that no statement has so deep. */
const deepTest = Array.from({ length: 1000 }).reduce<MetaValue>((inner) => ({ kind: "all", of: [inner] }), compared);
const withColumn = (changes: Record<string, MetaValue>): MetaValue => ({ ...good, columns: [{ ...column, ...changes }] });
const rejects: readonly (readonly [MetaValue, string])[] = [
  [null, "expected an object; got null"],
  [[], "expected an object; got []"],
  [{ ...good, id: "7" }, 'expected a whole number; got "7"'],
  [{ ...good, id: 1.5 }, "expected a whole number; got 1.5"],
  [{ ...good, columns: {} }, "expected a list; got {}"],
  [{ ...good, options: { ttl: 5 } }, "expected text; got 5"],
  [{ ...good, spreads: [{ spread: "4" }] }, 'expected a whole number; got "4"'],
  [{ ...good, spreads: [{ spread: 4, from: 5 }] }, "expected text; got 5"],
  [withTest({ ...compared, kind: "not" }), 'expected one of all, any, compare; got "not"'],
  [withTest({ ...compared, operator: "LIKE" }), 'expected one of =, <>, <, <=, >, >=; got "LIKE"'],
  [withTest(deepTest), "expected at most 500 tests inside each other"],
  [withColumn({ semantic: "key" }), 'expected one of tag, field, timestamp; got "key"'],
  [withColumn({ type: { kind: "uuid" } }), 'got "uuid"'],
  [withColumn({ type: { kind: "int", bits: 12, signed: true } }), "expected one of 8, 16, 32, 64; got 12"],
  [withColumn({ type: { kind: "timestamp", unit: "day" } }), 'got "day"'],
  [withColumn({ default: { kind: "literal", type: "bigint", value: "x" } }), 'expected a whole number as text; got "x"'],
  [withColumn({ default: { kind: "literal", type: "bytes", value: "0g" } }), 'expected hexadecimal digits; got "0g"'],
  [withColumn({ default: { kind: "literal", type: "date", value: "1" } }), 'expected one of text; got "date"'],
];

test.each(rejects.map(([value, message]) => [message, value] as const))("a damaged entry is refused: %s", (message, value) => {
  let thrown: unknown;
  try {
    decodeSchema("table/7", value);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(DbError);
  expect((thrown as DbError).code).toBe(StatusCode.StorageUnavailable);
  expect((thrown as DbError).message).toStartWith("cannot read meta entry table/7: ");
  expect((thrown as DbError).message).toContain(message);
});
