/** Casts, collations and joins as clients of other servers write them. */
import { expect, test } from "bun:test";
import { checkExpression as check, failsExpression as fails } from "../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

test("CAST … AS SIGNED and CONVERT are casts", async () => {
  await check("CAST('5' AS SIGNED)", 5, "Int64");
  await check("CAST(5.7 AS UNSIGNED)", 5, "UInt64");
  await check("CAST('5' AS SIGNED INTEGER)", 5, "Int64");
  await check("CAST('18446744073709551615' AS UNSIGNED BIGINT)", 2n ** 64n - 1n, "UInt64");
  await check("CONVERT('7', SIGNED)", 7, "Int64");
  await check("CONVERT(1.5, DECIMAL(10, 2))::STRING", "1.50");
  await check("CONVERT('a' USING utf8mb4)", "a", "String");
  await check("CONVERT(5, CHAR)", "5", "String");
  await fails("CAST(-1 AS UNSIGNED)", "3001 Cast error: Can't cast value -1 to type UInt64");
  await fails("CONVERT(1)", "2000 Invalid SQL syntax: CONVERT takes a value and a type");
  await fails("CONVERT(1, nonsense)", "2000");
});

test("COLLATE of a binary collation changes nothing, others are refused", async () => {
  await check("'a' COLLATE utf8mb4_bin = 'A'", false);
  await check(`'a' COLLATE "C" || 'b' COLLATE pg_catalog."default"`, "ab");
  await fails("'a' COLLATE utf8mb4_0900_ai_ci", "1001 SQL construct is not supported: COLLATE utf8mb4_0900_ai_ci");
  await fails("'a' COLLATE nocase", "1001");
  await fails("'a' COLLATE nonsense", "2000 Invalid SQL syntax: unknown collation 'nonsense'");
});

test("SEMI and ANTI JOIN are those of the left side", async () => {
  const data = new QueryFixture();
  await data.sql("CREATE TABLE t (h STRING PRIMARY KEY, ts TIMESTAMP TIME INDEX); INSERT INTO t VALUES ('a', 1), ('b', 2), ('b', 3)");
  const rows = async (join: string): Promise<unknown> =>
    (await data.both(`SELECT t.h, t.ts FROM t ${join} (SELECT 'b' AS h) AS u ON t.h = u.h ORDER BY ts`)).rows;
  expect(await rows("SEMI JOIN")).toEqual(await rows("LEFT SEMI JOIN"));
  expect(await rows("ANTI JOIN")).toEqual([["a", 1n]]);
  expect((await data.both("SELECT ts FROM t SEMI JOIN (SELECT 'a' AS h) AS u USING (h)")).rows).toEqual([[1n]]);
  expect(await data.sql("SELECT ts FROM t SEMI JOIN t AS u").then(String, String)).toContain("a join needs ON or USING");
});
