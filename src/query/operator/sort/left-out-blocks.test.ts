/** What an OFFSET leaves out of sorted runs unread is what would have come first. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import type { Scalar } from "../../../column/vector.ts";

const ROWS = 4000;

/** A table with keys that are all different, few, and the same. */
async function fixture(): Promise<QueryFixture> {
  const data = new QueryFixture();
  await data.sql("CREATE TABLE t (n BIGINT, few BIGINT, one BIGINT, s STRING, ts TIMESTAMP TIME INDEX)");
  let seed = 5;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const few = random(9) === 0 ? "NULL" : String(random(4));
    return `(${random(1_000_000)}, ${few}, 7, 'text number ${random(ROWS)}', ${i})`;
  });
  await data.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
  const table = data.catalog.table("public", "t");
  if (table !== undefined) table.batchRows = 200;
  return data;
}

test("rows behind an OFFSET are those that follow, with and without equal keys, in one pass and several", async () => {
  const data = await fixture();
  const known = new Map<string, readonly Scalar[]>();
  let written = 0;
  const property = fc.asyncProperty(
    fc.constantFrom("n", "n DESC", "few", "few DESC NULLS FIRST, s", "one", "s, ts", "ts", "ts DESC", "one, n"),
    fc.double({ min: 0, max: 1.02, noNaN: true }),
    fc.constantFrom(undefined, 1000, 3000),
    fc.constantFrom(260, 300, 400),
    fc.boolean(),
    async (by, part, limit, kibibytes, forceInterpreter) => {
      const all = known.get(by) ?? (await data.sql(`SELECT ts FROM t ORDER BY ${by}`)).rows.map(([ts]) => ts);
      known.set(by, all);
      const from = Math.floor(ROWS * part);
      const spill = new MemorySpill();
      const sql = `SELECT ts, s FROM t ORDER BY ${by}${limit === undefined ? "" : ` LIMIT ${limit}`} OFFSET ${from}`;
      const { rows } = await data.sql(sql, { memoryBytesMax: kibibytes * 1024, spill, forceInterpreter });
      const end = limit === undefined ? ROWS : from + limit;
      expect(
        rows.map(([ts]) => ts),
        `${sql} with ${kibibytes} KiB`,
      ).toEqual(all.slice(from, end));
      expect(spill.open).toBe(0);
      written += spill.written;
    },
  );
  await fc.assert(property, { seed: 9, numRuns: 50 });
  expect(written).toBeGreaterThan(0);
});
