/** A few rows of the middle of an order are those that sorting all of them gives. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import type { Scalar } from "../../../column/vector.ts";
import { MemoryPool, ServerMemory } from "../../../base/memory/server-memory.ts";

const ROWS = 6000;
/** Every so manieth row is in the sample. */
const STRIDE = 16;

/** A table whose rows come in the order of `ts`; in `trap` the rows of the sample are the least. */
async function fixture(rows: number): Promise<QueryFixture> {
  const data = new QueryFixture();
  await data.sql("CREATE TABLE t (n BIGINT, few BIGINT, trap BIGINT, s STRING, x DOUBLE, ts TIMESTAMP TIME INDEX)");
  const table = data.catalog.table("public", "t");
  let seed = 11;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  for (let i = 0; i < rows; i++) {
    const fields = new Map<string, Scalar>([
      ["n", random(1_000_000)],
      ["few", random(12) === 0 ? undefined : random(3)],
      ["trap", i % STRIDE === 0 ? -1 : random(500)],
      ["s", random(9) === 0 ? undefined : `the same beginning ${random(rows)}`],
      ["x", random(50) / 8],
    ]);
    table?.insert(new Map(), BigInt(i), fields);
  }
  if (table !== undefined) table.batchRows = 300;
  return data;
}

/** Asks for places `[from, from + count)` of an order with so much memory; gives what was written to disk. */
async function check(
  data: QueryFixture,
  by: string,
  from: number,
  count: number,
  bytes: number,
  wanted: readonly Scalar[],
): Promise<number> {
  const spill = new MemorySpill();
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", Number.POSITIVE_INFINITY);
  const sql = `SELECT ts, s, n FROM t ORDER BY ${by} LIMIT ${count} OFFSET ${from}`;
  const { rows } = await data.sql(sql, { memoryBytesMax: bytes, spill, memory: pool.account() });
  expect(
    rows.map(([ts]) => ts),
    `${sql} with ${bytes} bytes`,
  ).toEqual(wanted.slice(from, from + count));
  expect([spill.open, pool.used], sql).toEqual([0, 0]);
  return spill.written;
}

const ORDERS = [
  "n",
  "n DESC",
  "few",
  "few DESC NULLS FIRST, n",
  "trap",
  "trap DESC",
  "s",
  "s DESC NULLS LAST, n",
  "x, s",
  "ts",
  "ts DESC",
  "n % 7",
];

test("with memory for a few of the rows, whatever the sample says of them", async () => {
  const data = await fixture(ROWS);
  const orders = new Map<string, readonly Scalar[]>();
  let written = 0;
  const property = fc.asyncProperty(
    fc.constantFrom(...ORDERS),
    fc.double({ min: 0.1, max: 1.05, noNaN: true }),
    fc.constantFrom(1, 10, 150),
    fc.constantFrom(320, 400, 600),
    async (by, part, count, kibibytes) => {
      const wanted =
        orders.get(by) ?? (await data.sql(`SELECT ts FROM t ORDER BY ${by}`, { forceInterpreter: true })).rows.map(([ts]) => ts);
      orders.set(by, wanted);
      written += await check(data, by, Math.floor(ROWS * part), count, kibibytes * 1024, wanted);
    },
  );
  await fc.assert(property, { seed: 3, numRuns: 60 });
  expect(written).toBeGreaterThan(0);
});

test("with memory for all of many rows", async () => {
  const data = await fixture(70_000);
  for (const by of ["s, n", "few", "trap, ts DESC"]) {
    const wanted = (await data.sql(`SELECT ts FROM t ORDER BY ${by}`)).rows.map(([ts]) => ts);
    expect(await check(data, by, 50_000, 20, 1024 ** 3, wanted), by).toBe(0);
  }
});
