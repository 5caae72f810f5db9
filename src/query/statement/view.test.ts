import { beforeEach, describe, expect, test } from "bun:test";
import { StatusCode } from "../../base/status-code.ts";
import { checkFails, checkRows } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql(`CREATE TABLE t (host STRING PRIMARY KEY, v INT, ts TIMESTAMP TIME INDEX);
    INSERT INTO t VALUES ('a', 1, 1), ('b', 2, 2), ('c', 3, 3)`);
});

const fails = (sql: string, code: number, message: string): Promise<void> => checkFails(fixture, sql, message, code);

async function check(sql: string, rows: readonly (readonly unknown[])[]): Promise<void> {
  expect([sql, (await fixture.sql(sql)).rows]).toEqual([sql, rows as never]);
}

const checkQuery = (sql: string, rows: readonly (readonly unknown[])[]): Promise<void> => checkRows(fixture, sql, rows);

describe("reading a view", () => {
  test("is reading its query", async () => {
    await fixture.sql("CREATE VIEW big AS SELECT host, v + 1 AS w FROM t WHERE v > 1");
    await checkQuery("SELECT * FROM big ORDER BY host", [
      ["b", 3],
      ["c", 4],
    ]);
    await checkQuery("SELECT big.w FROM public.big WHERE big.host = 'c'", [[4]]);
    await checkQuery("SELECT x FROM big AS b(h, x) WHERE b.h = 'b'", [[3]]);
    await checkQuery("SELECT t.v, big.w FROM t JOIN big ON t.host = big.host ORDER BY 1", [
      [2, 3],
      [3, 4],
    ]);
    await checkQuery("SELECT count(*) FROM t WHERE host IN (SELECT host FROM big)", [[2]]);
    await fixture.sql("INSERT INTO t VALUES ('d', 9, 9)");
    await checkQuery("SELECT max(w) FROM big", [[10]]);
  });

  test("gives its columns the names of the list", async () => {
    await fixture.sql('CREATE VIEW named (a, "B") AS SELECT host, host FROM t');
    await checkQuery("SELECT \"B\", a FROM named WHERE a = 'a'", [["a", "a"]]);
  });

  test("sees views in views, WITH, VALUES and set operations", async () => {
    await fixture.sql(`CREATE VIEW one AS WITH x AS (SELECT v FROM t) SELECT v FROM x UNION ALL VALUES (100);
      CREATE VIEW two AS SELECT sum(v) AS s FROM one`);
    await checkQuery("SELECT s FROM two", [[106]]);
  });

  test("is in the database where it was made, whatever is current and whatever names are in sight", async () => {
    await fixture.sql("CREATE DATABASE other; CREATE VIEW v AS SELECT host FROM t WHERE v = 1; USE other");
    await checkQuery("SELECT host FROM public.v", [["a"]]);
    await checkQuery("WITH t AS (SELECT 'x' AS host, 1 AS v) SELECT host FROM public.v", [["a"]]);
    await fixture.sql("CREATE TABLE other.t (n INT, ts TIMESTAMP TIME INDEX)");
    await checkQuery("SELECT host FROM public.v", [["a"]]);
    await fixture.sql("USE public; CREATE VIEW other.w AS SELECT v FROM t; USE other");
    await checkQuery("SELECT max(v) FROM w", [[3]]);
  });

  test("a name of WITH goes before a view", async () => {
    await fixture.sql("CREATE VIEW v AS SELECT host FROM t");
    await checkQuery("WITH v AS (SELECT 5 AS n) SELECT n FROM v", [[5]]);
  });

  test("leaves out columns that its tables got since, and says which are gone", async () => {
    await fixture.sql("CREATE VIEW v AS SELECT * FROM t; ALTER TABLE t ADD COLUMN extra INT FIRST");
    await checkQuery("SELECT * FROM v WHERE host = 'a'", [["a", 1, 1n]]);
    await fixture.sql("ALTER TABLE t DROP COLUMN v");
    await fails("SELECT * FROM v", StatusCode.Unexpected, "Failed to decode DataFusion plan: No field named v. Valid fields are ");
    await fixture.sql("CREATE VIEW w AS SELECT extra FROM t; ALTER TABLE t DROP COLUMN extra");
    await fails("SELECT * FROM w", StatusCode.Unexpected, "Failed to decode DataFusion plan: No field named extra. Valid fields are ");
    await fixture.sql("DROP TABLE t");
    await fails("SELECT * FROM w", StatusCode.TableNotFound, "Table not found: greptime.public.t");
  });

  test("is bounded", async () => {
    await fixture.sql("CREATE VIEW v0 AS SELECT host FROM t");
    for (let i = 1; i <= 7; i++)
      await fixture.sql(`CREATE VIEW v${i} AS SELECT a.host FROM v${i - 1} a JOIN v${i - 1} b ON a.host = b.host`);
    await fails(
      "CREATE VIEW v8 AS SELECT a.host FROM v7 a JOIN v7 b ON a.host = b.host",
      StatusCode.InvalidArguments,
      "more than 256 views",
    );
    await fixture.sql("CREATE VIEW c AS SELECT 1 AS n; CREATE VIEW d AS SELECT n FROM c");
    await fails("CREATE OR REPLACE VIEW c AS SELECT n FROM d", StatusCode.InvalidArguments, "cannot read view public.c: it reads itself");
    await checkQuery("SELECT n FROM d", [[1]]);
  });
});

describe("making a view", () => {
  test("prints back what was said", async () => {
    await fixture.sql("CREATE VIEW IF NOT EXISTS v (a) AS (select host from t)");
    await check("SHOW CREATE VIEW v", [["v", "CREATE VIEW IF NOT EXISTS v (a) AS SELECT host FROM t"]]);
    await check("CREATE VIEW IF NOT EXISTS v AS SELECT 1", []);
    await check("SHOW CREATE VIEW public.v", [["v", "CREATE VIEW IF NOT EXISTS v (a) AS SELECT host FROM t"]]);
    await fixture.sql("CREATE OR REPLACE VIEW v AS SELECT 1 AS n");
    await check("SHOW CREATE VIEW v", [["v", "CREATE OR REPLACE VIEW v AS SELECT 1 AS n"]]);
  });

  test("is refused where names clash, both ways", async () => {
    await fixture.sql("CREATE VIEW v AS SELECT 1");
    const exists = StatusCode.TableAlreadyExists;
    await fails("CREATE VIEW v AS SELECT 2", exists, "View already exists: `greptime.public.v`");
    await fails("CREATE VIEW t AS SELECT 2", exists, "Table already exists: `greptime.public.t`");
    await fails("CREATE OR REPLACE VIEW t AS SELECT 2", exists, "Table already exists: `greptime.public.t`");
    await fails("CREATE VIEW numbers AS SELECT 2", exists, "Table already exists: `greptime.public.numbers`");
    await fails("CREATE TABLE v (ts TIMESTAMP TIME INDEX)", exists, "View already exists: `greptime.public.v`");
    await check("CREATE TABLE IF NOT EXISTS v (ts TIMESTAMP TIME INDEX)", []);
  });

  test("is refused when the statement makes no sense", async () => {
    await fails("CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1", StatusCode.InvalidArguments, "cannot be used together");
    await fails("CREATE VIEW v (a) AS SELECT 1, 2", StatusCode.InvalidArguments, "Expect 2 columns for view v, but found 1");
    await fails("CREATE VIEW v (a, a) AS SELECT 1, 2", StatusCode.InvalidArguments, "column name `a` of view v is duplicated");
    await fails("CREATE VIEW v AS SELECT * FROM missing", StatusCode.TableNotFound, "Table not found: greptime.public.missing");
    await fails("CREATE VIEW v AS SELECT nothing FROM t", StatusCode.PlanQuery, "No field named nothing");
    await fails("CREATE VIEW missing.v AS SELECT 1", StatusCode.DatabaseNotFound, "Database not found: missing");
    await fails("CREATE VIEW information_schema.v AS SELECT 1", StatusCode.Unsupported, "read-only");
    await fails('CREATE VIEW "N\n" AS SELECT 1', StatusCode.InvalidArguments, "Invalid table name: N ");
    await check("SHOW VIEWS", []);
  });
});

test("views are listed beside tables, without columns", async () => {
  await fixture.sql("CREATE VIEW v2 AS SELECT 1 AS n; CREATE VIEW v1 AS SELECT 1 AS n");
  await check("SHOW VIEWS", [["v1"], ["v2"]]);
  await check("SHOW VIEWS FROM public LIKE '%2'", [["v2"]]);
  await check("SHOW FULL TABLES LIKE 'v%'", [
    ["v1", "VIEW"],
    ["v2", "VIEW"],
  ]);
  await check("SELECT table_name, table_type FROM information_schema.tables WHERE table_name IN ('v1', 't', 'numbers') ORDER BY 1", [
    ["numbers", "LOCAL TEMPORARY"],
    ["t", "BASE TABLE"],
    ["v1", "VIEW"],
  ]);
  await check("SELECT table_schema, table_name, view_definition FROM information_schema.views WHERE table_name = 'v1'", [
    ["public", "v1", "CREATE VIEW v1 AS SELECT 1 AS n"],
  ]);
  await check("SHOW COLUMNS FROM v1", []);
  await check("DESC v1", []);
  await fails("SHOW VIEWS FROM missing", StatusCode.DatabaseNotFound, "missing");
  await fails("SHOW CREATE TABLE v1", StatusCode.Unsupported, "Show create table only for base table. greptime.public.v1 is VIEW");
});

test("views go, tables stay", async () => {
  await fixture.sql("CREATE VIEW a AS SELECT 1; CREATE VIEW b AS SELECT 1; DROP VIEW a, b");
  await check("SHOW VIEWS", []);
  await fails("DROP VIEW a", StatusCode.TableNotFound, "Table not found: greptime.public.a");
  await check("DROP VIEW IF EXISTS a", []);
  await fails("DROP VIEW IF EXISTS t", StatusCode.InvalidArguments, "it is a table; use DROP TABLE");
  await fails("SHOW CREATE VIEW a", StatusCode.TableNotFound, "View not found: a");
  await fixture.sql("CREATE VIEW a AS SELECT 1");
  await fails("DROP TABLE a", StatusCode.InvalidArguments, "it is a view; use DROP VIEW");
  await fails("INSERT INTO a VALUES (1)", StatusCode.InvalidArguments, "it is a view");
  await fails("DELETE FROM a", StatusCode.InvalidArguments, "it is a view");
  await fails("ALTER TABLE a ADD COLUMN n INT", StatusCode.InvalidArguments, "it is a view");
});
