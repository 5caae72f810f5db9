import { expect, test } from "bun:test";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

async function check(rest: string, want: number): Promise<void> {
  const { rows } = await new QueryFixture().both(`SELECT count(*) FROM (SELECT number FROM numbers ${rest}) AS t`);
  expect(Number(rows[0]?.[0]), rest).toBe(want);
}

test("numbers has 100 rows, or as many as a LIMIT right above it asks for", async () => {
  await check("", 100);
  await check("LIMIT 20000", 20_000);
  await check("LIMIT 20 OFFSET 150", 20);
  await check("LIMIT 0", 0);
});

test("a LIMIT above something else does not make rows", async () => {
  await check("WHERE number >= 50 LIMIT 200", 50);
  await check("ORDER BY number LIMIT 200", 100);
  await check("GROUP BY number LIMIT 200", 100);
});

test("numbers count on from batch to batch", async () => {
  const { rows } = await new QueryFixture().both(
    "SELECT min(number), max(number), count(DISTINCT number) FROM (SELECT number FROM numbers LIMIT 20000) AS t",
  );
  expect(rows[0]?.map(Number)).toEqual([0, 19_999, 20_000]);
});
