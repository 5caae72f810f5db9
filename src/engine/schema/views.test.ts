import { expect, test } from "bun:test";
import { put, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { regionsOf } from "../../../test/engine/regions.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { StoredSchemas } from "../../../test/engine/stored-schemas.ts";

const VIEWS = "SELECT table_name, view_definition FROM information_schema.views ORDER BY 1";

async function started(): Promise<Machine> {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1\ncpu,host=b v=2i 2");
  await engineSql(machine.engine, "CREATE VIEW big (h) AS SELECT host FROM cpu WHERE v > 1");
  return machine;
}

test("a view outlives a crash and a restart, and so does its end", async () => {
  const machine = await started();
  for (const again of [() => machine.crash(), () => machine.restart(), () => undefined]) {
    expect(await engineSql(machine.engine, "SELECT h FROM big")).toBe("b");
    expect(await engineSql(machine.engine, VIEWS)).toBe("big|CREATE VIEW big (h) AS SELECT host FROM cpu WHERE v > 1");
    await again();
  }
  await engineSql(machine.engine, "CREATE OR REPLACE VIEW big AS SELECT 5 AS n");
  await machine.crash();
  expect(await engineSql(machine.engine, "SELECT n FROM big")).toBe("5");
  await engineSql(machine.engine, "DROP VIEW big");
  await machine.crash();
  expect(await engineSql(machine.engine, VIEWS)).toBe("");
  expect(machine.meta.list("view/")).toEqual([]);
});

test("ids of views are those of no table", async () => {
  const machine = await started();
  await engineSql(machine.engine, "CREATE TABLE later (ts TIMESTAMP TIME INDEX)");
  const ids = [
    machine.engine.table("public", "cpu")?.schema.id,
    machine.engine.view("public", "big")?.id,
    machine.engine.table("public", "later")?.schema.id,
  ];
  expect(ids).toEqual([1024, 1025, 1026] as never); // Those below are of tables that the server computes.
  await machine.crash();
  await engineSql(machine.engine, "CREATE TABLE latest (ts TIMESTAMP TIME INDEX)");
  expect(ids).not.toContain(machine.engine.table("public", "latest")?.schema.id);
});

test("a write makes no table of a view's name, and a table takes none", async () => {
  const machine = await started();
  expect((await refusal(put(machine.engine, "big,host=a v=1i 1"))).message).toBe("View already exists: `greptime.public.big`");
  const renamed = machine.engine.alterTable("public", "cpu", { kind: "rename", name: "big" });
  expect((await refusal(renamed)).message).toBe("Table already exists, table: greptime.public.big");
  expect(await engineSql(machine.engine, "SELECT h FROM big")).toBe("b");
});

test("views of a database go with it", async () => {
  const machine = await started();
  await engineSql(
    machine.engine,
    "CREATE DATABASE other; CREATE VIEW other.v AS SELECT 1 AS n; DROP DATABASE other; CREATE DATABASE other",
  );
  expect(machine.engine.views("other")).toEqual([]);
  await machine.crash();
  expect(machine.engine.views("other")).toEqual([]);
  expect(machine.meta.list("view/").length).toBe(1);
});

test("a commit that fails changes nothing", async () => {
  const machine = await started();
  machine.commitFailure = "disk is full";
  for (const sql of ["CREATE VIEW v AS SELECT 1", "CREATE OR REPLACE VIEW big AS SELECT 1", "DROP VIEW big"]) {
    expect([sql, (await refusal(engineSql(machine.engine, sql))).message]).toEqual([sql, "disk is full"]);
  }
  machine.commitFailure = undefined;
  expect(machine.engine.views("public").map(({ name }) => name)).toEqual(["big"]);
  expect(await engineSql(machine.engine, "SELECT h FROM big")).toBe("b");
});

test("views count as tables of their database", async () => {
  const machine = await started();
  const store = new StoredSchemas(machine.meta, { databases: 10, tablesPerDatabase: 2 });
  const view = { database: "public", query: "SELECT 1", queryDatabase: "public", sources: ["1"], columns: ["1"], definition: "" };
  expect(() => store.createView({ ...view, name: "more" }, false)).toThrow("database public has 2 tables, which is the limit");
  store.createView({ ...view, name: "big" }, true);
  store.dropView("public", "big");
  store.createView({ ...view, name: "more" }, false);
  expect(store.views("public").map(({ name }) => name)).toEqual(["more"]);
});

test("an entry that is no view stops the start", async () => {
  const machine = await started();
  machine.meta.commit([{ key: "view/0000000099", value: { id: 99, name: "x" } }]);
  expect(() => new StoredSchemas(machine.meta)).toThrow("cannot read meta entry view/0000000099: expected text; got undefined");
});

test("partitions of a table are kept", async () => {
  const machine = await started();
  await engineSql(machine.engine, "CREATE TABLE p (a INT PRIMARY KEY, ts TIMESTAMP TIME INDEX) PARTITION ON COLUMNS (a) (a < 5, a >= 5)");
  await machine.crash();
  expect(machine.engine.table("public", "p")?.schema.partitions).toEqual({
    columns: ["a"],
    rules: ["a < 5", "a >= 5"],
    tests: [
      { kind: "compare", column: "a", operator: "<", text: "5" },
      { kind: "compare", column: "a", operator: ">=", text: "5" },
    ],
  });
  await engineSql(machine.engine, "ALTER TABLE p ADD COLUMN b INT; ALTER TABLE p RENAME q");
  expect(await engineSql(machine.engine, "SHOW CREATE TABLE q")).toContain('PARTITION ON COLUMNS ("a") (\n  a < 5,\n  a >= 5\n)\nENGINE');
});

test("files are listed", async () => {
  const machine = await started();
  await machine.engine.flushTable("public", "cpu");
  const columns = "sum(num_rows), min(min_ts), max(max_ts), min(file_size) > 0, bool_and(table_dir || file_id LIKE 'tables/%'), count(*)";
  const files = regionsOf(machine.engine).length;
  expect(await engineSql(machine.engine, `SELECT ${columns} FROM information_schema.ssts_manifest`)).toBe(`2|1|2|true|true|${files}`);
  expect(await engineSql(machine.engine, "SELECT count(*) FROM information_schema.ssts_storage WHERE file_size > 0")).toBe(`${files}`);
  expect(await engineSql(machine.engine, "SELECT sst_num, region_rows FROM information_schema.region_statistics")).toBe(`${files}|2`);
});
