/** UPDATE and CREATE TABLE AS on the engine: flushed, restarted, on logical tables. */
import { expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";

test("an update outlives flushes and a crash, and is of one row a key", async () => {
  const machine = await Machine.start();
  const sql = (text: string): Promise<string> => engineSql(machine.engine, text);
  await sql(`CREATE TABLE t (h STRING PRIMARY KEY, n BIGINT, s STRING, ts TIMESTAMP TIME INDEX);
    INSERT INTO t VALUES ('a', 1, 'p', 1), ('a', 2, 'q', 2), ('b', 3, NULL, 3)`);
  await machine.engine.flushTable("public", "t");
  expect(await sql("UPDATE t SET n = n * 10, s = 'u' WHERE h = 'a' AND n > 1")).toBe("affected 1");
  const want = "a|1|p|1\na|20|u|2\nb|3||3";
  expect(await sql("SELECT * FROM t ORDER BY ts")).toBe(want);
  await machine.crash();
  expect(await sql("SELECT * FROM t ORDER BY ts")).toBe(want);
  await machine.engine.flushTable("public", "t");
  await machine.engine.compactTable("public", "t");
  await machine.restart();
  expect(await sql("SELECT * FROM t ORDER BY ts")).toBe(want);
});

test("the value of a logical table can be updated, the physical table cannot", async () => {
  const machine = await Machine.start();
  const sql = (text: string): Promise<string> => engineSql(machine.engine, text);
  await sql(`CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE=metric WITH ("physical_metric_table" = "");
    CREATE TABLE up (ts TIMESTAMP TIME INDEX, val DOUBLE, job STRING PRIMARY KEY) ENGINE=metric WITH ("on_physical_table" = "phy");
    INSERT INTO up (ts, val, job) VALUES (1, 1.5, 'a'), (2, 2.5, 'b')`);
  expect(await sql("UPDATE up SET val = val + 1 WHERE job = 'b'")).toBe("affected 1");
  expect(await sql("SELECT job, val FROM up ORDER BY ts")).toBe("a|1.5\nb|3.5");
  expect(await sql("UPDATE phy SET val = 0").then(String, String)).toContain("DbError");
});

test("a table made of a query outlives a crash, one that failed is not there", async () => {
  const machine = await Machine.start();
  const sql = (text: string): Promise<string> => engineSql(machine.engine, text);
  await sql("CREATE TABLE t (h STRING PRIMARY KEY, n BIGINT, ts TIMESTAMP TIME INDEX); INSERT INTO t VALUES ('a', 1, 1), ('b', 2, 1)");
  expect(await sql("CREATE TABLE c AS SELECT ts, h, n + 1 AS m FROM t")).toBe("affected 2");
  expect(await sql("CREATE TABLE d AS SELECT ts, 1 / (n - 2) AS m FROM t").then(String, String)).toContain("Divide by zero");
  await machine.crash();
  expect(await sql("SELECT h, m FROM c ORDER BY h")).toBe("a|2\nb|3");
  expect(await sql("SHOW TABLES")).toBe("c\nnumbers\nt");
});
