/** BIGINT UNSIGNED beside whole constants, up to 2^64 - 1. */
import { beforeAll, expect, test } from "bun:test";
import type { Scalar } from "../../column/vector.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

const MAX = 2n ** 64n - 1n;
let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE t (u BIGINT UNSIGNED, ts TIMESTAMP TIME INDEX)");
  await data.sql(`INSERT INTO t VALUES (${MAX}, 1), (${MAX} - 1, 2), (9223372036854775808 + 1, 3), ('${MAX}', 4), (7, 5)`);
});

async function check(expression: string, want: readonly Scalar[], where = ""): Promise<void> {
  const { rows } = await data.both(`SELECT ${expression} FROM t ${where} ORDER BY ts`);
  expect([expression, rows.map(([value]) => value)]).toEqual([expression, [...want]]);
}

test("is written, computed and chosen from as what it is", async () => {
  await check("u", [MAX, MAX - 1n, 2n ** 63n + 1n, MAX, 7]);
  await check("u - 1", [MAX - 1n, MAX - 2n, 2n ** 63n, MAX - 1n, 6]);
  await check("u % 10", [5, 4, 9, 5, 7]);
  await check("mod(u, 10)", [5, 4, 9, 5, 7]);
  await check("u / 2", [2n ** 63n - 1n, 2n ** 63n - 1n, 2n ** 62n, 2n ** 63n - 1n, 3]);
  await check("u * 2 + 1", [15], "WHERE u < 10");
  for (const chosen of ["coalesce(u, 0)", "greatest(u, 1)", "CASE WHEN true THEN u ELSE 0 END", "if(true, u, 0)", "nullif(u, 3)"])
    await check(chosen, [MAX, MAX - 1n, 2n ** 63n + 1n, MAX, 7]);
});

test("is compared exactly", async () => {
  await check("ts", [1n, 4n], `WHERE u = ${MAX}`);
  await check("ts", [1n, 4n], `WHERE u - 1 = ${MAX - 1n}`);
  await check("ts", [1n, 2n, 3n, 4n], "WHERE u > 9223372036854775807");
  await check("ts", [1n, 4n, 5n], `WHERE u IN (7, ${MAX})`);
  await check("u > -1", [true, true, true, true, true]);
});

test("a result beyond its range is an error, below zero too", async () => {
  for (const expression of ["u + 1", "u * 2", "8 - u", "u - 8"])
    expect(await data.sql(`SELECT ${expression} FROM t`).then(String, String)).toContain("Arithmetic overflow");
  expect(await data.sql("INSERT INTO t VALUES (18446744073709551616, 9)").then(String, String)).toContain("18446744073709551616");
  await check("CAST(u AS BIGINT) - 8", [-1], "WHERE u = 7");
});
