/** Rows with more candidates than are tested at once: what a row met before counts when the rest of its candidates come. */
import { expect, test } from "bun:test";
import { MemorySpill } from "../../../../test/support/memory-spill.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

const data = new QueryFixture();
const A = "(VALUES (0), (1), (5)) AS a(v)";
const B = "(SELECT value, value % 2 AS k FROM generate_series(1, 20001)) AS b";

/** Runs a query without room on disk, where the right side is held, and with it, where the left one may be. */
async function check(sql: string, want: readonly string[]): Promise<void> {
  for (const options of [{}, { spill: new MemorySpill(), joinRowsFirst: 100 }]) {
    const { rows } = await data.sql(sql, options);
    expect([sql, ...rows.map((row) => row.map(String).join(" "))]).toEqual([sql, ...want]);
  }
}

/** How many rows, how many of them with a partner, and the sum of the partners, for each row of the left. */
function checkJoin(join: string, want: readonly string[]): Promise<void> {
  return check(`SELECT a.v, count(*), count(b.value), sum(b.value) FROM ${A} ${join} GROUP BY a.v ORDER BY a.v`, want);
}

test("inner joins give all pairs", async () => {
  await checkJoin(`JOIN ${B} ON a.v = b.k`, ["0 10000 10000 100010000", "1 10001 10001 100020001"]);
  await checkJoin(`JOIN ${B} ON a.v < 2 AND b.value > a.v`, ["0 20001 20001 200030001", "1 20000 20000 200030000"]);
});

test("outer joins give NULL to rows without a partner, and once", async () => {
  await checkJoin(`LEFT JOIN ${B} ON a.v = b.k`, ["0 10000 10000 100010000", "1 10001 10001 100020001", "5 1 0 undefined"]);
  await checkJoin(`LEFT JOIN ${B} ON a.v = b.k AND b.value > 20000`, ["0 1 0 undefined", "1 1 1 20001", "5 1 0 undefined"]);
  await checkJoin(`LEFT JOIN ${B} ON a.v = b.k AND b.value = 3`, ["0 1 0 undefined", "1 1 1 3", "5 1 0 undefined"]);
  await checkJoin(`LEFT JOIN ${B} ON b.value IN (1, 9000, 20001) AND a.v <> 1`, ["0 3 3 29002", "1 1 0 undefined", "5 3 3 29002"]);
  await checkJoin(`FULL JOIN ${B} ON a.v = b.k AND b.value < 10`, [
    "0 4 4 20",
    "1 5 5 25",
    "5 1 0 undefined",
    "undefined 19992 19992 200029956",
  ]);
});

test("semi and anti joins give rows that met a candidate early, or late, or none", async () => {
  for (const value of [3, 8999, 20001]) {
    const exists = `EXISTS (SELECT 1 FROM ${B} WHERE b.k = a.v AND b.value + a.v = ${value} + 1)`;
    const met = value === 20001 ? ["1"] : ["0", "1"];
    await check(`SELECT v FROM ${A} WHERE ${exists} ORDER BY v`, met);
    await check(`SELECT v FROM ${A} WHERE NOT ${exists} ORDER BY v`, value === 20001 ? ["0", "5"] : ["5"]);
  }
});
