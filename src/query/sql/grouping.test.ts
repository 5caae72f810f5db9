import { describe, expect, test } from "bun:test";
import { parseSql } from "./parse.ts";
import { printQuery } from "./print/print.ts";

/** What stands behind FROM t, as it prints; a second round gives the same. */
function printed(rest: string): string {
  const once = print(`SELECT 1 FROM t ${rest}`);
  expect(print(once), once).toBe(once);
  return once.slice("select 1 from t ".length);
}

function print(sql: string): string {
  const [statement] = parseSql(sql);
  if (statement?.kind !== "select") throw new Error(`no query: ${sql}`);
  return printQuery(statement, { word: (keyword) => keyword, keepQuotes: false });
}

function check(rest: string, want: string): void {
  expect(printed(rest), rest).toBe(want);
}

function checkRejects(rest: string, why: RegExp): void {
  expect(() => printed(rest), rest).toThrow(why);
}

describe("GROUP BY", () => {
  test("takes plain keys, with or without parentheses", () => {
    check("GROUP BY a, b + 1", "group by a, b + 1");
    check("GROUP BY (a, b), (c), (d + 1) * 2", "group by a, b, c, (d + 1) * 2");
    check("GROUP BY (a) IN (1), (b) IS NULL, (c)::INT", "group by a in (1), b is null, cast(c as int)");
  });
  test("stands for grouping sets", () => {
    check("GROUP BY ()", "group by grouping sets (())");
    check("GROUP BY ROLLUP (a, b)", "group by grouping sets ((a, b), (a), ())");
    check("GROUP BY CUBE (a, b)", "group by grouping sets ((a, b), (a), (b), ())");
    check("GROUP BY ROLLUP ((a, b), c)", "group by grouping sets ((a, b, c), (a, b), ())");
    check("GROUP BY GROUPING SETS (a, (b, c), ())", "group by grouping sets ((a), (b, c), ())");
    check("GROUP BY GROUPING SETS (ROLLUP (a), CUBE (b), (c))", "group by grouping sets ((a), (), (b), (), (c))");
  });
  test("combines the sets of its items", () => {
    check("GROUP BY a, ROLLUP (b)", "group by grouping sets ((a, b), (a))");
    check("GROUP BY ROLLUP (a), ROLLUP (b)", "group by grouping sets ((a, b), (a), (b), ())");
  });
  test("leaves its words to names", () => {
    check("GROUP BY rollup, cube, grouping, sets", "group by rollup, cube, grouping, sets");
  });
  test("rejects what stands for too many sets", () => {
    const keys = Array.from({ length: 13 }, (_, i) => `c${i}`).join(", ");
    checkRejects(`GROUP BY CUBE (${keys})`, /stands for 8192 grouping sets; there may be 4096/);
    checkRejects("GROUP BY CUBE (a, b, c, d, e, f), CUBE (a, b, c, d, e, f), ROLLUP (a)", /stands for 8192 grouping sets/);
    checkRejects(`GROUP BY ${"GROUPING SETS (".repeat(600)}`, /nests deeper than 500 levels/);
  });
  test("rejects sets that have too many keys together, before they are made", () => {
    const keys = (name: string, count: number): string => Array.from({ length: count }, (_, i) => `${name}${i}`).join(", ");
    checkRejects(`GROUP BY ROLLUP (${keys("a", 4000)})`, /have 8002000 keys in all; they may have 65536/);
    checkRejects(`GROUP BY ROLLUP (${keys("a", 60)}), ROLLUP (${keys("b", 60)})`, /have 223260 keys in all/);
    const sets = Array.from({ length: 70 }, () => `(${keys("a", 1000)})`).join(", ");
    checkRejects(`GROUP BY GROUPING SETS (${sets})`, /have 66000 keys in all/);
  });
  test("rejects what is incomplete", () => {
    checkRejects("GROUP BY ROLLUP (", /expected an expression/);
    checkRejects("GROUP BY GROUPING SETS a", /expected '\('/);
    checkRejects("GROUP BY ROLLUP ()", /expected an expression|No function/);
  });
});

test("WINDOW and QUALIFY follow HAVING in either order", () => {
  check("WINDOW w AS (), v AS (w ORDER BY a) QUALIFY x", "window w as (), v as (w order by a) qualify x");
  check("QUALIFY x WINDOW w AS (PARTITION BY a)", "window w as (partition by a) qualify x");
  check("GROUP BY a HAVING b QUALIFY c ORDER BY d", "group by a having b qualify c order by d");
  checkRejects("QUALIFY x WINDOW w AS () QUALIFY y", /keyword: 'QUALIFY'/);
  checkRejects("WINDOW w", /expected AS/);
  checkRejects("WINDOW w AS (ROWS 1)", /expected PRECEDING or FOLLOWING/);
});
