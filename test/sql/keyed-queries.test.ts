/**
 * Random queries about keys on tables of up to thousands of rows: loops and reference, rows in memory, in files, overwritten and deleted,
 * with little memory, and DuckDB agree. `bun run test:sql` asks more of them. What fails becomes a named case in `found.test.ts`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Duckdb } from "./duckdb.ts";
import { runKeyed } from "./keyed-run.ts";

const QUERIES = 90;
const SEED = 20261124;
const ROWS_MAX = 400;

let duckdb: Duckdb | undefined;
beforeAll(async () => {
  duckdb = await Duckdb.open();
});
afterAll(() => {
  duckdb?.close();
});

test("answers about keys agree, with little memory too", async () => {
  const onFailure = (seed: number, error: Error): never => {
    throw new Error(`seed ${seed}: ${error.message}`);
  };
  const tally = await runKeyed({ queries: QUERIES, queriesACase: 24, seed: SEED, rowsMax: ROWS_MAX, duckdb, onFailure });
  expect(tally.answered).toBeGreaterThan(tally.queries / 2);
  expect(tally.refused).toBe(0);
  expect(tally.spilled).toBeGreaterThan(0);
}, 600_000);
