/** Intervals as values of columns between operators. */
import { test } from "bun:test";
import { checkRows } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import { failsExpression } from "../../../test/support/expression-check.ts";

const SPANS =
  "(VALUES (1, INTERVAL '1 day'), (2, INTERVAL '10 days'), (3, INTERVAL '2 hours'), (4, NULL), (5, INTERVAL '24 hours')) AS v (k, i)";

const check = (query: string, want: readonly (readonly unknown[])[]): Promise<void> => checkRows(new QueryFixture(), query, want);

test("an interval of a column is added to times and intervals", async () => {
  await check(`SELECT CAST(DATE '2024-01-31' + i AS STRING) FROM ${SPANS} WHERE k = 2`, [["2024-02-10"]]);
  await check(`SELECT i + i, - i FROM ${SPANS} WHERE k = 3`, [["4 hours", "-2 hours"]]);
  await check(`SELECT date_bin(i, CAST('2024-01-31 13:00:00' AS TIMESTAMP))::STRING FROM ${SPANS} WHERE k = 3`, [["2024-01-31T12:00:00"]]);
});

test("intervals order by length: a month has 30 days, a day 24 hours", async () => {
  await check(`SELECT k FROM ${SPANS} ORDER BY i, k`, [[3], [1], [5], [2], [4]]);
  await check(`SELECT k FROM ${SPANS} ORDER BY i DESC NULLS LAST, k`, [[2], [1], [5], [3], [4]]);
  await check(`SELECT max(i), min(i) FROM ${SPANS}`, [["10 days", "2 hours"]]);
  await check("SELECT INTERVAL '1 month' > INTERVAL '31 days', INTERVAL '1 month' > INTERVAL '29 days'", [[false, true]]);
  await check("SELECT INTERVAL '36 hours' > INTERVAL '1 day', greatest(INTERVAL '1 day', INTERVAL '2 hours')", [[true, "1 days"]]);
  await check("SELECT DATE '2024-01-03'::TIMESTAMP - DATE '2024-01-01'::TIMESTAMP > INTERVAL '1 day'", [[true]]);
});

test("equal intervals are one group, one set member and one partner of a join", async () => {
  await check(`SELECT i, count(*) FROM ${SPANS} GROUP BY i ORDER BY i`, [
    ["2 hours", 1],
    ["1 days", 2],
    ["10 days", 1],
    [undefined, 1],
  ]);
  await check(`SELECT DISTINCT i FROM ${SPANS} WHERE i IN (INTERVAL '1 day', INTERVAL '3 days')`, [["1 days"]]);
  await check(`SELECT v.k, b.k FROM ${SPANS} JOIN ${SPANS.replace("AS v", "AS b")} ON v.i = b.i AND v.k < 2 ORDER BY b.k`, [
    [1, 1],
    [1, 5],
  ]);
  await check(`SELECT i FROM ${SPANS} INTERSECT SELECT INTERVAL '10 days'`, [["10 days"]]);
});

test("intervals pass windows, lists, unions and sub-queries", async () => {
  await check(`SELECT lag(i) OVER (ORDER BY k) FROM ${SPANS} ORDER BY k LIMIT 2`, [[undefined], ["1 days"]]);
  await check(`SELECT array_agg(i ORDER BY k) FROM ${SPANS} WHERE k < 4`, [['["1 days","10 days","2 hours"]']]);
  await check(`SELECT i FROM ${SPANS} WHERE k = 1 UNION ALL SELECT INTERVAL '5 mins'`, [["1 days"], ["5 mins"]]);
  await check(`SELECT (SELECT max(i) FROM ${SPANS}) + INTERVAL '1 hour'`, [["10 days 1 hours"]]);
  await check(`SELECT unnest([INTERVAL '1 month', NULL])`, [["1 mons"], [undefined]]);
  await check(`SELECT string_agg(i, ', ' ORDER BY k) FROM ${SPANS}`, [["1 days, 10 days, 2 hours, 24 hours"]]);
});

test("intervals that no 32 bits of months or days hold are refused", async () => {
  await failsExpression("INTERVAL '2147483647 months' + INTERVAL '1 month'", "3001 Arithmetic overflow");
  await failsExpression("INTERVAL '-2147483648 days' - INTERVAL '1 day'", "3001 Arithmetic overflow");
  await failsExpression("- INTERVAL '-2147483648 days'", "3001 Arithmetic overflow");
});
