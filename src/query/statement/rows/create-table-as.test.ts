import { expect, test } from "bun:test";
import { checkFails } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

async function started(): Promise<QueryFixture> {
  const data = new QueryFixture();
  await data.sql(`CREATE TABLE t (h STRING PRIMARY KEY, n INT DEFAULT 7, ts TIMESTAMP TIME INDEX);
    INSERT INTO t VALUES ('a', 1, 1), ('b', 2, 1), ('c', 3, 2)`);
  return data;
}

async function fails(data: QueryFixture, sql: string, want: string): Promise<void> {
  await checkFails(data, sql, want);
  expect((await data.sql("SHOW TABLES")).rows.flat()).toEqual(["numbers", "t"]);
}

const shown = async (data: QueryFixture, table: string): Promise<string> =>
  String((await data.sql(`SHOW CREATE TABLE ${table}`)).rows[0]?.[1]);

test("CREATE TABLE AS keeps every row: without a primary key the table appends", async () => {
  const data = await started();
  expect((await data.sql("CREATE TABLE c AS SELECT * FROM t")).affected).toBe(3);
  expect((await data.both("SELECT * FROM c ORDER BY h")).rows).toEqual([
    ["a", 1, 1n],
    ["b", 2, 1n],
    ["c", 3, 2n],
  ]);
  const text = await shown(data, "c");
  for (const part of ['TIME INDEX ("ts")', "append_mode = 'true'"]) expect(text).toContain(part);
  expect(text).not.toContain("PRIMARY KEY");
});

test("keys, columns and options may be said", async () => {
  const data = await started();
  await data.sql(
    "CREATE TABLE c (TIME INDEX (at), PRIMARY KEY (h)) WITH (ttl = '7d') AS SELECT ts, h, ts + INTERVAL '1 day' AS at, n * 2 AS d FROM t",
  );
  const text = await shown(data, "c");
  for (const part of ['TIME INDEX ("at")', 'PRIMARY KEY ("h")', "ttl = '7days'", '"d" BIGINT NULL']) expect(text).toContain(part);
  expect(text).not.toContain("append_mode");
  await data.sql("CREATE TABLE e (a STRING PRIMARY KEY, at TIMESTAMP(9) TIME INDEX, v DOUBLE) AS SELECT h, ts, n FROM t");
  expect((await data.both("SELECT * FROM e ORDER BY a LIMIT 1")).rows).toEqual([["a", 1_000_000n, 1]]);
  expect((await data.sql("CREATE TABLE IF NOT EXISTS e AS SELECT no_such_column")).affected).toBe(0);
  expect(await data.sql("CREATE TABLE e AS SELECT 1").then(String, String)).toContain("Table already exists: `greptime.public.e`");
});

test("a statement that fails leaves nothing", async () => {
  const data = await started();
  await fails(data, "CREATE TABLE c AS SELECT h FROM t", "1004 DbError: cannot create table c: its query gives no timestamp");
  await fails(data, "CREATE TABLE c AS SELECT now() AS ts, NULL AS x", "column x of its query is Null, which no table holds; cast it");
  await fails(data, "CREATE TABLE c AS SELECT now() AS ts, [1] AS x", "which no table holds");
  await fails(data, "CREATE TABLE c AS SELECT now() AS ts, 1 AS a, 2 AS a", "column name `a` is duplicated");
  await fails(data, "CREATE TABLE c AS SELECT ts, 1 / (n - 3) AS q FROM t", "3001 DbError: Divide by zero");
  await fails(data, "CREATE TABLE c AS SELECT CASE WHEN n < 3 THEN ts END AS ts FROM t", "column ts is not null but input has null");
  await fails(data, "CREATE TABLE c (a INT, ts TIMESTAMP TIME INDEX) AS SELECT 1", "it has 2 columns, its query gives 1");
  await fails(data, "CREATE TABLE c ENGINE=metric AS SELECT * FROM t", "AS a query goes with ENGINE=mito");
  await fails(data, "CREATE TABLE nowhere.c AS SELECT * FROM t", "4004");
  await fails(data, "CREATE TABLE information_schema.c AS SELECT * FROM t", "1001");
});

test("the table is seen when it is whole, not before", async () => {
  const data = await started();
  await data.sql("INSERT INTO t SELECT 'x', number, number FROM (SELECT * FROM numbers LIMIT 40000) AS q");
  const seen: boolean[] = [];
  Object.assign(data.context, { admit: async () => void seen.push(data.catalog.table("public", "c") !== undefined) });
  expect((await data.sql("CREATE TABLE c AS SELECT * FROM t")).affected).toBe(40_003);
  expect(seen).toEqual([false, false]);
  expect((await data.sql("SELECT count(*) FROM c")).rows).toEqual([[40_003]]);
});
