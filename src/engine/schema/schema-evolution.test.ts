import { expect, test } from "bun:test";
import { fnv1a } from "../../base/bytes/hash.ts";
import { type DataType, FLOAT64, INT64, STRING } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { ColumnDefinition } from "../../table/schema.ts";
import { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { FieldWrite, TableWrite } from "../../table/write-batch.ts";
import { checkMayExtend, columnsForNewTable, missingColumns, tableMissing, tagNamesOf } from "./schema-evolution.ts";

const AUTO = { autoCreate: true, tableOptions: {} };
const FIXED = { autoCreate: false, tableOptions: {} };

function dictionaryOf(...tagSets: readonly Readonly<Record<string, string>>[]): SeriesDictionary {
  const dictionary = new SeriesDictionary();
  for (const tags of tagSets) {
    const bytes = new TextEncoder().encode(JSON.stringify(tags));
    const hash = fnv1a(bytes, 0, bytes.length);
    dictionary.add(bytes, 0, bytes.length, hash, { table: "t", names: Object.keys(tags), values: Object.values(tags) });
  }
  return dictionary;
}

function field(name: string, type: DataType, ...values: readonly Scalar[]): FieldWrite {
  return { name, type, vector: vectorOf(type, values) };
}

function writeOf(keys: readonly number[], fields: readonly FieldWrite[]): TableWrite {
  const times = { kind: "time" as const, base: 0n, offsets: new Float64Array(keys.length), validity: undefined };
  return { table: "t", rowCount: keys.length, keys: Uint32Array.from(keys), timeUnit: "millisecond", times, fields };
}

function column(name: string, type: DataType, semantic: ColumnDefinition["semantic"]): ColumnDefinition {
  return { name, type, semantic, nullable: semantic !== "timestamp" };
}

const TABLE = {
  name: "t",
  columns: [
    column("host", STRING, "tag"),
    column("ts", { kind: "timestamp", unit: "nanosecond" }, "timestamp"),
    column("v", INT64, "field"),
  ],
};

function names(columns: readonly ColumnDefinition[]): string[] {
  return columns.map(({ name, semantic }) => `${semantic} ${name}`);
}

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return "no error";
}

test("tag names come in the order in which they are first seen, each once", () => {
  const dictionary = dictionaryOf({ b: "1" }, { a: "1", b: "2" }, { c: "1" });
  expect(tagNamesOf(dictionary, [0, 1])).toEqual(["b", "a"]);
  expect(tagNamesOf(dictionary, [2, 1])).toEqual(["c", "a", "b"]);
  expect(tagNamesOf(dictionary, [])).toEqual([]);
});

test("a new table begins with what its first row has", () => {
  const dictionary = dictionaryOf({ host: "a" }, { host: "a", rack: "r" });
  const write = writeOf([0, 1], [field("late", INT64, undefined, 1), field("first", INT64, 1, 2)]);
  const columns = columnsForNewTable(write, dictionary, ["host", "rack"]);
  expect(names(columns)).toEqual(["tag host", "field first", "timestamp greptime_timestamp", "tag rack", "field late"]);
  expect(columns[2]).toMatchObject({ type: { kind: "timestamp", unit: "millisecond" }, nullable: false });
});

test("nothing is missing when tags and fields exist with their types", () => {
  expect(missingColumns(TABLE, ["host"], [field("v", { kind: "int", bits: 64, signed: true }, 1)])).toEqual([]);
});

test("missing tags come before missing fields", () => {
  expect(names(missingColumns(TABLE, ["rack", "host"], [field("w", FLOAT64, 1), field("v", INT64, 1)]))).toEqual(["tag rack", "field w"]);
});

const conflicts: readonly (readonly [string, readonly string[], readonly FieldWrite[]])[] = [
  ["column v is a field column; got a tag", ["v"], []],
  ["column ts is a timestamp column; got a tag", ["ts"], []],
  ["column host is a tag column; got a field", [], [field("host", STRING, "x")]],
  ["column v is BIGINT; got DOUBLE", [], [field("v", FLOAT64, 1)]],
  ["column new is a tag column; got a field", ["new"], [field("new", FLOAT64, 1)]],
  ["column new is DOUBLE; got BIGINT", [], [field("new", FLOAT64, 1), field("new", INT64, 1)]],
];
test.each(conflicts)("a conflict is refused: %s", (message, tags, fields) => {
  expect(messageOf(() => missingColumns(TABLE, tags, fields))).toBe(`cannot write to table t: ${message}`);
});

test("a new table refuses a name for two columns", () => {
  const dictionary = dictionaryOf({ v: "x" });
  const write = writeOf([0], [field("v", INT64, 1)]);
  expect(messageOf(() => columnsForNewTable(write, dictionary, ["v"]))).toContain("column v is a tag column; got a field");
  const time = writeOf([0], [field("greptime_timestamp", INT64, 1)]);
  expect(messageOf(() => columnsForNewTable(time, dictionary, []))).toContain(
    "column greptime_timestamp is a timestamp column; got a field",
  );
});

test("more names than a table may have columns are refused before they are looked at", () => {
  const names = Array.from({ length: 300_000 }, (_, i) => `t${i}`);
  expect(() => missingColumns({ name: "wide", columns: [] }, names, [])).toThrow(
    "cannot give table wide 300000 columns: the limit is 4096; use fewer distinct tag and field names",
  );
});

test("only a write that may create extends tables", () => {
  const missing = [column("w", INT64, "field")];
  expect(messageOf(() => checkMayExtend(TABLE, missing, AUTO))).toBe("no error");
  expect(messageOf(() => checkMayExtend(TABLE, [], FIXED))).toBe("no error");
  expect(messageOf(() => checkMayExtend(TABLE, missing, FIXED))).toBe(
    "cannot write to table t: it has no column w, and auto_create_table is off",
  );
  expect(tableMissing("public", "t", AUTO)).toBeUndefined();
  expect(tableMissing("public", "t", FIXED)?.message).toBe(
    "Table `t` does not exist, and `auto_create_table` hint is disabled (database public)",
  );
});

test("a shape gives a new table its columns and their order, and added columns their indexes", () => {
  const body = { ...column("body", STRING, "field"), indexes: ["FULLTEXT INDEX"] };
  const shape = [column("ts", { kind: "timestamp", unit: "nanosecond" }, "timestamp"), body, column("scope", STRING, "tag")];
  const dictionary = dictionaryOf({ app: "x" });
  const fields = [field("level", INT64, 1n), field("body", STRING, "b")];
  const write = { ...writeOf([0], fields), shape };
  const made = columnsForNewTable(write, dictionary, ["app"]);
  expect(names(made)).toEqual(["timestamp ts", "field body", "tag scope", "tag app", "field level"]);
  expect(made[1]).toEqual(body);
  expect(missingColumns(TABLE, ["host"], fields, shape)).toEqual([column("level", INT64, "field"), body]);
  expect(messageOf(() => columnsForNewTable({ ...write, fields: [field("scope", STRING, "b")] }, dictionary, []))).toBe(
    "cannot write to table t: column scope is a tag column; got a field",
  );
});
