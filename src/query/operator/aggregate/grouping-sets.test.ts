import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkFails, rowTexts } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let data: QueryFixture;

beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE t (k STRING PRIMARY KEY, s STRING, n INT, ts TIMESTAMP TIME INDEX)");
  await data.sql("INSERT INTO t VALUES ('p', 'x', 1, 1), ('p', 'y', 2, 2), ('q', 'x', 4, 3), ('q', NULL, 8, 4), (NULL, 'y', 16, 5)");
});

const rowsOf = (sql: string): Promise<readonly string[]> => rowTexts(data, sql);

async function check(sql: string, want: readonly string[]): Promise<void> {
  expect([...(await rowsOf(sql))].sort(), sql).toEqual([...want].sort());
}

const fails = (sql: string, why: RegExp): Promise<void> => checkFails(data, sql, why);

describe("grouping sets", () => {
  test("group once for each set, and tell their NULLs from those of rows", async () => {
    await check("SELECT k, sum(n), grouping(k) FROM t GROUP BY ROLLUP (k)", ["p 3 0", "q 12 0", "- 16 0", "- 31 1"]);
    await check("SELECT k, s, sum(n) FROM t GROUP BY GROUPING SETS ((k), (s))", ["p - 3", "q - 12", "- - 16", "- x 5", "- y 18", "- - 8"]);
    await check("SELECT grouping(k, s), count(*) FROM t GROUP BY CUBE (k, s) HAVING grouping(k, s) > 0", [
      "1 2",
      "1 2",
      "1 1",
      "2 2",
      "2 2",
      "2 1",
      "3 5",
    ]);
  });
  test("repeat a set as often as it is written", async () => {
    await check("SELECT count(*) FROM t GROUP BY GROUPING SETS ((), ())", ["5", "5"]);
    await check("SELECT k, count(*) FROM t WHERE k = 'p' GROUP BY k, ROLLUP (k)", ["p 2", "p 2"]);
  });
  test("have a total even of no rows", async () => {
    await check("SELECT k, count(*), sum(n) FROM t WHERE n > 99 GROUP BY ROLLUP (k)", ["- 0 -"]);
    await check("SELECT count(*) FROM t WHERE n > 99 GROUP BY ()", ["0"]);
    await check("SELECT k, count(*) FROM t WHERE n > 99 GROUP BY GROUPING SETS (k, s)", []);
  });
  test("take ordinals, aliases and expressions", async () => {
    await check("SELECT n % 3 AS m, count(*) FROM t GROUP BY ROLLUP (m) ORDER BY m", ["1 3", "2 2", "- 5"]);
    await check("SELECT k, max(n) FROM t GROUP BY ROLLUP (1)", ["p 2", "q 8", "- 16", "- 16"]);
  });
  test("tell constants apart by how they are written", async () => {
    await check("SELECT coalesce('a'), concat('a'), count(*) FROM t GROUP BY ROLLUP (coalesce('a'), concat('a'))", [
      "a a 5",
      "a - 5",
      "- - 5",
    ]);
    await check("SELECT 1 + 1, 2, count(*) FROM t GROUP BY ROLLUP (1 + 1)", ["2 2 5", "- 2 5"]);
    await check("SELECT 'x' AS a, count(*) FROM t GROUP BY ROLLUP (a)", ["x 5", "- 5"]);
    await check("SELECT coalesce(2, 3) * 2, grouping(coalesce(2, 3)) FROM t GROUP BY CUBE (coalesce(2, 3))", ["4 0", "- 1"]);
  });
  test("aggregate the values that rows have, not those of the set", async () => {
    await check("SELECT count(k), min(s) FROM t GROUP BY GROUPING SETS ((k), ())", ["2 x", "2 x", "0 y", "4 x"]);
  });
  test("feed windows, ORDER BY and sub-queries", async () => {
    expect(
      await rowsOf("SELECT k, sum(n) AS m, rank() OVER (PARTITION BY grouping(k) ORDER BY sum(n)) FROM t GROUP BY ROLLUP (k) ORDER BY m"),
    ).toEqual(["p 3 1", "q 12 2", "- 16 3", "- 31 1"]);
    await check("SELECT a.m FROM (SELECT k, sum(n) AS m FROM t GROUP BY ROLLUP (k)) AS a WHERE a.k = 'q'", ["12"]);
  });
  test("know the keys that grouping() may name", async () => {
    await check("SELECT grouping(k) FROM t GROUP BY k", ["0", "0", "0"]);
    await fails("SELECT grouping(s) FROM t GROUP BY k", /grouping\(\) takes expressions of GROUP BY; s is none/);
    await fails("SELECT grouping() FROM t GROUP BY k", /takes 1 to 31 expressions/);
    await fails("SELECT s FROM t GROUP BY ROLLUP (k)", /must be in GROUP BY/);
  });
});

test("are the groupings by each set, one after the other", async () => {
  const keys = ["k", "s", "n % 2"];
  const set = fc.subarray(keys, { minLength: 0 });
  await fc.assert(
    fc.asyncProperty(fc.array(set, { minLength: 1, maxLength: 4 }), async (sets) => {
      const all = `GROUPING SETS (${[...sets, keys].map((each) => `(${each.join(", ")})`).join(", ")})`;
      const got = await rowsOf(`SELECT k, s, n % 2, count(*), sum(n) FROM t GROUP BY ${all}`);
      const wanted: string[] = [];
      for (const each of [...sets, keys]) {
        const shown = keys.map((key) => (each.includes(key) ? key : "NULL")).join(", ");
        const by = each.length === 0 ? "" : ` GROUP BY ${each.join(", ")}`;
        wanted.push(...(await rowsOf(`SELECT ${shown}, count(*), sum(n) FROM t${by}`)));
      }
      expect([...got].sort(), all).toEqual(wanted.sort());
    }),
    { seed: 20241122, numRuns: 40, endOnFailure: true },
  );
});

describe("IS DISTINCT FROM", () => {
  test("takes NULL for a value", async () => {
    await check("SELECT n FROM t WHERE s IS DISTINCT FROM 'x'", ["2", "8", "16"]);
    await check("SELECT n FROM t WHERE s IS NOT DISTINCT FROM NULL", ["8"]);
    await check("SELECT 'NaN'::DOUBLE IS DISTINCT FROM 'NaN'::DOUBLE, 1 IS DISTINCT FROM 1.0", ["false false"]);
    await check("SELECT 1.5::DECIMAL(4, 1) IS NOT DISTINCT FROM 1.50::DECIMAL(5, 2)", ["true"]);
    await check("SELECT count(*) FROM t AS a JOIN t AS b ON a.s IS NOT DISTINCT FROM b.s", ["9"]);
    await fails("SELECT ts IS DISTINCT FROM true FROM t", /Cannot infer common argument type/);
  });
});

describe("SIMILAR TO", () => {
  const checkSimilar = async (text: string, pattern: string, want: boolean): Promise<void> => {
    await check(`SELECT '${text}' SIMILAR TO '${pattern}', '${text}' NOT SIMILAR TO '${pattern}'`, [`${want} ${!want}`]);
  };
  test("matches whole texts", async () => {
    await checkSimilar("abc", "abc", true);
    await checkSimilar("abc", "b", false);
    await checkSimilar("abc", "%b%", true);
    await checkSimilar("abc", "a_c", true);
    await checkSimilar("abc", "(b|c)%", false);
    await checkSimilar("abc", "(a|b)+c?", true);
    await checkSimilar("aabc", "[ab]+c?", true);
    await checkSimilar("aaa", "a{2}", false);
  });
  test("knows the characters that mean themselves", async () => {
    await checkSimilar("axc", "a.c", false);
    await checkSimilar("a.c", "a.c", true);
    await checkSimilar("10%", "10\\%", true);
    await checkSimilar("10x", "10\\%", false);
    await checkSimilar("^$", "^$", true);
    await checkSimilar("]", "[]x]", true);
    await checkSimilar("b", "[^]a]", true);
    await checkSimilar("&&", "[&&]+", true);
    await checkSimilar("ä1", "[[:alpha:]][[:digit:]]", true);
  });
  test("is NULL for NULL, and fails for what is no pattern", async () => {
    await check("SELECT NULL SIMILAR TO 'a', s SIMILAR TO NULL FROM t WHERE n = 1", ["- -"]);
    await fails("SELECT 'x' SIMILAR TO '[a'", /a \[ has no \]/);
    await fails("SELECT 'x' SIMILAR TO 'a\\'", /it ends with an escape/);
    await fails("SELECT 'x' SIMILAR TO '[[:nope:]]'", /there is no class \[:nope:\]/);
    await fails("SELECT 'x' SIMILAR TO '*a'", /cannot match SIMILAR TO '\*a': .*repetition/);
  });
});

test("durations compare with intervals", async () => {
  await check("SELECT a.n, b.n FROM t AS a JOIN t AS b ON b.ts - a.ts = INTERVAL '1 millisecond' AND a.n < 3", ["1 2", "2 4"]);
});
