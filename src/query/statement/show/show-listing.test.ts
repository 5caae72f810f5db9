import { beforeEach, expect, test } from "bun:test";
import { StatusCode } from "../../../base/status-code.ts";
import { FIXTURE_NOW, QueryFixture, runSql } from "../../../../test/support/query-fixture.ts";
import type { QueryContext } from "../../query-context.ts";
import { checkFails } from "../../../../test/support/query-check.ts";
import { NO_FACTS } from "../../system-facts.ts";

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql(`CREATE TABLE t (host STRING, z INT SKIPPING INDEX COMMENT 'c', a DOUBLE, ts TIMESTAMP TIME INDEX DEFAULT now(),
    PRIMARY KEY (host));
    CREATE DATABASE other WITH (ttl = '1h', append_mode = 'true')`);
});

async function check(sql: string, columns: string, rows: readonly (readonly unknown[])[]): Promise<void> {
  const answer = await fixture.sql(sql);
  expect([sql, answer.columns.join(" "), answer.rows]).toEqual([sql, columns, rows as never]);
}

const fails = (sql: string, code: number, message: string): Promise<void> => checkFails(fixture, sql, message, code);

test("columns are listed by name", async () => {
  const headers = "Field Type Null Key Default Extra Greptime_type";
  const ts = ["ts", "timestamp(3)", "NO", "TIME INDEX", "now()", "", "TimestampMillisecond"];
  await check("SHOW COLUMNS FROM t", headers, [
    ["a", "double", "YES", "", undefined, "", "Float64"],
    ["host", "string", "YES", "PRI", undefined, "", "String"],
    ts,
    ["z", "int", "YES", "", undefined, "", "Int32"],
  ]);
  await check("SHOW FIELDS IN t FROM public LIKE 't_'", headers, [ts]);
  await check("SHOW COLUMNS FROM public.t WHERE Key = 'TIME INDEX' AND `Null` = 'NO'", headers, [ts]);
  await check("SHOW FULL COLUMNS FROM t LIKE 'z'", "Field Type Collation Null Key Default Comment Privileges Extra Greptime_type", [
    ["z", "int", undefined, "YES", "", undefined, "c", "select,insert", "", "Int32"],
  ]);
  await check("SHOW COLUMNS FROM numbers", headers, [["number", "int unsigned", "NO", "PRI", undefined, "", "UInt32"]]);
  await check("SHOW COLUMNS FROM engines IN information_schema LIKE 'xa'", headers, [["xa", "string", "NO", "", undefined, "", "String"]]);
  await fails("SHOW COLUMNS FROM missing", StatusCode.TableNotFound, "greptime.public.missing");
});

test("indexes and regions", async () => {
  const names = (await fixture.sql("SHOW INDEX FROM t")).rows.map((row) => [row[1], row[2], row[3], row[4], row[9], row[10]]);
  expect(names as unknown).toEqual([
    [0, "PRIMARY", 1, "host", "YES", "PRIMARY"],
    [1, "SKIPPING_INDEX_z", 1, "z", "YES", "SKIPPING"],
    [1, "TIME INDEX", 1, "ts", "", "TIME"],
  ]);
  expect((await fixture.sql("SHOW KEYS FROM t WHERE Key_name = 'PRIMARY'")).rows.length).toBe(1);
  const { id } = fixture.catalog.table("public", "t")?.schema ?? { id: 0 };
  await check("SHOW REGION FROM t", "Table Region Peer Leader", [["t", id * 2 ** 32, 0, "Yes"]]);
  await fails("SHOW INDEX FROM missing", StatusCode.TableNotFound, "greptime.public.missing");
  await fails("SHOW REGIONS FROM other.missing", StatusCode.TableNotFound, "greptime.other.missing");
});

test("tables, databases and the session", async () => {
  await check("SHOW FULL DATABASES LIKE 'other'", "Database Options", [["other", "'ttl'='1h'\n'append_mode'='true'\n"]]);
  const status = await fixture.sql("SHOW TABLE STATUS LIKE 't'");
  expect(status.columns.length).toBe(18);
  expect(status.rows[0]?.slice(0, 5) as unknown).toEqual(["t", "mito", 11, "Fixed", 0]);
  await check("SHOW TABLE STATUS FROM other", status.columns.join(" "), []);
  await fails("SHOW TABLE STATUS FROM missing", StatusCode.DatabaseNotFound, "missing");
  await check("SHOW SEARCH_PATH", "search_path", [["public"]]);
  await check("SHOW STATUS", "Variable_name Value", []);
});

test("engines, character sets, flows", async () => {
  expect((await fixture.sql("SHOW ENGINES")).rows.map(([engine]) => engine)).toEqual(["mito", "metric"]);
  await check("SHOW CHARSET", "Charset Description Default collation Maxlen", [["utf8", "UTF-8 Unicode", "utf8_bin", 4]]);
  await check("SHOW CHARACTER SET WHERE Charset = 'latin1'", "Charset Description Default collation Maxlen", []);
  await check("SHOW COLLATION LIKE 'utf8%'", "Collation Charset Id Default Compiled Sortlen", [["utf8_bin", "utf8", 1, "Yes", "Yes", 1]]);
  await check("SHOW FLOWS", "Flows", []);
  await check("SHOW FLOW STATUS", "flow_id flow_name start_time last_execution_time uptime_seconds state_size", []);
  await fails("SHOW CREATE FLOW f", StatusCode.FlowNotFound, "Flow not found: greptime.f");
});

test("statements that run can be listed and ended", async () => {
  const startMillis = Number(FIXTURE_NOW / 1_000_000n) - 1500;
  const killed: string[] = [];
  const system = {
    ...NO_FACTS,
    statements: () => [{ id: "7", frontend: "", database: "public", query: "SELECT 1", client: "me", startMillis }],
    kill: (id: string) => killed.push(id) > 0 && id === "7",
  };
  const context: QueryContext = { ...fixture.context, system };
  const short = await runSql("SHOW PROCESSLIST", context);
  expect(short).toMatchObject({ columns: ["Id", "Catalog", "Query", "Elapsed Time"], rows: [["7", "greptime", "SELECT 1", 1500n]] });
  const full = await runSql("SHOW FULL PROCESSLIST WHERE Id = '7'", context);
  expect(full.columns.join(" ")).toBe("Id Catalog Schema Client Frontend Start Time Elapsed Time Query");
  expect(full.rows[0]?.[5]).toBe(BigInt(startMillis));
  expect(await runSql("KILL '7'", context)).toMatchObject({ affected: 1 });
  expect(await runSql("KILL QUERY 8", context)).toMatchObject({ affected: 0 });
  expect(killed).toEqual(["7", "8"]);
  expect((await fixture.sql("KILL 1")).affected).toBe(0);
});

test("a table for PostgreSQL", async () => {
  const [row] = (await fixture.sql("SHOW CREATE TABLE t FOR POSTGRES_FOREIGN_TABLE")).rows;
  expect(row?.[1]).toBe(
    `CREATE FOREIGN TABLE ft_t (
  "host" VARCHAR,
  "z" INT4,
  "a" FLOAT8,
  "ts" TIMESTAMP
)
SERVER greptimedb
OPTIONS (table_name 't')`,
  );
});
