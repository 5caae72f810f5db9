/** Statements that end early, at any moment and for any reason: what they held goes back before their iterator ends. */
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySpill } from "../../../test/support/memory-spill.ts";
import { QueryFixture, runSql } from "../../../test/support/query-fixture.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { type MemoryAccount, MemoryPool, ServerMemory } from "../../base/memory/server-memory.ts";
import { type ExecOptions, executeStatement } from "../execute.ts";
import type { QueryContext } from "../query-context.ts";
import { parseSql } from "../sql/parse.ts";

const TIGHT_BYTES = 96 * 1024;
const ROWS = 1200;
const QUERIES = [
  "SELECT * FROM t ORDER BY s, n",
  "SELECT * FROM t ORDER BY s, n LIMIT 300",
  "SELECT n, s, count(*), string_agg(s, ',') FROM t GROUP BY n, s",
  "SELECT DISTINCT s, n FROM t",
  "SELECT a.n, b.s FROM t AS a JOIN t AS b ON a.n = b.n",
  "SELECT a.n, b.s FROM t AS a FULL JOIN t AS b ON a.n = b.n AND a.ts < b.ts",
  "SELECT a.n, b.n FROM (SELECT n FROM t LIMIT 50) AS a JOIN t AS b ON a.n < b.n",
  "SELECT n, s FROM t INTERSECT SELECT n, s FROM t WHERE n > 100",
  "SELECT DISTINCT ON (s) s, n FROM t ORDER BY s, n DESC",
  "SELECT s, sum(n) OVER (PARTITION BY s ORDER BY ts), rank() OVER (PARTITION BY s ORDER BY n) FROM t",
  "SELECT n, sum(n) OVER (ORDER BY ts), lag(s, 2) IGNORE NULLS OVER (ORDER BY ts), ntile(3) OVER (ORDER BY ts) FROM t",
  "SELECT s, max(n) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING), median(n) OVER (ORDER BY ts GROUPS 5 PRECEDING) FROM t",
  "SELECT ts, s, min(n) RANGE '20ms' FILL LINEAR, max(n) RANGE '20ms' FILL PREV FROM t ALIGN '20ms' BY (s)",
  "SELECT count(DISTINCT s), array_agg(n ORDER BY s), percentile_cont(n, 0.3), string_agg(s, ',') FROM t WHERE n < 60",
  "SELECT n, s FROM t UNION SELECT n + 1, s FROM t",
  "SELECT n, s, count(*) FROM t GROUP BY ROLLUP (n, s)",
  "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT (n * 7 + d.value) % 700 FROM r CROSS JOIN generate_series(1, 3) AS d) SELECT * FROM r",
  "SELECT a.n FROM t AS a CROSS JOIN (SELECT n FROM t LIMIT 20) AS b",
  "SELECT n FROM t WHERE s IN (SELECT s FROM t WHERE n > 100) OR n > ALL (SELECT n FROM t WHERE n < 50)",
  "SELECT a.n, l.s FROM (SELECT n FROM t LIMIT 9) AS a CROSS JOIN LATERAL (SELECT s FROM t AS b WHERE b.n = a.n) AS l",
  "SELECT unnest(l) FROM (SELECT s, array_agg(n) AS l FROM t GROUP BY s) AS q",
  "SELECT n, (SELECT count(*) FROM t AS o WHERE o.n < q.n % 7) FROM (SELECT n FROM t LIMIT 60) AS q",
];

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE t (s STRING, n INT, ts TIMESTAMP TIME INDEX)");
  const rows = Array.from({ length: ROWS }, (_, i) => `('text ${(i * 7) % 500}', ${(i * 13) % 300}, ${i})`);
  await data.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
  const table = data.catalog.table("public", "t");
  if (table !== undefined) table.batchRows = 100;
});

/** A run of a query whose time passes by turns: each look at the clock is one, and `onLook` is told its number. */
function runOf(onLook: (look: number) => void, signal: AbortSignal): { readonly context: QueryContext; readonly pool: MemoryPool } {
  let looks = 0;
  const monotonicMillis = (): number => {
    onLook(looks++);
    return looks * 20;
  };
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", Number.POSITIVE_INFINITY);
  const clock = { ...data.context.clock, monotonicMillis };
  return { context: { ...data.context, signal, clock, scheduler: new Scheduler(clock) }, pool };
}

const limitsOf = (memory: MemoryAccount, spill: MemorySpill, isTight: boolean): ExecOptions => ({
  memory,
  spill,
  memoryBytesMax: isTight ? TIGHT_BYTES : Number.POSITIVE_INFINITY,
});

/** Reads the first batch with rows and leaves. */
async function firstRows(sql: string, context: QueryContext, options: ExecOptions): Promise<void> {
  const [statement] = parseSql(sql);
  const result = statement === undefined ? undefined : await executeStatement(statement, context, options);
  if (result?.kind === "rows") for await (const batch of result.batches) if (batch.rowCount > 0) return;
}

/** Nothing is held any more, neither memory nor room on disk. */
function checkNothingHeld(sql: string, pool: MemoryPool, spill: MemorySpill): void {
  expect([pool.used, spill.open], sql).toEqual([0, 0]);
}

describe("nothing is held", () => {
  test("after a query that ended well", async () => {
    for (const sql of QUERIES) {
      const { context, pool } = runOf(() => undefined, new AbortController().signal);
      const spill = new MemorySpill();
      await runSql(sql, context, limitsOf(pool.account(), spill, true));
      checkNothingHeld(sql, pool, spill);
    }
  });
  test("after one that was cancelled at any moment, and it ends at once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...QUERIES), fc.nat(60), fc.boolean(), fc.boolean(), async (sql, at, isTight, forceInterpreter) => {
        const controller = new AbortController();
        let after = 0;
        const { context, pool } = runOf((look) => {
          if (look === at) controller.abort();
          if (look > at) after++;
        }, controller.signal);
        const spill = new MemorySpill();
        const run = runSql(sql, context, { ...limitsOf(pool.account(), spill, isTight), forceInterpreter });
        const ended = await run.then(() => "it ended", String);
        if (controller.signal.aborted && after > 2) expect(ended, sql).toMatch(/cancelled/);
        expect(after, `turns of ${sql} after it was cancelled`).toBeLessThanOrEqual(8);
        checkNothingHeld(sql, pool, spill);
      }),
      { seed: 3, numRuns: 120 },
    );
  });
  test("after one that nobody reads to its end", async () => {
    for (const sql of QUERIES) {
      const { context, pool } = runOf(() => undefined, new AbortController().signal);
      const spill = new MemorySpill();
      await firstRows(sql, context, limitsOf(pool.account(), spill, true));
      checkNothingHeld(sql, pool, spill);
    }
  });
  test("after one whose room on disk ran out", async () => {
    for (const sql of QUERIES) {
      const { context, pool } = runOf(() => undefined, new AbortController().signal);
      const spill = new MemorySpill();
      spill.onAppend = () => {
        if (spill.written > 2000) throw new Error("no room");
      };
      const ended = await runSql(sql, context, limitsOf(pool.account(), spill, true)).then(() => "it ended", String);
      expect(ended, sql).toMatch(spill.written > 2000 ? /no room|it ended/ : /it ended/);
      checkNothingHeld(sql, pool, spill);
    }
  });
});
