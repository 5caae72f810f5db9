import { describe, expect, test } from "bun:test";
import { parseSql } from "./parse.ts";
import { printStatement } from "./print/print-statement.ts";

/** A query prints so, and what it prints means the same. */
function check(input: string, want: string): void {
  const [statement] = parseSql(input);
  const printed = statement === undefined ? "" : printStatement(statement);
  expect(printed, input).toBe(want);
  expect(parseSql(printed).map(printStatement), input).toEqual([want]);
}

function checkRefused(sql: string, why: string): void {
  expect(() => parseSql(sql), sql).toThrow(why);
}

describe("RANGE and ALIGN", () => {
  test("stand behind operands, and between WHERE and ORDER BY", () => {
    check("select min(v) range '5s' from t align '5s'", "SELECT min(v) RANGE '5s' FROM t ALIGN '5s'");
    check(
      "select ts, 2 * min(v) range '5s' fill prev as m from t where v > 1 align '10s' to now by (host, a + 1) fill null order by m limit 3",
      "SELECT ts, 2 * min(v) RANGE '5s' FILL PREV AS m FROM t WHERE v > 1 ALIGN '10s' TO now BY (host, a + 1) FILL NULL ORDER BY m LIMIT 3",
    );
    check("select count(*) range '1d' from t align '1d' by ()", "SELECT count(*) RANGE '1d' FROM t ALIGN '1d' BY ()");
    check(
      "select min(v) range (interval '1' day) from t align (interval '1' hour) to '2024-01-01'",
      "SELECT min(v) RANGE INTERVAL '1 day' FROM t ALIGN INTERVAL '1 hour' TO '2024-01-01'",
    );
    check("select (min(v) + max(v)) range '20s' + 1.0 from t align '10s'", "SELECT (min(v) + max(v)) RANGE '20s' + 1.0 FROM t ALIGN '10s'");
    check("select floor(min(v) range '5s') from t align '5s' fill linear", "SELECT floor(min(v) RANGE '5s') FROM t ALIGN '5s' FILL LINEAR");
  });
  test("take TO, BY and FILL in any order", () => {
    check(
      "select min(v) range '5s' from t align '5s' fill 6 by (a) to calendar",
      "SELECT min(v) RANGE '5s' FROM t ALIGN '5s' TO calendar BY (a) FILL 6",
    );
    check("select min(v) range '5s' fill -1.5 from t align '5s'", "SELECT min(v) RANGE '5s' FILL -1.5 FROM t ALIGN '5s'");
    check("select min(v) range '5s' fill 'x' + 1 from t align '5s'", "SELECT min(v) RANGE '5s' FILL 'x' + 1 FROM t ALIGN '5s'");
  });
  test("bind as tightly as casts, tighter than signs", () => {
    check("select -min(v) range '5s' from t align '5s'", "SELECT -min(v) RANGE '5s' FROM t ALIGN '5s'");
    check("select -(min(v) range '5s') from t align '5s'", "SELECT -min(v) RANGE '5s' FROM t ALIGN '5s'");
    check("select (-min(v)) range '5s' from t align '5s'", "SELECT (-min(v)) RANGE '5s' FROM t ALIGN '5s'");
    check("select min(v) range ('5s' || '') from t align '5s'", "SELECT min(v) RANGE ('5s' || '') FROM t ALIGN '5s'");
    check(
      "select cast(min(v) range '1s' fill prev as bigint) * 4 from t align '5s'",
      "SELECT CAST(min(v) RANGE '1s' FILL PREV AS BIGINT) * 4 FROM t ALIGN '5s'",
    );
  });
  test("leave their words to names", () => {
    check("select range, align, fill from t", "SELECT range, align, fill FROM t");
    check("select a as range from range(1, 3) as fill", "SELECT a AS range FROM range(1, 3) AS fill");
    check("select to, now from t order by to", "SELECT to, now FROM t ORDER BY to");
  });
  test("say what is missing", () => {
    checkRefused("select min(v) range '5s' from t align", "the text ends too early, expected an expression");
    checkRefused("select min(v) range '5s' fill from t align '5s'", "found 'from'");
    checkRefused("select min(v) range '5s' from t align '5s' by host", "found 'host'");
    checkRefused("select min(v) range '5s' from t align '5s' fill 1 fill 2", "FILL is written twice");
    checkRefused("select min(v) range '5s' from t align '5s' where v > 1", "keyword: 'where'");
  });
});
