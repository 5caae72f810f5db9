/** Groups in parts are those of the interpreter, whatever their keys are, from the first group on or later. */
import { beforeAll, describe, expect, test } from "bun:test";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import type { ExecOptions } from "../../execute.ts";

const ROWS = 3000;
let data: QueryFixture;

/** A value of row i, of `distinct` ones, or NULL now and then. */
function picked(i: number, salt: number, distinct: number, text: (value: number) => string): string {
  let hash = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35) >>> 0;
  return hash % 17 === 0 ? "NULL" : text((hash >>> 5) % distinct);
}

beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(`CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, i BIGINT, big BIGINT, u BIGINT UNSIGNED, small SMALLINT, x DOUBLE, y FLOAT,
    ok BOOLEAN, d DATE, t2 TIMESTAMP(9), s STRING, b BINARY, m DECIMAL(12, 2), w DECIMAL(30, 2)) WITH (append_mode = 'true')`);
  const rows: string[] = [];
  for (let i = 0; i < ROWS; i++) {
    const values = [
      picked(i, 1, 700, (v) => `${v - 50}`),
      picked(i, 2, 400, (v) => `${9_007_199_254_740_990n + BigInt(v)}`),
      picked(i, 3, 300, (v) => `${18_446_744_073_709_551_615n - BigInt(v)}`),
      picked(i, 4, 90, (v) => `${v - 40}`),
      picked(i, 5, 200, (v) => (v === 0 ? "'NaN'" : v === 1 ? "-0.0" : v === 2 ? "0.0" : `${v / 8}`)),
      picked(i, 6, 50, (v) => `${v / 4}`),
      picked(i, 7, 2, (v) => (v === 0 ? "true" : "false")),
      picked(i, 8, 60, (v) => `'2024-0${(v % 9) + 1}-${10 + (v % 7)}'`),
      picked(i, 9, 100, (v) => `${1_700_000_000_000_000_000n + BigInt(v)}`),
      picked(i, 10, 250, (v) => `'${"text-ä ".repeat(v % 5)}${v}'`),
      picked(i, 11, 30, (v) => `'${"b".repeat(v)}'`),
      picked(i, 12, 80, (v) => `${v}.25`),
      picked(i, 13, 40, (v) => `1234567890123456789012${v}.75`),
    ];
    rows.push(`(${i}, ${values.join(", ")})`);
  }
  for (let from = 0; from < ROWS; from += 500) await data.sql(`INSERT INTO t VALUES ${rows.slice(from, from + 500).join(", ")}`);
});

async function rowsOf(sql: string, options: ExecOptions): Promise<readonly string[]> {
  const { rows } = await data.sql(sql, options);
  return rows.map((row) => row.map((value) => (typeof value === "number" ? value.toPrecision(12) : String(value))).join("|")).sort();
}

async function check(sql: string): Promise<void> {
  const want = await rowsOf(sql, { forceInterpreter: true });
  expect(want.length, sql).toBeGreaterThan(1);
  for (const groupsInOneTable of [1, 37, 200]) expect(await rowsOf(sql, { groupsInOneTable }), `${groupsInOneTable}: ${sql}`).toEqual(want);
}

const KEYS: readonly string[] = ["i", "big", "u", "small", "x", "y", "ok", "d", "t2", "s", "b", "m", "w"];

describe("groups in parts", () => {
  for (const key of KEYS) {
    test(`by ${key}`, async () => {
      await check(`SELECT ${key}, count(*), count(i), sum(i), min(x), max(x), avg(small) FROM t GROUP BY ${key}`);
      await check(`SELECT DISTINCT ${key} FROM t`);
    });
  }
  test("by several keys, texts among them", async () => {
    await check("SELECT s, small, count(*), sum(m) FROM t GROUP BY s, small");
    await check("SELECT i, ok, d, max(small), min(d) FROM t GROUP BY i, ok, d");
    await check("SELECT x, s, b, count(w) FROM t GROUP BY x, s, b");
    await check("SELECT DISTINCT i % 10, s, y FROM t");
  });
  test("by expressions, texts of dictionaries among them", async () => {
    await check("SELECT upper(s), count(*) FROM t GROUP BY 1");
    await check("SELECT i + small, sum(i * 2), count(x / 2) FROM t GROUP BY 1");
    await check("SELECT CASE WHEN i > 300 THEN s ELSE 'none' END, count(*) FROM t GROUP BY 1");
  });
  test("by texts of which some are too long for a part", async () => {
    await check("SELECT repeat(s, CASE WHEN small > 45 THEN 9000 ELSE 1 END), count(*), sum(i) FROM t WHERE small > 20 GROUP BY 1");
  });
  test("with arguments that come as whole words, bytes and times", async () => {
    await check("SELECT small, sum(big), min(big), max(u), avg(big) FROM t GROUP BY small");
    await check("SELECT s, count(s), count(b), count(t2), sum(w) FROM t GROUP BY s");
    await check("SELECT i, max(w), min(m), sum(m), avg(m), sum(w), avg(w) FROM t GROUP BY i");
    await check("SELECT ok, max(w), min(w), sum(w), avg(big), avg(u) FROM t GROUP BY ok");
    await check("SELECT small, min(ts), max(ts), min(t2), max(t2), max(t2 - t2) FROM t GROUP BY small");
  });
  test("with states that stay in one table", async () => {
    await check("SELECT i, max(s), count(DISTINCT s), string_agg(s, ',' ORDER BY ts), sum(i) FILTER (WHERE small > 0) FROM t GROUP BY i");
  });
  test("by a key that all rows share, and one that is NULL in all", async () => {
    expect(await rowsOf("SELECT i - i, count(*) FROM t WHERE i IS NOT NULL GROUP BY 1", { groupsInOneTable: 1 })).toHaveLength(1);
    expect(await rowsOf("SELECT nullif(i, i), count(*), sum(small) FROM t GROUP BY 1", { groupsInOneTable: 1 })).toHaveLength(1);
  });
  test("go over the disk with rows of groups that are not held", async () => {
    const spill = new MemorySpill();
    const sql = `SELECT count(*), sum(c), max(c), sum(s) FROM (SELECT a.i, b.ts AS k, count(*) AS c, sum(a.small) AS s
      FROM t a JOIN t b ON a.ok = b.ok AND a.i < 160 GROUP BY 1, 2)`;
    const want = await rowsOf(sql, {});
    const memoryBytesMax = 112 * 1024 * 1024;
    expect(await rowsOf(sql, { groupsInOneTable: 1000, memoryBytesMax, spill })).toEqual(want);
    expect([spill.open, spill.written > 0]).toEqual([0, true]);
  });
});
