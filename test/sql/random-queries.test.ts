/**
 * Random queries on random tables: loops and reference, rows in memory and in files, and DuckDB agree. `VARVE_FUZZ_QUERIES=20000
 * VARVE_FUZZ_SEED=7 bun test test/sql/random-queries.test.ts` asks more of them. What fails becomes a named case in `found.test.ts`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { Choices } from "./choices.ts";
import { Duckdb } from "./duckdb.ts";
import { emptyTally, Oracle } from "./oracle.ts";
import { randomQuery } from "./queries.ts";
import { tablesArbitrary } from "./tables.ts";

const QUERIES = Number(process.env["VARVE_FUZZ_QUERIES"] ?? "100");
const SEED = Number(process.env["VARVE_FUZZ_SEED"] ?? "20241121");
const QUERIES_A_CASE = 8;
const ROWS = 30;
/** How long a failing case may be made smaller. */
const SHRINK_MILLIS_MAX = 60_000;

let duckdb: Duckdb | undefined;
beforeAll(async () => {
  duckdb = await Duckdb.open();
});
afterAll(() => {
  duckdb?.close();
});

test("answers to random queries agree", async () => {
  const tally = emptyTally();
  const choices = fc.array(fc.nat({ max: 5039 }), { maxLength: 150, size: "max" });
  const lists = fc.array(choices, { minLength: 1, maxLength: QUERIES_A_CASE, size: "max" });
  const property = fc.asyncProperty(tablesArbitrary(ROWS), lists, async (tables, queries) => {
    const oracle = await Oracle.start(tables, duckdb);
    try {
      for (const list of queries) await oracle.check(randomQuery(new Choices(list), tables.unit), tally);
    } finally {
      await oracle.close();
    }
  });
  const numRuns = Math.ceil((QUERIES * 2) / QUERIES_A_CASE);
  const limits = { interruptAfterTimeLimit: SHRINK_MILLIS_MAX, markInterruptAsFailure: false };
  const { failed, errorInstance } = await fc.check(property, { seed: SEED, numRuns, ...limits });
  if (failed) throw new Error(`seed ${SEED}: ${errorInstance instanceof Error ? errorInstance.message : String(errorInstance)}`);
  expect(tally.answered).toBeGreaterThan(tally.queries / 4);
  expect(tally.refused).toBeLessThan(tally.queries / 10);
}, 600_000);
