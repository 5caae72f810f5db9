/** Deletes and ttl of logical tables: only their own rows go, wherever the rows are. */
import { expect, test } from "bun:test";
import { SqlSession } from "../../../test/engine/sql-session.ts";

const ORDER = "ORDER BY host, ts";

async function twoTables(): Promise<SqlSession> {
  const sql = await SqlSession.start();
  await sql.rows("CREATE TABLE p (ts TIMESTAMP TIME INDEX, v DOUBLE) ENGINE = metric WITH ('physical_metric_table' = '')");
  for (const table of ["a", "b"]) {
    await sql.rows(
      `CREATE TABLE ${table} (ts TIMESTAMP TIME INDEX, v DOUBLE, host STRING PRIMARY KEY) ENGINE = metric WITH ('on_physical_table' = 'p')`,
    );
  }
  // The second table's series come first, so that its numbers differ from those of the region.
  await sql.rows("INSERT INTO b (host, ts, v) VALUES ('x', 1, 10), ('y', 1, 11), ('x', 2, 12)");
  await sql.rows("INSERT INTO a (host, ts, v) VALUES ('y', 1, 1), ('x', 1, 2), ('x', 2, 3)");
  return sql;
}

async function valuesOf(sql: SqlSession, table: string): Promise<string> {
  return (await sql.rows(`SELECT v FROM ${table} ${ORDER}`)).flat().join(" ");
}

const PLACES: Readonly<Record<string, (sql: SqlSession) => Promise<void>>> = {
  "in memory": async () => undefined,
  "in a file": (sql) => sql.flush("p"),
};

for (const [place, move] of Object.entries(PLACES)) {
  test(`rows ${place}: a delete takes those of its table alone, and stays after flush, merge and restart`, async () => {
    const sql = await twoTables();
    await move(sql);
    expect(await sql.rows("DELETE FROM a WHERE host = 'x' AND ts < 2")).toEqual([["affected", "1"]]);
    expect(await sql.rows("DELETE FROM b WHERE v > 11.5")).toEqual([["affected", "1"]]);
    const check = async (): Promise<void> => {
      expect([await valuesOf(sql, "a"), await valuesOf(sql, "b")]).toEqual(["3.0 1.0", "10.0 11.0"]);
      expect(await sql.rows("SELECT count(*) FROM a")).toEqual([["2"]]);
      expect(await sql.rows("SELECT count(*) FROM p")).toEqual([["4"]]);
    };
    await check();
    await sql.machine.restart();
    await check();
    await sql.flush("a");
    await check();
    await sql.compact("p");
    await check();
    await sql.machine.restart();
    await check();
  });
}

test("rows of a physical table go by its logical tables", async () => {
  const sql = await twoTables();
  expect(await sql.refusal("DELETE FROM p")).toBe(
    "1001 cannot delete from table p: it is a physical table of the metric engine; delete from the logical tables that lie on it",
  );
});

test("the ttl of a logical table hides its rows, that of the database those of all", async () => {
  const sql = await twoTables();
  await sql.rows(
    `CREATE TABLE c (ts TIMESTAMP TIME INDEX, v DOUBLE, host STRING PRIMARY KEY)
     ENGINE = metric WITH ('on_physical_table' = 'p', 'ttl' = '1 day')`,
  );
  await sql.rows("INSERT INTO c (host, ts, v) VALUES ('x', 1, 20), ('x', now(), 21)");
  expect([await valuesOf(sql, "a"), await valuesOf(sql, "c")]).toEqual(["2.0 3.0 1.0", "21.0"]);
  await sql.rows("ALTER DATABASE public SET 'ttl' = '1 day'");
  expect([await valuesOf(sql, "a"), await valuesOf(sql, "b"), await valuesOf(sql, "c")]).toEqual(["", "", "21.0"]);
});
