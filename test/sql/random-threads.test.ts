/**
 * Random queries on random tables, large scans cut into parts that run on worker threads. `VARVE_FUZZ_QUERIES` and `VARVE_FUZZ_SEED` as in
 * `random-queries.test.ts`, where DuckDB is asked too.
 */
import { afterAll, beforeAll, expect } from "bun:test";
import fc from "fast-check";
import { rowsHere } from "../support/cluster/rows-here.ts";
import { ThreadedEngine } from "../support/threaded-engine.ts";
import { Choices } from "./choices.ts";
import { emptyTally, Oracle } from "./oracle.ts";
import { randomQuery } from "./queries.ts";
import { tablesArbitrary } from "./tables.ts";

const { test } = rowsHere("threads of its process");

const QUERIES = Number(process.env["VARVE_FUZZ_QUERIES"] ?? "60");
const SEED = Number(process.env["VARVE_FUZZ_SEED"] ?? "20261121");
const QUERIES_A_CASE = 10;
const ROWS = 40;
/** How long a failing case may be made smaller. */
const SHRINK_MILLIS_MAX = 60_000;

let threads: ThreadedEngine;
beforeAll(async () => {
  threads = await ThreadedEngine.start();
});
afterAll(() => threads.close());

test("answers to random queries do not depend on worker threads", async () => {
  const tally = emptyTally();
  const choices = fc.array(fc.nat({ max: 5039 }), { maxLength: 150, size: "max" });
  const lists = fc.array(choices, { minLength: 1, maxLength: QUERIES_A_CASE, size: "max" });
  const property = fc.asyncProperty(tablesArbitrary(ROWS), lists, async (tables, queries) => {
    const oracle = await Oracle.start(tables, undefined, threads);
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
  expect(threads.pool.counts.pulls).toBeGreaterThan(tally.queries / 2);
  expect(threads.byKeys.counts.pulls).toBeGreaterThan(0);
  expect(threads.besides.counts.pulls).toBeGreaterThan(0);
  expect(threads.besides.counts.deaths).toBe(0);
  expect(threads.pool.counts.deaths + threads.byKeys.counts.deaths).toBe(0);
  await threads.settled();
}, 600_000);
