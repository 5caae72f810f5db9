/** ALTER, TRUNCATE and COMMENT through HTTP: what tables answer and how they print, before and after kills and restarts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Cell, execute, postSql, queryRows } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(async () => {
  await server.end();
});

async function check(sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  expect((await queryRows(server.url, sql)).rows).toEqual(want);
}

async function checkRefused(sql: string, code: number, message: string): Promise<void> {
  const { text } = await postSql(server.url, sql);
  expect(JSON.parse(text)).toMatchObject({ code, error: expect.stringContaining(message) as unknown });
}

/** Runs a check now, after a kill, after a flush, and after a restart. */
async function everywhere(table: string, sql: string, want: readonly (readonly Cell[])[]): Promise<void> {
  await check(sql, want);
  await server.kill();
  await server.restart();
  await check(sql, want);
  await execute(server.url, `ADMIN flush_table('${table}')`);
  await check(sql, want);
  await server.stop();
  await server.restart();
  await check(sql, want);
}

test("columns come, go and change their type", async () => {
  const run = (sql: string): Promise<unknown> => execute(server.url, sql);
  await run("CREATE TABLE t (host STRING PRIMARY KEY, v INT, note STRING, ts TIMESTAMP(3) TIME INDEX)");
  await run("INSERT INTO t VALUES ('a', 1, 'x', 1000)");
  await run("ADMIN flush_table('t')");
  await run("INSERT INTO t VALUES ('b', NULL, '2.5', 2000)");
  await run("ALTER TABLE t ADD COLUMN n BIGINT DEFAULT 7 FIRST, ADD COLUMN zone STRING PRIMARY KEY AFTER host");
  await run("ALTER TABLE t MODIFY COLUMN v STRING, MODIFY COLUMN note DOUBLE");
  await run("ALTER TABLE t DROP COLUMN n");
  await run("ALTER TABLE t ADD COLUMN n DOUBLE");
  await run("INSERT INTO t (host, zone, v, note, ts) VALUES ('c', 'z', 'three', 3.5, 3000)");
  await run("ALTER TABLE t RENAME t2");
  await everywhere("t2", "SELECT host, zone, v, note, n FROM t2 ORDER BY host", [
    ["a", null, "1", null, null],
    ["b", null, null, 2.5, null],
    ["c", "z", "three", 3.5, null],
  ]);
  await check("SELECT sum(note), max(v) FROM t2 WHERE note > 2", [[6, "three"]]);
  await checkRefused("SELECT * FROM t", 4001, "t");
});

test("a table prints as it was changed", async () => {
  const run = (sql: string): Promise<unknown> => execute(server.url, sql);
  await run("CREATE TABLE p (msg STRING, v INT, ts TIMESTAMP(3) TIME INDEX)");
  await run("ALTER TABLE p MODIFY COLUMN msg SET FULLTEXT INDEX WITH(analyzer = 'Chinese'), MODIFY COLUMN v SET INVERTED INDEX");
  await run("ALTER TABLE p MODIFY COLUMN v SET SKIPPING INDEX");
  await run("ALTER TABLE p MODIFY COLUMN v UNSET INVERTED INDEX, MODIFY COLUMN v SET DEFAULT 5");
  await run("ALTER TABLE p SET 'ttl' = '7d', 'append_mode' = 'true'");
  await run("COMMENT ON TABLE p IS 'it''s p'");
  await run("COMMENT ON COLUMN p.v IS 'v'");
  const text = `CREATE TABLE IF NOT EXISTS "p" (
  "msg" STRING NULL FULLTEXT INDEX WITH(analyzer = 'Chinese', backend = 'bloom', case_sensitive = 'false', \
false_positive_rate = '0.01', granularity = '10240'),
  "v" INT NULL DEFAULT 5 COMMENT 'v' SKIPPING INDEX WITH(false_positive_rate = '0.01', granularity = '10240', type = 'BLOOM'),
  "ts" TIMESTAMP(3) NOT NULL,
  TIME INDEX ("ts")
)

ENGINE=mito
WITH(
  append_mode = 'true',
  comment = 'it''s p',
  ttl = '7days'
)`;
  await everywhere("p", "SHOW CREATE TABLE p", [["p", text]]);
  await run("ALTER TABLE p UNSET 'ttl'");
  await run("COMMENT ON TABLE p IS NULL");
  await run("CREATE DATABASE d");
  await run("ALTER DATABASE d SET 'ttl' = '1h'");
  await check("SHOW CREATE DATABASE d", [["d", "CREATE DATABASE IF NOT EXISTS d\nWITH(\n  ttl = '1h'\n)"]]);
  await run("ALTER DATABASE d UNSET 'ttl'");
  await check("SHOW CREATE DATABASE d", [["d", "CREATE DATABASE IF NOT EXISTS d"]]);
});

test("truncated rows do not come back", async () => {
  const run = (sql: string): Promise<unknown> => execute(server.url, sql);
  await run("CREATE TABLE e (v INT, ts TIMESTAMP(3) TIME INDEX)");
  await run("INSERT INTO e VALUES (1, 1000)");
  await run("ADMIN flush_table('e')");
  await run("INSERT INTO e VALUES (2, 2000)");
  await run("TRUNCATE TABLE e");
  await everywhere("e", "SELECT * FROM e", []);
  await run("INSERT INTO e VALUES (3, 3000)");
  await everywhere("e", "SELECT v FROM e", [[3]]);
  await run("TRUNCATE e FILE RANGE (0, 1000)");
  await check("SELECT v FROM e", [[3]]);
  await run("TRUNCATE e FILE RANGE (0, 1000), ('1970-01-01 00:00:03', 4000)");
  await check("SELECT v FROM e", []);
});

test.each([
  ["ALTER TABLE none ADD COLUMN a INT", 4001, "Table not found: greptime.public.none"],
  ["TRUNCATE none", 4001, "Table not found: greptime.public.none"],
  ["COMMENT ON COLUMN r.x IS 'x'", 4002, "Column x not exists in table r"],
  ["ALTER TABLE r ADD COLUMN v INT", 4003, "Column v already exists in table r"],
  ["ALTER TABLE r ADD COLUMN k INT NOT NULL", 1004, "no default value for column k"],
  ["ALTER TABLE r ADD COLUMN k INTERVAL", 1001, "Not supported: Add column with interval type"],
  ["ALTER TABLE r MODIFY COLUMN v INTERVAL", 1001, "Not supported: Modify column type to interval type"],
  ["ALTER TABLE r DROP COLUMN host", 1004, "Not allowed to remove index column host from table r"],
  ["ALTER TABLE r MODIFY COLUMN host INT", 1004, "Invalid alter table(r) request: Not allowed to change primary key index column 'host'"],
  ["ALTER TABLE r MODIFY COLUMN ts STRING", 1004, "Not allowed to change timestamp index column 'ts' datatype"],
  ["ALTER TABLE r MODIFY COLUMN b DATE", 1004, "column 'b' cannot be cast automatically to type 'Date'"],
  ["ALTER TABLE r MODIFY COLUMN o STRING", 1004, "column 'o' must be nullable to ensure safe conversion."],
  ["ALTER TABLE r MODIFY COLUMN o DROP DEFAULT", 1004, "column o is not nullable and `default` cannot be dropped"],
  ["ALTER TABLE r MODIFY COLUMN o SET DEFAULT NULL", 1004, "Default value should not be null for non null column"],
  ["ALTER TABLE r RENAME r", 4000, "Table already exists, table: greptime.public.r"],
  ["ALTER TABLE r SET ttl = '😁'", 1004, "Invalid set region option request, key: ttl, value: 😁"],
  ["ALTER TABLE r SET merge_mode = 'last_row'", 1004, "key: merge_mode, value: last_row"],
  ["ALTER TABLE r SET append_mode = 'false'", 1004, "Only allow changing append_mode from false to true"],
  ["ALTER TABLE r UNSET append_mode", 1004, "key: append_mode"],
  ["ALTER TABLE r SET skip_wal = 'false'", 1004, "key: skip_wal, value: false"],
  ["ALTER TABLE r MODIFY COLUMN v SET FULLTEXT INDEX", 1004, "FULLTEXT index only supports string type"],
  ["ALTER TABLE r MODIFY COLUMN m SET FULLTEXT INDEX WITH(analyzer = 'Chinese')", 1004, "Previous analyzer: English"],
  ["ALTER TABLE r MODIFY COLUMN m SET FULLTEXT INDEX WITH(backend = 'xor')", 1002, "Invalid fulltext option: xor"],
  ["ALTER DATABASE none SET ttl = '1d'", 4004, "none"],
  ["ALTER DATABASE public SET ttl = 'instant'", 1004, "Invalid set database option, key: ttl, value: instant"],
  ["ALTER TABLE information_schema.tables ADD COLUMN a INT", 1001, "Schema `information_schema` is read-only"],
])("%s is refused with %i", async (sql, code, message) => {
  const columns = "host STRING PRIMARY KEY, v INT, b BOOLEAN, o INT NOT NULL DEFAULT 1, m STRING FULLTEXT INDEX, ts TIMESTAMP TIME INDEX";
  await execute(server.url, `CREATE TABLE IF NOT EXISTS r (${columns})`);
  await checkRefused(sql, code, message);
});

test("deleted rows stay away, and what has expired is hidden at once", async () => {
  const run = (sql: string): Promise<unknown> => execute(server.url, sql);
  await run("CREATE TABLE d (host STRING PRIMARY KEY, v INT, ts TIMESTAMP(3) TIME INDEX)");
  await run("INSERT INTO d VALUES ('a', 1, 1000), ('a', 2, 2000), ('b', 3, 1000), ('b', 4, 2000)");
  await run("ADMIN flush_table('d')");
  await run("INSERT INTO d VALUES ('c', 5, 1000), ('c', 6, 2000)");
  expect(await postSql(server.url, "DELETE FROM d WHERE host = 'a'")).toMatchObject({
    text: expect.stringContaining('"affectedrows":2') as unknown,
  });
  expect(await postSql(server.url, "DELETE FROM d WHERE v IN (3, 6)")).toMatchObject({
    text: expect.stringContaining('"affectedrows":2') as unknown,
  });
  await everywhere("d", "SELECT host, v FROM d ORDER BY v", [
    ["b", 4],
    ["c", 5],
  ]);
  await run("ALTER TABLE d SET ttl = '1h'");
  await check("SELECT count(*) FROM d", [[0]]);
  await run("ALTER TABLE d UNSET 'ttl'");
  await run("INSERT INTO d VALUES ('z', 9, now())");
  await run("ALTER TABLE d SET ttl = '1h'");
  await everywhere("d", "SELECT host FROM d", [["z"]]);
  await checkRefused("DELETE FROM nowhere", 4001, "Table not found");
});
