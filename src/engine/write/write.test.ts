import { expect, test } from "bun:test";
import { fixedClock } from "../../base/clock.ts";
import { type DataType, FLOAT64, INT64, STRING, type TimeUnit } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { RowBatchBuilder, type RowColumn } from "../../table/rows/row-batch-builder.ts";
import type { ColumnDefinition, TableDefinition } from "../../table/schema.ts";
import type { WriteBatch } from "../../table/write-batch.ts";
import { AUTO, put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";

const NOW = 1_686_441_600_123_456_789n;

function time(unit: TimeUnit, name = "ts"): ColumnDefinition {
  return { name, type: { kind: "timestamp", unit }, semantic: "timestamp", nullable: false };
}

function field(name: string, type: DataType, more: Partial<ColumnDefinition> = {}): ColumnDefinition {
  return { name, type, semantic: "field", nullable: true, ...more };
}

function tag(name: string): ColumnDefinition {
  return { name, type: STRING, semantic: "tag", nullable: true };
}

function definition(columns: readonly ColumnDefinition[], options: Readonly<Record<string, string>> = {}): TableDefinition {
  const primaryKey = columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name);
  return { database: "public", name: "t", columns, primaryKey, engine: "mito", options };
}

function batchOf(columns: readonly RowColumn[], ...rows: readonly (readonly Scalar[])[]): WriteBatch {
  const builder = new RowBatchBuilder("t", columns);
  for (const row of rows) builder.add(row);
  return builder.batch();
}

async function machineWith(columns: readonly ColumnDefinition[]): Promise<Machine> {
  const machine = await Machine.start({ clock: fixedClock(NOW) });
  await machine.engine.createTable(definition(columns), false);
  return machine;
}

test("the first write makes the table: tags and fields of the first row, the time index, then what other rows add", async () => {
  const { engine } = await Machine.start();
  await put(engine, 'cpu,host=a,rack=r v=1i,note="x" 1\ncpu,host=b,zone=z w=2 2', { tableOptions: { merge_mode: "last_non_null" } });
  const schema = engine.table("public", "cpu")?.schema;
  expect(schema?.columns.map(({ name, semantic }) => `${name} ${semantic}`)).toEqual([
    "host tag",
    "rack tag",
    "v field",
    "note field",
    "greptime_timestamp timestamp",
    "zone tag",
    "w field",
  ]);
  expect(schema?.primaryKey).toEqual(["host", "rack", "zone"]);
  expect(schema?.options).toEqual({ merge_mode: "last_non_null" });
  expect(await read(engine, "cpu")).toEqual(["'a'|'r'|1|'x'|1|NULL|NULL", "'b'|NULL|NULL|NULL|2|'z'|2"]);
});

test("later writes add columns, and older rows are NULL there", async () => {
  const { engine } = await Machine.start();
  await put(engine, "cpu,host=a v=1i 1");
  await put(engine, "cpu,host=a,rack=r v=2i,w=1.5 2");
  expect(engine.table("public", "cpu")?.schema.version).toBe(2);
  expect(await read(engine, "cpu")).toEqual(["'a'|1|1|NULL|NULL", "'a'|2|2|'r'|1.5"]);
});

test("two writes that race to create a column with different types: the first wins, the second is refused whole", async () => {
  const { engine } = await Machine.start();
  const first = put(engine, "cpu,host=a v=1i 1");
  const builder = new RowBatchBuilder("cpu", [
    tag("host"),
    time("nanosecond", "greptime_timestamp"),
    field("v", FLOAT64),
    field("w", INT64),
  ]);
  builder.add(["b", 2n, 1.5, 1]);
  const second = refusal(engine.write("public", builder.batch(), AUTO));
  await first;
  expect(await second).toMatchObject({
    code: "InvalidArguments",
    message: "cannot write to table cpu: column v is BIGINT; got DOUBLE",
  });
  expect(await read(engine, "cpu")).toEqual(["'a'|1|1"]);
  expect(engine.table("public", "cpu")?.schema.columns.length).toBe(3);
});

test("one batch that wants a new column in two types is refused, and nothing of it happens", async () => {
  const columns = [tag("host"), time("nanosecond", "greptime_timestamp")];
  for (const exists of [false, true]) {
    const { engine } = await Machine.start();
    if (exists) await put(engine, "t,host=a v=1i 1");
    const one = batchOf([...columns, field("w", INT64)], ["a", 1n, 1]);
    const two = batchOf([...columns, field("w", STRING)], ["a", 2n, "x"]);
    const plain = batchOf(columns, ["a", 3n]);
    const both: WriteBatch = { dictionary: one.dictionary, tables: [...plain.tables, ...one.tables, ...two.tables] };
    expect((await refusal(engine.write("public", both, AUTO))).message).toBe("cannot write to table t: column w is BIGINT; got STRING");
    expect(engine.table("public", "t")?.schema.columns.length).toBe(exists ? 3 : undefined);
  }
});

const GREPTIME = time("nanosecond", "greptime_timestamp");
test.each([
  ["t", [tag("v"), GREPTIME], "column v is a field column; got a tag"],
  ["t", [field("host", INT64), GREPTIME], "column host is a tag column; got a field"],
  ["t", [tag("greptime_timestamp"), time("nanosecond")], "column greptime_timestamp is a timestamp column; got a tag"],
  ["new", [tag("w"), field("w", INT64), GREPTIME], "column w is a tag column; got a field"],
  ["new", [field("greptime_timestamp", INT64), time("nanosecond")], "column greptime_timestamp is a timestamp column; got a field"],
] as const)("a conflict in table %s names table, column, have and got", async (table, columns, want) => {
  const { engine } = await Machine.start();
  await put(engine, "t,host=a v=1i 1");
  const builder = new RowBatchBuilder(table, columns);
  builder.add(columns.map(({ semantic }) => (semantic === "tag" ? "x" : semantic === "field" ? 1 : 2n)));
  expect(await refusal(engine.write("public", builder.batch(), AUTO))).toMatchObject({
    code: "InvalidArguments",
    message: `cannot write to table ${table}: ${want}`,
  });
  expect(await read(engine, "t")).toEqual(["'a'|1|1"]);
  expect(engine.table("public", "new")).toBeUndefined();
});

test("with auto-create off, missing tables and columns are errors and known ones are written", async () => {
  const { engine } = await Machine.start();
  expect(await refusal(put(engine, "cpu,host=a v=1i 1", { autoCreate: false }))).toMatchObject({ code: "TableNotFound" });
  await put(engine, "cpu,host=a v=1i 1");
  expect(await refusal(put(engine, "cpu,host=a v=1i,w=1i 1", { autoCreate: false }))).toMatchObject({
    code: "TableColumnNotFound",
    message: "cannot write to table cpu: it has no column w, and auto_create_table is off",
  });
  await put(engine, "cpu,host=b v=2i 2", { autoCreate: false });
  expect(await read(engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2"]);
});

test("NOT NULL fields refuse to be left out or NULL; nothing of the batch is written", async () => {
  const machine = await machineWith([time("nanosecond"), field("v", INT64, { nullable: false }), field("w", INT64)]);
  const missing = batchOf([time("nanosecond"), field("w", INT64)], [1n, 1]);
  const nulls = batchOf([time("nanosecond"), field("v", INT64)], [1n, 1], [2n, undefined]);
  for (const batch of [missing, nulls]) {
    expect(await refusal(machine.engine.write("public", batch, AUTO))).toMatchObject({
      code: "InvalidArguments",
      message: "Invalid request to region, reason: column v is not null but input has null (table t)",
    });
  }
  await machine.engine.write("public", batchOf([time("nanosecond"), field("v", INT64)], [3n, 7]), AUTO);
  expect(await read(machine.engine, "t")).toEqual(["3|7|NULL"]);
  await machine.crash();
  expect(await read(machine.engine, "t")).toEqual(["3|7|NULL"]);
});

test("fields that are left out take their default; fields given as NULL stay NULL", async () => {
  const { engine } = await machineWith([
    time("nanosecond"),
    field("n", INT64, { nullable: false, default: { kind: "literal", value: 5 } }),
    field("s", STRING, { default: { kind: "literal", value: "none" } }),
    field("at", { kind: "timestamp", unit: "millisecond" }, { default: { kind: "now" } }),
  ]);
  await engine.write("public", batchOf([time("nanosecond")], [1n]), AUTO);
  await engine.write("public", batchOf([time("nanosecond"), field("s", STRING)], [2n, undefined]), AUTO);
  expect(await read(engine, "t")).toEqual(["1|5|'none'|1686441600123", "2|5|NULL|1686441600123"]);
});

test.each([
  ["nanosecond", "millisecond", [1_500_000n, -1n, -1_000_000n, 0n], [-1n, -1n, 0n, 1n]],
  ["millisecond", "nanosecond", [2n, -3n], [-3_000_000n, 2_000_000n]],
  ["second", "second", [-(2n ** 63n), 2n ** 63n - 1n], [-(2n ** 63n), 2n ** 63n - 1n]],
] as const)("times in %ss are stored in %ss, rounded down", async (from, to, times, want) => {
  const { engine } = await Machine.start();
  await engine.createTable(definition([time(to), field("v", INT64)], { append_mode: "true" }), false);
  const builder = batchOf([time(from), field("v", INT64)], ...times.map((at) => [at, 1] as const));
  await engine.write("public", builder, AUTO);
  expect(await read(engine, "t", { projection: ["ts"] })).toEqual(want.map(String));
});

test("times that get too far apart in the table's unit are still one write", async () => {
  const { engine } = await machineWith([tag("host"), time("nanosecond"), field("v", STRING)]);
  const day = 86_400_000n;
  const rows = Array.from({ length: 50 }, (_, i) => [i % 2 === 0 ? "a" : "b", BigInt(i * 37 - 900) * day, `row ${i}`] as const);
  const batch = batchOf([tag("host"), time("millisecond"), field("v", STRING)], ...rows);
  expect(batch.tables.length).toBe(1);
  expect(await engine.write("public", batch, AUTO)).toEqual({ rowCount: 50 });
  expect((await read(engine, "t")).toSorted()).toEqual(rows.map(([host, at, v]) => `'${host}'|${at * 1_000_000n}|'${v}'`).toSorted());
});

test("a time beyond 64 bits in the table's unit is refused", async () => {
  const { engine } = await machineWith([time("nanosecond"), field("v", INT64)]);
  const batch = batchOf([time("second"), field("v", INT64)], [9_223_372_037n, 1]);
  expect(await refusal(engine.write("public", batch, AUTO))).toMatchObject({
    code: "InvalidArguments",
    message: "cannot write time 9223372037 (seconds): it is out of the range of a time index in nanoseconds; send times nearer to 1970",
  });
});

test("databases that do not exist or cannot be written are refused before anything is made", async () => {
  const { engine } = await Machine.start();
  const lines = "cpu,host=a v=1i 1";
  expect(await refusal(put(engine, lines, { database: "none" }))).toMatchObject({
    code: "DatabaseNotFound",
    message: "Database not found: none",
  });
  expect((await refusal(put(engine, lines, { database: "information_schema" }))).code).toBe("Unsupported");
  expect(engine.tables("public")).toEqual([]);
});

test("one decoder serves tables that are dropped and made again, and databases in turn", async () => {
  const { engine } = await Machine.start();
  await engine.createDatabase("other", {}, false);
  const batch = batchOf([tag("host"), time("nanosecond"), field("v", INT64)], ["a", 1n, 1], ["b", 2n, 2]);
  await engine.write("public", batch, AUTO);
  await engine.write("other", batch, AUTO);
  await engine.dropTable("public", "t", false);
  await engine.write("public", batch, AUTO);
  expect(await read(engine, "t", { projection: ["host", "v"] })).toEqual(["'a'|1", "'b'|2"]);
  expect(engine.table("other", "t")?.statistics().rowCount).toBe(2);
});

test("a write without rows does nothing", async () => {
  const { engine } = await Machine.start();
  const empty = new RowBatchBuilder("t", [time("nanosecond")]).batch();
  expect(await engine.write("public", empty, AUTO)).toEqual({ rowCount: 0 });
  expect(engine.tables("public")).toEqual([]);
});

test("a table that the write makes is durable before the write is acknowledged", async () => {
  const machine = await Machine.start();
  const before = machine.meta.list("table/").length;
  await put(machine.engine, "cpu,host=a v=1i 1");
  expect(machine.meta.list("table/").length).toBe(before + 1);
});

test("a table that a write makes takes its database's options, and no merge mode where that keeps all rows", async () => {
  const machine = await Machine.start();
  await machine.engine.createDatabase("logs", { append_mode: "true", ttl: "7days" }, false);
  await put(machine.engine, "cpu,host=a v=1i 1", { database: "logs", tableOptions: { merge_mode: "last_non_null", comment: "c" } });
  expect(machine.engine.table("logs", "cpu")?.schema.options).toEqual({ append_mode: "true", comment: "c" });
  await put(machine.engine, "cpu,host=a v=1i 1", { tableOptions: { merge_mode: "last_non_null" } });
  expect(machine.engine.table("public", "cpu")?.schema.options).toEqual({ merge_mode: "last_non_null" });
});

/** Writes two rows of the table `t`, of one time a tag, in two writes of one batch. */
function doubles(values: readonly [number, number], widens: boolean): WriteBatch {
  const columns = [tag("host"), time("nanosecond"), field("v", FLOAT64)];
  const batch = batchOf(columns, ["b", 2n, values[0]], ["c", 3n, values[1]]);
  const tables = batch.tables.map((write) => ({ ...write, fields: write.fields.map((each) => (widens ? { ...each, widens } : each)) }));
  return { dictionary: batch.dictionary, tables: [...tables, ...tables] };
}

test("a write that widens makes a BIGINT column DOUBLE; rows in memory, in files and in the log keep their values", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "t,host=a v=1i 1");
  await machine.engine.flushTable("public", "t");
  await put(machine.engine, "t,host=d v=9007199254740991i 4");
  expect(await machine.engine.write("public", doubles([2.5, -0.5], true), AUTO)).toEqual({ rowCount: 4 });
  const want = ["'a'|1", "'b'|2.5", "'c'|-0.5", "'d'|9007199254740991"];
  for (const _ of [1, 2]) {
    expect(machine.engine.table("public", "t")?.schema.columns.find(({ name }) => name === "v")?.type).toEqual(FLOAT64);
    expect(await read(machine.engine, "t", { projection: ["host", "v"] })).toEqual(want);
    await machine.crash();
  }
  await machine.engine.write("public", doubles([7, 8], true), AUTO);
  expect(await read(machine.engine, "t", { projection: ["v"] })).toEqual(["1", "7", "8", "9007199254740991"]);
});

test("other writes of doubles to a BIGINT column are refused, and so is one that widens where writes may not extend tables", async () => {
  const { engine } = await Machine.start();
  await put(engine, "t,host=a v=1i 1");
  const message = "cannot write to table t: column v is BIGINT; got DOUBLE";
  expect(await refusal(engine.write("public", doubles([1, 2], false), AUTO))).toMatchObject({ message });
  expect(await refusal(engine.write("public", doubles([1, 2], true), { ...AUTO, autoCreate: false }))).toMatchObject({ message });
  expect(engine.table("public", "t")?.schema.version).toBe(1);
});

test("an external table takes no rows, by whatever way they come", async () => {
  const machine = await Machine.start();
  const external = { ...definition([time("millisecond"), field("v", FLOAT64)], { location: "a.csv", format: "csv" }), engine: "file" };
  await machine.engine.createTable(external, false);
  expect(put(machine.engine, "t v=1 1000000")).rejects.toThrow("cannot change table t: it is an external table, which is read-only");
  await machine.restart();
  expect(machine.engine.table("public", "t")?.schema).toMatchObject({ engine: "file", options: { location: "a.csv", format: "csv" } });
});
