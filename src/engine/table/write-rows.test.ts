import { expect, test } from "bun:test";
import { fixedClock } from "../../base/clock.ts";
import { tableId } from "../../base/units.ts";
import { type DataType, INT64, STRING } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { columnSources, writePlanOf } from "./write-rows.ts";

const CLOCK = fixedClock(1_686_441_600_123_456_789n);

function schemaOf(...fields: readonly Omit<ColumnSchema, "id" | "semantic">[]): TableSchema {
  const ts: ColumnSchema = {
    id: 1,
    name: "ts",
    type: { kind: "timestamp", unit: "microsecond" },
    semantic: "timestamp",
    nullable: false,
  };
  const columns = fields.map((field, i): ColumnSchema => ({ ...field, id: i + 2, semantic: "field" }));
  const rest = { version: 4, engine: "mito", options: {}, primaryKey: [] };
  return { id: tableId(1), database: "public", name: "t", columns: [ts, ...columns], ...rest };
}

function write(rowCount: number, fields: Readonly<Record<string, readonly [DataType, readonly Scalar[]]>>): TableWrite {
  return {
    table: "t",
    rowCount,
    keys: new Uint32Array(rowCount),
    timeUnit: "microsecond",
    times: { kind: "time", base: 0n, offsets: new Float64Array(rowCount), validity: undefined },
    fields: Object.entries(fields).map(([name, [type, values]]) => ({ name, type, vector: vectorOf(type, values) })),
  };
}

function check(schema: TableSchema, rows: TableWrite, want: Readonly<Record<number, readonly Scalar[]>>): void {
  const sources = columnSources(schema, writePlanOf(schema), rows, CLOCK);
  const got = sources.map(({ columnId: id, type, vector }) => [
    id,
    Array.from({ length: rows.rowCount }, (_, i) => scalarAt(vector, type, i)),
  ]);
  expect(Object.fromEntries(got)).toEqual({ ...want });
}

test("the plan knows the time unit, the columns by name and the fields that want a value", () => {
  const plan = writePlanOf(
    schemaOf(
      { name: "a", type: INT64, nullable: true },
      { name: "b", type: INT64, nullable: false },
      { name: "c", type: INT64, nullable: true, default: { kind: "now" } },
    ),
  );
  expect(plan.version).toBe(4);
  expect(plan.timeUnit).toBe("microsecond");
  expect([...plan.columnOf.keys()]).toEqual(["ts", "a", "b", "c"]);
  expect(plan.demanding.map(({ name }) => name)).toEqual(["b", "c"]);
});

test("fields get the ids of their columns; nullable ones may be left out", () => {
  const schema = schemaOf({ name: "a", type: INT64, nullable: true }, { name: "b", type: STRING, nullable: true });
  check(schema, write(2, { b: [STRING, ["x", undefined]] }), { 3: ["x", undefined] });
  check(schema, write(1, {}), {});
});

test("defaults fill in for fields that are left out, in the unit of their column", () => {
  const schema = schemaOf(
    { name: "n", type: INT64, nullable: false, default: { kind: "literal", value: 2n ** 63n - 1n } },
    { name: "s", type: STRING, nullable: true, default: { kind: "literal", value: "none" } },
    { name: "at", type: { kind: "timestamp", unit: "second" }, nullable: true, default: { kind: "now" } },
    { name: "ns", type: { kind: "timestamp", unit: "nanosecond" }, nullable: true, default: { kind: "now" } },
  );
  const now = CLOCK.nowNanos();
  check(schema, write(2, {}), {
    2: [2n ** 63n - 1n, 2n ** 63n - 1n],
    3: ["none", "none"],
    4: [1_686_441_600n, 1_686_441_600n],
    5: [now, now],
  });
});

test("a NULL that is given stays NULL where the column takes it", () => {
  const schema = schemaOf({ name: "s", type: STRING, nullable: true, default: { kind: "literal", value: "none" } });
  check(schema, write(2, { s: [STRING, [undefined, "x"]] }), { 2: [undefined, "x"] });
});

const REFUSED = "Invalid request to region, reason: column v is not null but input has null (table t)";

test("a NOT NULL field refuses NULL, being left out, and a NULL default", () => {
  const schema = schemaOf({ name: "v", type: INT64, nullable: false });
  const nullDefault = schemaOf({ name: "v", type: INT64, nullable: false, default: { kind: "literal", value: undefined } });
  expect(() => check(schema, write(2, { v: [INT64, [1, undefined]] }), {})).toThrow(REFUSED);
  expect(() => check(schema, write(1, {}), {})).toThrow(REFUSED);
  expect(() => check(nullDefault, write(1, {}), {})).toThrow(REFUSED);
});

test("NULLs beyond the rows of the write do not count", () => {
  const schema = schemaOf({ name: "v", type: INT64, nullable: false });
  const rows = write(1, { v: [INT64, [1, undefined, undefined]] });
  check(schema, rows, { 2: [1] });
});
