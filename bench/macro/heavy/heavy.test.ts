/** What is compared of two answers, and the made-up rows. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clickbenchTables } from "./clickbench-data.ts";
import { clickbenchQueries } from "./clickbench-queries.ts";
import { DuckdbSession, duckdbDigest } from "./duckdb-session.ts";
import { heavyTables } from "./heavy-data.ts";
import { heavyQueries } from "./heavy-queries.ts";
import { comparedColumns, type HeavyQuery, varveDigest } from "./heavy-query.ts";
import { arrowRows, largeDifference } from "./large-answer.ts";

const ROWS = 3000;
const TEST_MS_MAX = 60_000;

async function withDuckdb(run: (duckdb: DuckdbSession, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "varve-heavy-"));
  const duckdb = await DuckdbSession.open(join(directory, "beside.duckdb"));
  try {
    await run(duckdb, directory);
  } finally {
    duckdb.close();
    await rm(directory, { recursive: true });
  }
}

test("both systems' values have one digest", async () => {
  await withDuckdb(async (duckdb) => {
    const query: HeavyQuery = { name: "values", sql: "" };
    const sql = `SELECT 9007199254740993::BIGINT AS i, '1.50'::DECIMAL(30, 2) AS d, DATE '2013-07-15' AS day, NULL AS n, 'a' AS s,
      1.0::DOUBLE / 3 AS f, TIMESTAMP_MS '2024-01-01 00:00:00' AS t`;
    const types = ["Int64", "Decimal(30, 2)", "Date", "Int32", "String", "Float64", "TimestampMillisecond"];
    const columns = types.map((type, c) => ({ name: `c${c}`, type }));
    const rows = [["9007199254740993", "1.50", 15901, null, "a", 0.33333333333333331, 1704067200000]];
    expect(duckdbDigest(await duckdb.run(sql), query)).toEqual(varveDigest({ columns, rows }, query));
    const others = [["9007199254740992", ...rows[0]!.slice(1)]];
    expect(varveDigest({ columns, rows: others }, query)).not.toEqual(varveDigest({ columns, rows }, query));
  });
});

test("where a LIMIT leaves rows open, the named columns are compared in order", () => {
  const query: HeavyQuery = { name: "top", sql: "", compares: ["C", 0] };
  expect(comparedColumns(query, ["k", "c"])).toEqual({ order: [1, 0], isOrdered: true });
  expect(comparedColumns({ name: "all", sql: "" }, ["k", "c"])).toEqual({ order: [0, 1], isOrdered: false });
});

test("DuckDB finds a row of a large answer that is another", async () => {
  await withDuckdb(async (duckdb, directory) => {
    const sql = "SELECT TIMESTAMP_MS '2024-01-01 00:00:00' AS ts, 'a' AS s UNION ALL SELECT TIMESTAMP_MS '2024-01-01 00:00:01', 'b'";
    const differs = (format: "csv" | "json", text: string): Promise<string | undefined> =>
      largeDifference(duckdb, sql, format, new TextEncoder().encode(text), join(directory, "answer"));
    expect(await differs("csv", "ts,s\n1704067201000,b\n1704067200000,a\n")).toBeUndefined();
    expect(await differs("csv", "ts,s\n1704067201000,b\n1704067200000,c\n")).toBe("1 of 2 rows differ");
    expect(await differs("csv", "ts,s\n1704067201000,b\n")).toBe("1 rows, DuckDB 2");
    expect(await differs("json", '{"data":[{"s":"a","ts":1704067200000},{"s":"b","ts":1704067201000}],"x":1}')).toBeUndefined();
  });
});

test("a stream of Arrow without batches has no rows, and what is none is refused", () => {
  expect(arrowRows(new Uint8Array([255, 255, 255, 255, 0, 0, 0, 0]))).toBe(0);
  expect(() => arrowRows(new Uint8Array(16))).toThrow("no message of Arrow begins at byte 0");
});

test(
  "DuckDB makes the rows and answers every query",
  async () => {
    await withDuckdb(async (duckdb) => {
      for (const { name, fill, rows } of [...heavyTables(ROWS), ...clickbenchTables(ROWS)]) {
        for (const statement of fill) await duckdb.run(statement);
        expect(await duckdb.number(`SELECT count(*) FROM ${name}`)).toBe(rows);
      }
      expect(clickbenchQueries(ROWS)).toHaveLength(43);
      for (const query of [...heavyQueries(ROWS), ...clickbenchQueries(ROWS)]) await duckdb.run(query.duckdbSql ?? query.sql);
      expect(await duckdb.number("SELECT count(*) FROM (DESCRIBE hits)")).toBe(105);
      expect(await duckdb.number("SELECT count(*) FROM hits WHERE searchphrase = ''")).toBeGreaterThan(0.8 * ROWS);
      expect(await duckdb.number("SELECT count(*) FROM hits WHERE counterid = 62")).toBeGreaterThan(0);
      expect(await duckdb.number("SELECT count(DISTINCT watchid) FROM hits WHERE watchid > 9007199254740992")).toBeGreaterThan(0.99 * ROWS);
    });
  },
  TEST_MS_MAX,
);
