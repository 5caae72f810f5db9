import { describe, expect, test } from "bun:test";
import { checkFails } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

const fixture = new QueryFixture();
await fixture.sql("CREATE TABLE t (h STRING, a BIGINT, b DOUBLE, ts TIMESTAMP TIME INDEX, PRIMARY KEY (h))");
await fixture.sql("INSERT INTO t VALUES ('x', 1, 1.5, 0), ('x', 2, 2.5, 1000), ('y', 1, 1.5, 2000), ('y', NULL, 3.5, 7000)");

/** Columns and rows of a query, in their order. loops and reference must agree. */
async function check(query: string, columns: string, want: readonly (readonly unknown[])[]): Promise<void> {
  const answer = await fixture.both(query);
  expect([query, answer.columns.join(" "), answer.rows as unknown]).toEqual([query, columns, want]);
}

const fails = (query: string, message: string): Promise<void> => checkFails(fixture, query, message);

describe("* leaves columns out or changes them", () => {
  test("EXCLUDE and EXCEPT", async () => {
    await check("SELECT * EXCLUDE (a, ts) FROM t WHERE a = 2", "h b", [["x", 2.5]]);
    await check("SELECT * EXCLUDE ts FROM t WHERE a = 2", "h a b", [["x", 2, 2.5]]);
    await check("SELECT t.* EXCEPT (h, ts), 1 AS one FROM t WHERE a = 2", "a b one", [[2, 2.5, 1]]);
    await fails("SELECT * EXCLUDE (nope) FROM t", "No field named nope");
    await fails("SELECT * EXCLUDE (h, a, b, ts) FROM t", "SELECT list is empty");
    await fails("SELECT * EXCLUDE () FROM t", "expected");
  });

  test("REPLACE", async () => {
    await check("SELECT * EXCLUDE (ts) REPLACE (a * 10 AS a) FROM t WHERE a = 2", "h a b", [["x", 20, 2.5]]);
    await check("SELECT t.* REPLACE (upper(h) AS h) FROM t WHERE a = 2", "h a b ts", [["X", 2, 2.5, 1000n]]);
    await fails("SELECT * REPLACE (1 AS c) FROM t", "No field named c");
  });

  test("are kept by views", async () => {
    await fixture.sql("CREATE VIEW shorter AS SELECT * EXCLUDE (ts) REPLACE (a + 1 AS a) FROM t");
    await check("SELECT * FROM shorter WHERE h = 'x' ORDER BY a", "h a b", [
      ["x", 2, 1.5],
      ["x", 3, 2.5],
    ]);
  });
});

test("GROUP BY ALL groups by what is no aggregate", async () => {
  await check("SELECT h, count(*) AS n, sum(a) AS s FROM t GROUP BY ALL ORDER BY h", "h n s", [
    ["x", 2, 3],
    ["y", 2, 1],
  ]);
  await check("SELECT upper(h) AS u, 7 AS seven, max(b) AS m FROM t GROUP BY ALL ORDER BY u", "u seven m", [
    ["X", 7, 2.5],
    ["Y", 7, 3.5],
  ]);
  await check("SELECT h FROM t GROUP BY ALL ORDER BY h", "h", [["x"], ["y"]]);
  await check("SELECT count(*) AS n FROM t GROUP BY ALL", "n", [[4]]);
  await fails("SELECT h FROM t GROUP BY ALL, a", "','");
});

test("count(DISTINCT *) counts rows that differ", async () => {
  await check("SELECT count(DISTINCT *) AS n FROM t", "n", [[4]]);
  await check("SELECT count(DISTINCT *) AS n FROM (SELECT a, b FROM t)", "n", [[3]]);
  await check("SELECT h, count(DISTINCT *) AS n FROM (SELECT h, h IS NULL FROM t) GROUP BY h ORDER BY h", "h n", [
    ["x", 1],
    ["y", 1],
  ]);
  await check("SELECT ts, h, count(DISTINCT *) RANGE '5s' AS n FROM t ALIGN '5s' ORDER BY h, ts", "ts h n", [
    [0n, "x", 2],
    [0n, "y", 1],
    [5000n, "y", 1],
  ]);
  await fails("SELECT sum(DISTINCT *) FROM t", "only count takes *");
});

describe("HAVING without groups", () => {
  test("filters rows by aliases first", async () => {
    await check("SELECT CASE WHEN h = 'x' THEN 'ex' ELSE 'other' END AS h, a FROM t HAVING h IN ('ex', NULL) ORDER BY a", "h a", [
      ["ex", 1],
      ["ex", 2],
    ]);
    await check("SELECT a + 1 AS c FROM t HAVING c > 2 AND b < 3 LIMIT 5", "c", [[3]]);
    await check("SELECT DISTINCT b FROM t HAVING b < 2 LIMIT 1", "b", [[1.5]]);
  });

  test("is a condition on the one group where aggregates are", async () => {
    await check("SELECT count(*) AS n FROM t HAVING count(*) > 3", "n", [[4]]);
    await check("SELECT count(*) AS n FROM t HAVING count(*) > 4", "n", []);
    await fails("SELECT a FROM t HAVING count(*) > 1", "must be in GROUP BY");
  });
});

test("FETCH FIRST is LIMIT", async () => {
  await check("SELECT a FROM t ORDER BY ts FETCH FIRST 2 ROWS ONLY", "a", [[1], [2]]);
  await check("SELECT a FROM t ORDER BY ts OFFSET 1 ROW FETCH NEXT ROW ONLY", "a", [[2]]);
  await fails("SELECT a FROM t LIMIT 1 FETCH FIRST 2 ROWS ONLY", "LIMIT is written twice");
  await fails("SELECT a FROM t FETCH FIRST 2 ROWS", "ONLY");
});

describe("rows compare", () => {
  test("part by part", async () => {
    await check("SELECT a, b FROM t WHERE (h, a) IN (('x', 2), ('y', 1)) ORDER BY ts", "a b", [
      [2, 2.5],
      [1, 1.5],
    ]);
    await check("SELECT a FROM t WHERE (h, a) NOT IN (('x', 2), ('y', 1))", "a", [[1]]);
    await check("SELECT b FROM t WHERE (a, b) >= (1, 2.5) ORDER BY ts", "b", [[2.5]]);
    await check("SELECT (1, 'b') > (1, 'a') AS p, (1, 2) <= (1, 2) AS q, (2, 0) < (1, 9) AS r, ROW(1, 2) <> (1, 3) AS s", "p q r s", [
      [true, true, false, true],
    ]);
    await fails("SELECT (1, 2) = (1, 2, 3)", "a row of 2 values cannot be compared with one of 3");
    await fails("SELECT (1, 2) IN (1, 2)", "takes rows");
  });

  test("with what a query gives", async () => {
    await check("SELECT b FROM t WHERE (h, a) IN (SELECT h, max(a) FROM t GROUP BY h) ORDER BY ts", "b", [[2.5], [1.5]]);
    await check("SELECT b FROM t WHERE (h, a) NOT IN (SELECT h, max(a) FROM t GROUP BY h) ORDER BY ts", "b", [[1.5]]);
  });

  test("where NULL leaves the answer open only if the rest does", async () => {
    await check("SELECT (1, NULL) = (2, 5) AS p, (1, NULL) = (1, 5) AS q, (1, NULL) < (2, 5) AS r", "p q r", [[false, undefined, true]]);
  });
});

describe("what clients of other servers ask", () => {
  test("system variables", async () => {
    await check(
      "SELECT @@version_comment, @@session.time_zone AS zone, @@lower_case_table_names",
      "@@version_comment zone @@lower_case_table_names",
      [["GreptimeDB", "UTC", "0"]],
    );
    await fails("SELECT @@version_coment", "Did you mean '@@version_comment'?");
  });

  test("names that are calls", async () => {
    await check("SELECT user = current_user AS same, session_user() = user AS too", "same too", [[true, true]]);
    await check("SELECT current_role = user AS same, current_catalog = current_database() AS too", "same too", [[true, true]]);
    await check("SELECT user FROM (SELECT 1 AS user)", "user", [[1]]);
    await fails('SELECT "user"', "No field named user");
  });

  test("whole quotients and seconds since the epoch", async () => {
    await check("SELECT 7 DIV 2 AS p, -7 DIV 2 AS q, 7.9 DIV 2 AS r, NULL DIV 2 AS s", "p q r s", [[3, -3, 3, undefined]]);
    await check("SELECT UNIX_TIMESTAMP(ts) DIV 2 * 2 AS time, count(*) AS n FROM t GROUP BY 1 ORDER BY 1", "time n", [
      [0, 2],
      [2, 1],
      [6, 1],
    ]);
    await check("SELECT unix_timestamp() - unix_timestamp(now()) AS zero, unix_timestamp(NULL) AS nothing", "zero nothing", [
      [0, undefined],
    ]);
    await check("SELECT from_unixtime(1599572549, 'America/New_York') = from_unixtime(1599572549) AS same", "same", [[true]]);
    await fails("SELECT from_unixtime(1, 'Nowhere/Town')", "Invalid timezone string");
    await fails("SELECT 1 DIV 0", "Divide by zero");
  });

  test("functions in FROM, and relations of one column by their name", async () => {
    await check("SELECT s[i] AS part FROM generate_series(1, 2) AS i, string_to_array('a,b', ',') AS s ORDER BY i", "part", [["a"], ["b"]]);
    await check("SELECT * FROM upper('x')", "upper", [["X"]]);
    await check("SELECT v FROM abs(-1) AS a(v)", "v", [[1]]);
    await check(
      "SELECT array_lower(l, 1) AS low, array_upper(l, 1) AS high, array_upper(l, 2) AS none FROM (SELECT [5, 6, 7] AS l)",
      "low high none",
      [[1, 3, undefined]],
    );
    await fails("SELECT t FROM t", "No field named t");
    await fails("SELECT * FROM nothing(1)", "table function nothing");
  });

  test("NULL-safe equality", async () => {
    await check("SELECT NULL <=> NULL AS p, 1 <=> NULL AS q, 1 <=> 1 AS r", "p q r", [[true, false, true]]);
  });
});
