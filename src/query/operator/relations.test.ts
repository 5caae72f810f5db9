/** Joins, set operations, WITH and sub-queries: exact answers, and random queries by loops and reference, which joins by nested loops. */
import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkFails, rowTexts } from "../../../test/support/query-check.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE l (k STRING PRIMARY KEY, a INT, x DOUBLE, ts TIMESTAMP TIME INDEX)");
  await data.sql("CREATE TABLE r (k STRING PRIMARY KEY, b INT, y DOUBLE, ts TIMESTAMP TIME INDEX)");
  await data.sql("INSERT INTO l VALUES ('p', 1, 1.5, 1), ('p', 2, NULL, 2), ('q', 3, 2.5, 3), (NULL, 4, 3.5, 4), ('s', NULL, 4.5, 5)");
  await data.sql("INSERT INTO r VALUES ('p', 1, 1.5, 1), ('p', 5, 2.5, 2), ('q', 3, NULL, 3), (NULL, 4, 0.5, 4), ('t', NULL, 4.5, 5)");
});

const rowsOf = (sql: string): Promise<readonly string[]> => rowTexts(data, sql);

async function check(sql: string, want: readonly string[]): Promise<void> {
  expect([...(await rowsOf(sql))].sort(), sql).toEqual([...want].sort());
}

const fails = (sql: string, why: RegExp): Promise<void> => checkFails(data, sql, why);

describe("joins", () => {
  test("inner joins give the pairs; NULL equals nothing", async () => {
    await check("SELECT l.k, a, b FROM l JOIN r ON l.k = r.k", ["p 1 1", "p 1 5", "p 2 1", "p 2 5", "q 3 3"]);
    await check("SELECT l.k, a, b FROM l, r WHERE l.k = r.k AND a = b", ["p 1 1", "q 3 3"]);
    await check("SELECT a, b FROM l JOIN r ON l.k = r.k AND x < y", ["1 5"]);
    await check("SELECT count(*) FROM l CROSS JOIN r", ["25"]);
    await check("SELECT count(*) FROM l CROSS JOIN r AS r2 CROSS JOIN r", ["125"]);
  });
  test("outer joins keep what has no partner, with NULLs", async () => {
    await check("SELECT l.k, a, b FROM l LEFT JOIN r ON l.k = r.k AND b > 2", ["p 1 5", "p 2 5", "q 3 3", "- 4 -", "s - -"]);
    await check("SELECT a, r.k, b FROM l RIGHT JOIN r ON l.k = r.k AND a > 1", ["2 p 1", "2 p 5", "3 q 3", "- - 4", "- t -"]);
    await check("SELECT a, b FROM l FULL JOIN r ON a = b", ["1 1", "2 -", "3 3", "4 4", "- -", "- 5", "- -"]);
    await check("SELECT a, b FROM l LEFT JOIN r ON a = b WHERE b IS NULL", ["2 -", "- -"]);
    await check("SELECT a FROM l LEFT JOIN r ON l.k = r.k AND a > 100 WHERE a > 2", ["3", "4"]);
    await check("SELECT a, b FROM l FULL JOIN (SELECT b FROM r WHERE false) AS e ON a = b WHERE a < 3", ["1 -", "2 -"]);
  });
  test("semi and anti joins give rows of one side", async () => {
    await check("SELECT a FROM l LEFT SEMI JOIN r ON l.k = r.k", ["1", "2", "3"]);
    await check("SELECT a FROM l LEFT ANTI JOIN r ON l.k = r.k", ["4", "-"]);
    await check("SELECT b FROM l RIGHT SEMI JOIN r ON l.k = r.k AND x > 2", ["3"]);
    await check("SELECT b FROM l RIGHT ANTI JOIN r ON l.k = r.k", ["4", "-"]);
    await check("SELECT a FROM l LEFT SEMI JOIN r ON x > y", ["1", "3", "4", "-"]);
  });
  test("USING and NATURAL show a column once and name the side that is there", async () => {
    await check("SELECT k, a, b FROM l JOIN r USING (k)", ["p 1 1", "p 1 5", "p 2 1", "p 2 5", "q 3 3"]);
    await check("SELECT k, a FROM l LEFT JOIN r USING (k) WHERE b IS NULL", ["- 4", "s -"]);
    await check("SELECT k, b FROM l RIGHT JOIN r USING (k) WHERE a IS NULL", ["- 4", "t -"]);
    await check("SELECT k, a, b FROM l FULL JOIN r USING (k) WHERE a IS NULL OR b IS NULL", ["- 4 -", "- - 4", "s - -", "t - -"]);
    await check("SELECT * FROM (SELECT a, k FROM l) AS l NATURAL JOIN (SELECT b, k FROM r WHERE b = 3) AS r", ["3 q 3"]);
    await check("SELECT * FROM (SELECT k, a FROM l) AS z NATURAL JOIN (SELECT b, k FROM r WHERE b = 3) AS r", ["3 3 q"]);
    await check("SELECT * FROM (SELECT k, a FROM l) AS l NATURAL JOIN (SELECT b, k FROM r WHERE b = 3) AS r", ["q 3 3"]);
    await check("SELECT r.k, l.k FROM l JOIN r USING (k) WHERE b = 3", ["q q"]);
  });
  test("a column of several full joins is the first value that is there", async () => {
    const one = (name: string, value: string): string => `(SELECT ${value} AS k) AS ${name}`;
    await check(`SELECT k FROM ${one("a", "1")} FULL JOIN ${one("b", "2")} USING (k) FULL JOIN ${one("c", "3")} USING (k)`, [
      "1",
      "2",
      "3",
    ]);
    await check(`SELECT k FROM ${one("a", "1")} FULL JOIN (${one("b", "2")} FULL JOIN ${one("c", "1")} USING (k)) USING (k)`, ["1", "2"]);
    await check(`SELECT k FROM ${one("a", "1")} FULL JOIN ${one("b", "2.5")} USING (k) FULL JOIN ${one("c", "1")} USING (k)`, ["1", "2.5"]);
    await check(
      `SELECT k, a.k, b.k, c.k FROM ${one("a", "'x'")} FULL JOIN ${one("b", "NULL")} USING (k) FULL JOIN ${one("c", "'y'")} USING (k)`,
      ["- - - -", "x x - -", "y - - y"],
    );
  });
  test("a table may join itself, and joins nest", async () => {
    await check("SELECT t1.a, t2.a FROM l t1 JOIN l t2 ON t1.a = t2.a - 1", ["1 2", "2 3", "3 4"]);
    await check("SELECT t1.a, r.b FROM l t1 JOIN (l t2 JOIN r ON t2.a = r.b) ON t1.a = t2.a", ["1 1", "3 3", "4 4"]);
    await check("SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v (n, s) JOIN l ON n = a WHERE s = 'y'", ["2 y p 2 - 2"]);
  });
  test("names that mean two columns are refused", async () => {
    await fails("SELECT k FROM l JOIN r ON l.k = r.k", /Ambiguous reference to unqualified field k/);
    await fails("SELECT a FROM l JOIN r ON nope = 1", /No field named nope/);
    await fails("SELECT a FROM l JOIN r USING (a)", /column a of USING is not on both sides/);
    await fails("SELECT * FROM l LEFT JOIN r", /needs ON or USING/);
  });
  test("on random keys, kinds and batch sizes", async () => {
    const kinds = fc.constantFrom("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "RIGHT ANTI JOIN");
    const conditions = fc.subarray(
      ["l.k = r.k", "a = b", "x = y", "a < b", "l.k < r.k", "a + 1 = b", "l.ts = r.ts", "a > 1", "y > 1", "a % 2 = b % 2"],
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    const where = fc.constantFrom("true", "l.a > 1", "r.b > 1 OR l.x > 2", "l.k IS NULL", "r.y IS NOT NULL");
    await fc.assert(
      fc.asyncProperty(kinds, conditions, where, fc.constantFrom(1, 2, 100), async (kind, on, filter, batchRows) => {
        for (const name of ["l", "r"]) {
          const table = data.catalog.table("public", name);
          if (table !== undefined) table.batchRows = batchRows;
        }
        const side = kind.startsWith("LEFT SEMI") || kind.startsWith("LEFT ANTI") ? "l" : kind.startsWith("RIGHT ANTI") ? "r" : undefined;
        const shown = side === undefined ? "l.k, a, x, r.k, b, y" : `${side}.*`;
        const kept = side === undefined ? ` WHERE ${filter}` : "";
        await data.both(`SELECT ${shown} FROM l ${kind} r ON ${on.join(" AND ")}${kept}`);
      }),
      { seed: 20240102, numRuns: 120 },
    );
  });
});

describe("chains of inner joins", () => {
  /** The plan's joins, the outermost first. */
  async function joins(sql: string): Promise<readonly string[]> {
    const { rows } = await data.sql(`EXPLAIN ${sql}`);
    return [...String(rows[1]?.[1]).matchAll(/(\w+JoinExec: \w+)/g)].map(([line]) => line);
  }
  const hashes = ["HashJoinExec: inner", "HashJoinExec: inner"];
  test("a relation waits until it has an equality with those before it", async () => {
    const far = "SELECT l.a, o.b, r.y FROM l, r, r AS o WHERE l.k = o.k AND o.b = r.b";
    expect(await joins(far)).toEqual(hashes);
    await check(far, ["1 1 1.5", "1 5 2.5", "2 1 1.5", "2 5 2.5", "3 3 -"]);
    await check(`${far} AND l.ts < 2 AND r.ts < 2`, ["1 1 1.5"]);
    const nested = "SELECT * FROM l JOIN (r CROSS JOIN l AS o) ON l.k = o.k AND o.a + l.a = r.b";
    expect(await joins(nested)).toEqual(hashes);
    await check(nested, ["p 1 1.5 1 q 3 - 3 p 2 - 2", "p 2 - 2 - 4 0.5 4 p 2 - 2", "p 2 - 2 q 3 - 3 p 1 1.5 1"]);
  });
  test("products that cannot be avoided, and outer joins, stay where they are", async () => {
    await check("SELECT count(*) FROM l, r, r AS o WHERE l.k = 'p'", ["50"]);
    await check("SELECT count(*) FROM l, r, l AS o WHERE r.b = o.a", ["15"]);
    await check("SELECT count(*) FROM l CROSS JOIN r LEFT JOIN l AS o ON o.a = l.a", ["25"]);
    await check("SELECT count(*) FROM l, r, r AS o WHERE l.a + o.b = r.b", ["6"]);
  });
  test("random chains", async () => {
    const equality = fc.constantFrom("l.k = r.k", "l.a = o.b", "r.b = o.b", "o.k = p.k", "p.a = l.a", "r.y = p.x", "l.a + r.b = o.b + p.a");
    const shown = fc.constantFrom("*", "l.a, p.k", "count(*)", "o.*");
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(equality, { minLength: 2, maxLength: 5 }), shown, async (conditions, columns) => {
        await data.both(`SELECT ${columns} FROM l, r, r AS o, l AS p WHERE ${conditions.join(" AND ")} AND l.ts < 4`);
      }),
      { seed: 20261121, numRuns: 60 },
    );
  });
});

describe("what is read and how", () => {
  async function plan(sql: string): Promise<string> {
    const { rows } = await data.sql(`EXPLAIN ${sql}`);
    return String(rows[1]?.[1]);
  }
  test("conditions sink to the scans of both sides, and equalities become keys", async () => {
    const text = await plan("SELECT a FROM l JOIN r ON l.k = r.k WHERE l.ts < 3 AND r.k = 'p' AND a < b");
    expect(text).toContain("HashJoinExec: inner, on=[k = k], filter=(a < b)");
    expect(text).toContain("time=[-inf, 1970-01-01T00:00:00.003)");
    expect(text).toContain("tags=[k in ('p')]");
    expect(text).not.toContain("FilterExec");
  });
  test("conditions on a side that may be NULL stay above an outer join", async () => {
    expect(await plan("SELECT a FROM l LEFT JOIN r ON l.k = r.k WHERE r.ts IS NULL")).toMatch(/FilterExec.*\n\s+HashJoinExec: left/);
  });
  test("conditions and columns sink into queries of FROM and WITH", async () => {
    const text = await plan("WITH t AS (SELECT k, a + 1 AS n, x, ts FROM l) SELECT n FROM t WHERE k = 'p' AND ts > 1");
    expect(text).toContain("projection=[a], time=[1970-01-01T00:00:00.002, +inf), tags=[k in ('p')]");
    const grouped = await plan("SELECT * FROM (SELECT k, max(a) AS m FROM l GROUP BY k) AS g WHERE k = 'q' AND m > 1");
    expect(grouped).toContain("tags=[k in ('q')]");
    expect(grouped).toContain("FilterExec: (max > 1)");
    expect(await plan("SELECT * FROM (SELECT a FROM l UNION ALL SELECT b FROM r) AS u WHERE a > 4")).not.toMatch(
      /FilterExec.*\n\s+UnionExec/,
    );
  });
  test("conditions stay above a LIMIT", async () => {
    const text = await plan("SELECT * FROM (SELECT k, a FROM l ORDER BY a LIMIT 2) AS t WHERE k = 'p'");
    expect(text).toMatch(/FilterExec.*\n\s+ProjectionExec|FilterExec.*\n\s+(LimitExec|TopNExec)/);
    await check("SELECT * FROM (SELECT k, a FROM l ORDER BY a LIMIT 2) AS t WHERE a > 1", ["p 2"]);
  });
  test("correlated sub-queries become joins", async () => {
    expect(await plan("SELECT a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND b > a)")).toContain(
      "HashJoinExec: semi, on=[k = k]",
    );
    expect(await plan("SELECT a FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k)")).toContain("HashJoinExec: anti");
    expect(await plan("SELECT a FROM l WHERE a IN (SELECT b FROM r WHERE r.k = l.k)")).toContain("semi, on=[k = k AND a = b]");
    expect(await plan("SELECT (SELECT max(b) FROM r WHERE r.k = l.k) FROM l")).toContain("HashJoinExec: left");
    expect(await plan("SELECT (SELECT b FROM r WHERE r.k = l.k LIMIT 1) FROM l")).toContain("SubQueryExec");
    expect(await plan("SELECT EXISTS (SELECT 1 FROM r WHERE r.k = l.k) FROM l")).toContain("SubQueryExec");
  });
});

describe("set operations", () => {
  const few = "SELECT * FROM (VALUES (1), (1), (2), (NULL), (NULL)) AS a";
  const others = "SELECT * FROM (VALUES (1), (3), (NULL)) AS b";
  test("count rows as the standard says; NULLs are equal", async () => {
    await check(`${few} UNION ALL ${others}`, ["1", "1", "2", "-", "-", "1", "3", "-"]);
    await check(`${few} UNION ${others}`, ["1", "2", "3", "-"]);
    await check(`${few} INTERSECT ${others}`, ["1", "-"]);
    await check(`${few} INTERSECT ALL ${others}`, ["1", "-"]);
    await check(`${few} EXCEPT ${others}`, ["2"]);
    await check(`${few} EXCEPT ALL ${others}`, ["1", "2", "-"]);
  });
  test("INTERSECT binds tighter; parentheses, ORDER BY and LIMIT belong where they stand", async () => {
    await check("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3", ["1"]);
    await check("(SELECT 1 UNION SELECT 2) INTERSECT SELECT 2", ["2"]);
    await check("(SELECT a FROM l ORDER BY a DESC NULLS LAST LIMIT 1) UNION ALL (SELECT b FROM r ORDER BY b LIMIT 1)", ["4", "1"]);
    expect(await rowsOf("SELECT a FROM l UNION SELECT b FROM r ORDER BY a DESC NULLS LAST LIMIT 3")).toEqual(["5", "4", "3"]);
    expect(await rowsOf("SELECT a AS n FROM l UNION ALL SELECT b FROM r ORDER BY n + 1, 1 LIMIT 2 OFFSET 1")).toEqual(["1", "2"]);
  });
  test("types meet, and widths must", async () => {
    const { types } = await data.both("SELECT 1 UNION ALL SELECT 2.5");
    expect(types).toEqual(["Float64"]);
    await fails("SELECT 1 UNION SELECT 1, 2", /UNION queries have different number of columns/);
    await fails("SELECT 1 EXCEPT SELECT INTERVAL '1 day'", /no common type/);
  });
  test("VALUES is a query", async () => {
    expect(await rowsOf("VALUES (2, 'b'), (1, 'a') ORDER BY column1")).toEqual(["1 a", "2 b"]);
    await fails("VALUES (1), (1, 2)", /Inconsistent data length/);
  });
});

describe("WITH", () => {
  test("names queries for those after it", async () => {
    await check("WITH t AS (SELECT a FROM l WHERE a > 1), u (m) AS (SELECT max(a) FROM t) SELECT t.a, m FROM t, u", ["2 4", "3 4", "4 4"]);
    await check("WITH l AS (SELECT a + 10 AS a FROM l WHERE a < 3) SELECT a FROM l", ["11", "12"]);
    await check("WITH t AS (SELECT 1 AS n) SELECT * FROM (WITH u AS (SELECT n + 1 AS n FROM t) SELECT n FROM u) AS s, t", ["2 1"]);
  });
  test("refuses a name twice, and does not see later ones", async () => {
    await fails("WITH t AS (SELECT 1), t AS (SELECT 2) SELECT 1", /WITH query name "t" specified more than once/);
    await fails("WITH t AS (SELECT 1) SELECT (WITH t AS (SELECT 2) SELECT 1)", /WITH query name "t" specified more than once/);
    await fails("WITH t AS (SELECT * FROM u), u AS (SELECT 2) SELECT 1", /Table not found: greptime.public.u/);
  });
});

describe("sub-queries", () => {
  test("as values", async () => {
    await check("SELECT a, (SELECT max(b) FROM r) FROM l WHERE a = (SELECT min(b) FROM r)", ["1 5"]);
    await check("SELECT a, (SELECT max(b) FROM r WHERE r.k = l.k) FROM l", ["1 5", "2 5", "3 3", "4 -", "- -"]);
    await check("SELECT a, (SELECT count(*) FROM r WHERE r.k = l.k AND b > l.a) AS n FROM l ORDER BY n", [
      "3 0",
      "4 0",
      "- 0",
      "1 1",
      "2 1",
    ]);
    await check("SELECT a FROM l WHERE (SELECT b FROM r WHERE false) IS NULL", ["1", "2", "3", "4", "-"]);
    await fails("SELECT (SELECT b FROM r)", /returned more than one row/);
    await fails("SELECT (SELECT b, k FROM r)", /should only return one column/);
  });
  test("in EXISTS, IN and comparisons with ANY and ALL", async () => {
    await check("SELECT a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k)", ["1", "2", "3"]);
    await check("SELECT a FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND b > 1)", ["4", "-"]);
    await check("SELECT a FROM l WHERE a IN (SELECT b FROM r)", ["1", "3", "4"]);
    await check("SELECT a FROM l WHERE a NOT IN (SELECT b FROM r)", []);
    await check("SELECT a FROM l WHERE a NOT IN (SELECT b FROM r WHERE b IS NOT NULL)", ["2"]);
    await check("SELECT a FROM l WHERE a NOT IN (SELECT b FROM r WHERE false)", ["1", "2", "3", "4", "-"]);
    await check("SELECT a FROM l WHERE a > ANY (SELECT b FROM r)", ["2", "3", "4"]);
    await check("SELECT a FROM l WHERE a >= ALL (SELECT b FROM r WHERE b < 4)", ["3", "4"]);
    await check("SELECT a, a IN (SELECT b FROM r) FROM l WHERE a < 3", ["1 true", "2 -"]);
  });
  test("above a GROUP BY", async () => {
    await check("SELECT k, count(*), (SELECT max(b) FROM r WHERE r.k = l.k) FROM l GROUP BY k", ["p 2 5", "q 1 3", "- 1 -", "s 1 -"]);
    await check("SELECT k FROM l GROUP BY k HAVING count(*) = (SELECT count(*) FROM r WHERE r.k = l.k)", ["p", "q"]);
    await fails("SELECT k, (SELECT max(b) FROM r WHERE r.b = l.a) FROM l GROUP BY k", /must be in GROUP BY/);
  });
  test("in FROM, also sideways", async () => {
    await check("SELECT s.n FROM (SELECT a + 1 AS n, k FROM l) AS s WHERE s.k = 'p'", ["2", "3"]);
    await check("SELECT a, n FROM l, LATERAL (SELECT count(*) AS n FROM r WHERE r.k = l.k) AS c", ["1 2", "2 2", "3 1", "4 0", "- 0"]);
    await check("SELECT a, b FROM l LEFT JOIN LATERAL (SELECT b FROM r WHERE b > a ORDER BY b LIMIT 1) AS n ON true", [
      "1 3",
      "2 3",
      "3 4",
      "4 5",
      "- -",
    ]);
  });
  test("on random shapes and conditions", async () => {
    const inner = fc.subarray(["r.k = l.k", "b = a", "b > a", "y < 2", "r.ts > 1", "b + 1 = a", "l.x IS NOT NULL"], {
      minLength: 1,
      maxLength: 3,
    });
    const shape = fc.constantFrom(
      (where: string) => `SELECT a, k FROM l WHERE EXISTS (SELECT b FROM r WHERE ${where})`,
      (where: string) => `SELECT a, k FROM l WHERE NOT EXISTS (SELECT b FROM r WHERE ${where}) AND a > 0`,
      (where: string) => `SELECT a, k FROM l WHERE a IN (SELECT b FROM r WHERE ${where}) OR x > 4`,
      (where: string) => `SELECT a, k FROM l WHERE a IN (SELECT b FROM r WHERE ${where})`,
      (where: string) => `SELECT a, k FROM l WHERE a NOT IN (SELECT b FROM r WHERE ${where})`,
      (where: string) => `SELECT a, (SELECT count(*) + max(b) FROM r WHERE ${where}), (SELECT count(b) FROM r WHERE ${where}) FROM l`,
      () => `SELECT k, count(*), (SELECT sum(y) FROM r WHERE r.k = o.k) FROM (SELECT k, a, x, ts FROM l) AS o GROUP BY k HAVING true`,
      (where: string) => `SELECT a FROM l WHERE a >= (SELECT min(b) FROM r WHERE ${where}) AND EXISTS (SELECT 1 FROM r WHERE ${where})`,
    );
    await fc.assert(
      fc.asyncProperty(inner, shape, fc.constantFrom(1, 3, 100), async (where, query, batchRows) => {
        for (const name of ["l", "r"]) {
          const table = data.catalog.table("public", name);
          if (table !== undefined) table.batchRows = batchRows;
        }
        await data.both(query(where.join(" AND ")));
      }),
      { seed: 20240103, numRuns: 120 },
    );
  });
  test("several levels deep", async () => {
    await check("SELECT a FROM l WHERE a IN (SELECT b FROM r WHERE EXISTS (SELECT 1 FROM l AS i WHERE i.k = l.k AND i.a = r.b))", [
      "1",
      "3",
    ]);
  });
});

test("DISTINCT ON keeps the first row of each group", async () => {
  await check("SELECT DISTINCT ON (k) k, a FROM l ORDER BY k, a DESC", ["p 2", "q 3", "s -", "- 4"]);
  await fails("SELECT DISTINCT ON (k) k, a FROM l ORDER BY a", /must match initial ORDER BY/);
});

test("the newest row before that of the query around is found, not the newest of all", async () => {
  const newest = (columns: string): string =>
    `SELECT l.ts, (SELECT ${columns} FROM r WHERE r.k = l.k AND r.ts < l.ts ORDER BY r.ts DESC LIMIT 1) FROM l WHERE l.k IN ('p', 'q')`;
  await check(newest("r.ts"), ["1 -", "2 1", "3 -"]);
  await check(newest("r.b"), ["1 -", "2 1", "3 -"]);
  await check("SELECT l.ts, (SELECT r.ts FROM r WHERE r.ts <= l.ts ORDER BY r.ts DESC LIMIT 1) FROM l", [
    "1 1",
    "2 2",
    "3 3",
    "4 4",
    "5 5",
  ]);
});
