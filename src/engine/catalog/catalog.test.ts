import { expect, test } from "bun:test";
import { put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import type { TableDefinition } from "../../table/schema.ts";

const CPU: TableDefinition = {
  database: "public",
  name: "cpu",
  columns: [
    { name: "host", type: STRING, semantic: "tag", nullable: true },
    { name: "ts", type: TIMESTAMP_NANOSECOND, semantic: "timestamp", nullable: false },
    { name: "v", type: INT64, semantic: "field", nullable: true },
  ],
  primaryKey: ["host"],
  engine: "mito",
  options: {},
};

test("databases come and go, and survive a crash", async () => {
  const machine = await Machine.start();
  expect(await machine.engine.createDatabase("metrics", { ttl: "7days" }, false)).toBe(true);
  expect(await machine.engine.createDatabase("metrics", {}, true)).toBe(false);
  expect((await refusal(machine.engine.createDatabase("metrics", {}, false))).code).toBe("DatabaseAlreadyExists");
  await put(machine.engine, "cpu,host=a v=1i 1", { database: "metrics" });
  await machine.crash();
  expect(machine.engine.database("metrics")).toEqual({ name: "metrics", options: { ttl: "7days" } });
  expect(machine.engine.tables("metrics").map(({ schema }) => schema.name)).toEqual(["cpu"]);
  expect(await machine.engine.dropDatabase("metrics", false)).toBe(true);
  expect(await machine.engine.dropDatabase("metrics", true)).toBe(false);
  expect((await refusal(machine.engine.dropDatabase("metrics", false))).code).toBe("DatabaseNotFound");
  await machine.crash();
  expect(machine.engine.databases().map(({ name }) => name)).toEqual(["greptime_private", "information_schema", "public"]);
});

test("a dropped table leaves no files, no entries and no rows, also after a crash", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=a v=2i 2");
  expect(await machine.engine.dropTable("public", "cpu", false)).toBe(true);
  expect(machine.files.size).toBe(0);
  expect([...machine.meta.list("table/"), ...machine.meta.list("file/"), ...machine.meta.list("flushed/")]).toEqual([]);
  expect((await refusal(machine.engine.flushTable("public", "cpu"))).code).toBe("TableNotFound");
  expect((await refusal(machine.engine.dropTable("public", "cpu", false))).message).toBe("Table not found: greptime.public.cpu");
  expect(await machine.engine.dropTable("public", "cpu", true)).toBe(false);
  await machine.crash();
  expect(machine.engine.table("public", "cpu")).toBeUndefined();
  await put(machine.engine, "cpu,host=b v=3i 3");
  expect(await read(machine.engine, "cpu")).toEqual(["'b'|3|3"]);
});

test("a table that nobody finished is gone after a crash, with its files; renaming one finishes it", async () => {
  const machine = await Machine.start();
  for (const name of ["half", "whole"]) await machine.engine.createTable({ ...CPU, name, isUnfinished: true }, false);
  await put(machine.engine, "half,host=a v=1i 1");
  await machine.engine.flushTable("public", "half");
  await put(machine.engine, "half,host=a v=1i 2\nwhole,host=a v=1i 1");
  await machine.engine.alterTable("public", "whole", { kind: "rename", name: "cpu" });
  await machine.crash();
  expect(machine.engine.tables("public").map(({ schema }) => schema.name)).toEqual(["cpu"]);
  expect(machine.files.size).toBe(0);
  await machine.crash();
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1"]);
});

test("a table of the same name is another table: old rows do not come back", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await machine.engine.dropTable("public", "cpu", false);
  await put(machine.engine, 'cpu,host=a v="text" 1');
  await machine.crash();
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|'text'|1"]);
});

test("what is written to a database made again while the old one is being dropped stays", async () => {
  const machine = await Machine.start();
  await machine.engine.createDatabase("metrics", {}, false);
  for (const table of ["a", "b", "c"]) await put(machine.engine, `${table},host=a v=1i 1`, { database: "metrics" });
  const dropped = machine.engine.dropDatabase("metrics", false);
  await machine.engine.createDatabase("metrics", {}, false);
  await put(machine.engine, "c,host=b v=2i 2", { database: "metrics" });
  await dropped;
  const table = machine.engine.table("metrics", "c");
  expect(table?.statistics().rowCount).toBe(1);
  await machine.crash();
  expect(machine.engine.table("metrics", "c")?.statistics().rowCount).toBe(1);
  expect(machine.engine.tables("metrics").length).toBe(1);
});

test("a drop while a scan and a flush run: the scan reads on, the flush leaves nothing", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=2i 90000000000000000");
  await machine.engine.flushTable("public", "cpu");
  await put(machine.engine, "cpu,host=c v=3i 3");
  machine.holdFlush();
  const flushed = machine.engine.flushTable("public", "cpu");
  const table = machine.engine.table("public", "cpu");
  const request = { timeRange: { start: 0n, end: 2n ** 63n }, tagPredicates: [], fieldBounds: [], order: "none" as const };
  const scan = table?.scan({ projection: ["host", "v"], ...request })[Symbol.asyncIterator]();
  let rows = (await scan?.next())?.value?.rowCount ?? 0;
  const dropped = machine.engine.dropTable("public", "cpu", false);
  machine.releaseFlush();
  await Promise.all([flushed, dropped]);
  expect([...machine.meta.list("file/"), ...machine.meta.list("flushed/")]).toEqual([]);
  for (let next = await scan?.next(); next !== undefined && next.done !== true; next = await scan?.next()) rows += next.value.rowCount;
  expect(rows).toBe(3);
  expect(machine.files.size).toBe(0);
  const later = table?.scan({ projection: [], ...request })[Symbol.asyncIterator]();
  expect(await refusal(Promise.resolve(later?.next()))).toMatchObject({
    code: "TableNotFound",
    message: "Table not found: greptime.public.cpu",
  });
});

test("a crash between the commit of a drop and the deletion of its files leaves no file and no row", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\nmem,host=a v=1i 1");
  for (const table of ["cpu", "mem"]) await machine.engine.flushTable("public", table);
  await put(machine.engine, "cpu,host=b v=2i 2");
  const before = machine.files.size;
  void machine.engine.dropTable("public", "cpu", false); // Power goes before anything is deleted.
  expect([before, machine.files.size]).toEqual([2, 2]);
  await machine.crash();
  expect([machine.files.size, machine.engine.table("public", "cpu"), machine.meta.list("file/").length]).toEqual([1, undefined, 1]);
  await put(machine.engine, "cpu,host=c v=3i 3");
  expect(await read(machine.engine, "cpu")).toEqual(["'c'|3|3"]);
  await machine.crash();
  expect(await read(machine.engine, "cpu")).toEqual(["'c'|3|3"]);
});

test("a write under way while its table is dropped is answered, and its memory is freed", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  machine.wal.hold();
  const write = put(machine.engine, "cpu,host=a v=2i 2");
  const dropped = machine.engine.dropTable("public", "cpu", false);
  machine.wal.release();
  await Promise.all([write, dropped]);
  expect(machine.engine.tables("public")).toEqual([]);
});

test("tables are made once, and changes keep column ids", async () => {
  const { engine } = await Machine.start();
  const table = await engine.createTable(CPU, false);
  expect(await engine.createTable(CPU, true)).toBe(table);
  expect((await refusal(engine.createTable(CPU, false))).code).toBe("TableAlreadyExists");
  expect((await refusal(engine.createTable({ ...CPU, database: "none" }, false))).code).toBe("DatabaseNotFound");
  const added = { name: "w", type: INT64, semantic: "field" as const, nullable: true };
  await engine.alterTable("public", "cpu", { kind: "add-columns", columns: [added], ifNotExists: false });
  expect(table.schema.columns.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4]);
  const again = engine.alterTable("public", "cpu", { kind: "add-columns", columns: [added], ifNotExists: false });
  expect((await refusal(again)).code).toBe("TableColumnExists");
  await engine.alterTable("public", "cpu", { kind: "set-options", options: { ttl: "1d" } });
  expect(table.schema.options).toEqual({ ttl: "1d" });
  const missing = engine.alterTable("public", "gone", { kind: "set-options", options: {} });
  expect((await refusal(missing)).code).toBe("TableNotFound");
});

test("a schema that cannot be stored is not used", async () => {
  const machine = await Machine.start();
  machine.commitFailure = "disk is full";
  expect((await refusal(machine.engine.createTable(CPU, false))).message).toBe("disk is full");
  expect((await refusal(put(machine.engine, "cpu,host=a v=1i 1"))).message).toBe("disk is full");
  expect(machine.engine.tables("public")).toEqual([]);
  machine.commitFailure = undefined;
  await put(machine.engine, "cpu,host=a v=1i 1");
  expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1"]);
});

test("decoders see columns as they are now", async () => {
  const { engine } = await Machine.start();
  expect(engine.columnOf("public", "cpu", "v")).toBeUndefined();
  await put(engine, "cpu,host=a v=1i 1");
  expect(engine.columnOf("public", "cpu", "v")).toMatchObject({ type: INT64, semantic: "field" });
  expect(engine.columnOf("public", "cpu", "host")?.semantic).toBe("tag");
  await engine.dropTable("public", "cpu", false);
  expect(engine.columnOf("public", "cpu", "v")).toBeUndefined();
});

test("ADMIN flush of a table that does not exist says so", async () => {
  const { engine } = await Machine.start();
  expect(await refusal(engine.flushTable("public", "none"))).toMatchObject({
    code: "TableNotFound",
    message: "Table not found: greptime.public.none",
  });
});
