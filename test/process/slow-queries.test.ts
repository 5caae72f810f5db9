/** Slow statements are rows of `greptime_private.slow_queries`, PromQL with its moments, and stay across a restart. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { execute, queryRows, writeLines } from "../support/http-client.ts";
import { TestServer } from "../support/server-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ config: '[slow_query]\nthreshold = "0s"\nttl = "7days"\n' });
}, 30_000);
afterAll(async () => {
  await server.end();
});

const COLUMNS = "query, threshold, is_promql, promql_range, promql_step, promql_start, promql_end, schema_name";

/** The row of a text, once it is there. */
async function rowOf(text: string): Promise<readonly unknown[] | undefined> {
  const sql = `SELECT ${COLUMNS}, cost >= 0 FROM greptime_private.slow_queries WHERE query = '${text.replaceAll("'", "''")}' LIMIT 1`;
  for (const until = Date.now() + 10_000; Date.now() < until; await Bun.sleep(100)) {
    const found = await queryRows(server.url, sql).catch((error: unknown) => ({ rows: [], error }));
    if (found.rows[0] !== undefined) return found.rows[0];
  }
  return undefined;
}

test("of SQL and of PromQL", async () => {
  await writeLines(server.url, "up,job=a greptime_value=1 1700000000000000000");
  await execute(server.url, "SELECT 'it''s', count(*) FROM up");
  const sql = "SELECT 'it''s', count(*) FROM up";
  expect(await rowOf(sql)).toEqual([sql, 0, false, null, null, null, null, "public", true]);
  const query = new URLSearchParams({ query: "sum(up)", start: "1700000000", end: "1700000060", step: "30" });
  expect((await fetch(`${server.url}/v1/prometheus/api/v1/query_range?${query.toString()}`)).status).toBe(200);
  const want = ["sum(up)", 0, true, 60_000, 30_000, 1_700_000_000_000, 1_700_000_060_000, "public", true];
  expect(await rowOf("sum(up)")).toEqual(want);
  const ddl = String((await queryRows(server.url, "SHOW CREATE TABLE greptime_private.slow_queries")).rows[0]?.[1]);
  expect(ddl).toContain("append_mode = 'true'");
  expect(ddl).toContain("ttl = '7days'");
}, 30_000);

test("those of the last moment are written before the end", async () => {
  await execute(server.url, "SELECT 42 AS last");
  await server.stop();
  await server.restart();
  expect((await rowOf("SELECT 42 AS last"))?.[0]).toBe("SELECT 42 AS last");
}, 60_000);
