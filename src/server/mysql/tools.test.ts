/**
 * Statements of tools (`test/mysql-tools`): each is answered, by text and prepared, and those that ask for rows are given columns. Cases
 * are `--- name`, and a statement below.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import mysql from "mysql2/promise";
import { type MysqlFixture, startMysql } from "../../../test/support/mysql-fixture.ts";

const FOLDER = join(import.meta.dirname, "../../../test/mysql-tools");
const GIVES_ROWS = /^(?:\/\*.*?\*\/\s*)?(?:select|show|describe)\b/i;
const CASE = /^--- (.+)\n([\s\S]+?)(?=\n--- |\s*$(?![\s\S]))/gm;

let server: MysqlFixture;
let client: mysql.Connection;

beforeAll(async () => {
  server = await startMysql();
  client = await mysql.createConnection({ host: "127.0.0.1", port: server.port, user: "u", database: "public", dateStrings: true });
  await client.query("CREATE TABLE cpu (host STRING PRIMARY KEY, ts TIMESTAMP(3) TIME INDEX, usage_user DOUBLE)");
  await client.query("INSERT INTO cpu VALUES ('h1', 1704067230000, 1), ('h1', 1704067260000, 3), ('h2', 1704070000000, 5)");
});

afterAll(async () => {
  await client.end();
  expect(server.bugs).toEqual([]);
  await server.stop();
});

/** Cases of a file by name. */
function casesOf(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(FOLDER, file), "utf8");
  const cases = new Map([...text.matchAll(CASE)].map(([, name = "", statement = ""]) => [name, statement.trim()]));
  expect(cases.size).toBe(text.split("\n--- ").length - 1); // No name twice.
  return cases;
}

/** Rows as lists of values. */
async function rowsOf(file: string, name: string): Promise<unknown> {
  const [rows] = await client.query({ sql: casesOf(file).get(name) ?? "", rowsAsArray: true });
  return rows;
}

describe.each(readdirSync(FOLDER).filter((name) => name.endsWith(".sql")))("%s", (file) => {
  test.each([...casesOf(file)])("%s", async (_, statement) => {
    const [, fields] = await client.query(statement);
    if (GIVES_ROWS.test(statement)) expect((fields as readonly unknown[]).length).toBeGreaterThan(0);
    const prepared = await client.prepare(statement.replace(/;$/, ""));
    await prepared.execute([]);
    await prepared.close();
  });
});

test("what some of them are answered", async () => {
  const seconds = [1704067200, 1704069900];
  expect(await rowsOf("grafana.sql", "$__timeGroup")).toEqual([
    [seconds[0], 2, "h1"],
    [seconds[1], 5, "h2"],
  ]);
  expect(await rowsOf("grafana.sql", "tables")).toEqual([["cpu"], ["numbers"]]);
  expect(await rowsOf("grafana.sql", "columns of a table")).toEqual([
    ["host", "varchar"],
    ["ts", "timestamp"],
    ["usage_user", "double"],
  ]);
  expect(await rowsOf("superset.sql", "weeks from Monday on")).toEqual([["2024-01-01", 3]]);
  expect(await rowsOf("dbeaver.sql", "one table")).toEqual([["cpu", "BASE TABLE"]]);
  expect(await rowsOf("jdbc.sql", "primary keys")).toEqual([["public", null, "cpu", "host", 1, "PRIMARY"]]);
  expect(await rowsOf("jdbc.sql", "nothing from DUAL")).toEqual([]);
  expect(await rowsOf("jdbc.sql", "one row from DUAL")).toEqual([[1]]);
  expect(await rowsOf("metabase.sql", "by hour")).toEqual([["2024-01-01 00:00:00", 3]]);
  expect(await rowsOf("metabase.sql", "by minute")).toEqual([
    ["2024-01-01 00:00:00", 1],
    ["2024-01-01 00:01:00", 3],
  ]);
  expect(await rowsOf("command-line.sql", "status")).toEqual([["public", "u@127.0.0.1"]]);
});
