/** ASOF JOIN beside what it means, spelt out as a correlated query, and beside DuckDB. */
import { beforeAll, describe, expect, test } from "bun:test";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { Duckdb } from "../../../../test/sql/duckdb.ts";

const TRADES = "('a', 1, 10), ('a', 2, 20), ('a', 3, 5), ('b', 4, 10), ('c', 5, 10), (NULL, 6, 10)";
const QUOTES = "('a', 100, 8), ('a', 101, 10), ('a', 102, 15), ('b', 200, 11), ('b', 201, 9), (NULL, 300, 1)";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(`CREATE TABLE t (k STRING PRIMARY KEY, px INT, ts TIMESTAMP TIME INDEX); INSERT INTO t VALUES ${TRADES};
    CREATE TABLE q (k STRING PRIMARY KEY, bid INT, ts TIMESTAMP TIME INDEX); INSERT INTO q VALUES ${QUOTES};
    CREATE TABLE many (k STRING PRIMARY KEY, v INT, ts TIMESTAMP TIME INDEX);
    CREATE TABLE most (k STRING PRIMARY KEY, w INT, ts TIMESTAMP TIME INDEX)`);
  const rows = (count: number, step: number): string =>
    Array.from({ length: count }, (_, i) => `('k${(i * 7) % 13}', ${i}, ${(i * step) % 5003})`).join(", ");
  await data.sql(`INSERT INTO many VALUES ${rows(3000, 37)}; INSERT INTO most VALUES ${rows(4000, 53)}`);
});

const ask = async (sql: string): Promise<readonly string[]> =>
  (await data.both(sql)).rows.map((row) => row.map((cell) => cell ?? "-").join(" "));

describe("ASOF JOIN", () => {
  const join = (kind: string, condition: string): string =>
    `SELECT t.k, t.ts, q.bid FROM t ASOF ${kind} JOIN q ON ${condition} ORDER BY 1, 2`;

  test("pairs each row with the nearest of equal keys, either way, with and without equal times", async () => {
    expect(await ask(join("", "t.k = q.k AND t.ts >= q.ts"))).toEqual(["a 10 101", "a 20 102", "b 10 201"]);
    expect(await ask(join("", "t.k = q.k AND t.ts > q.ts"))).toEqual(["a 10 100", "a 20 102", "b 10 201"]);
    expect(await ask(join("INNER", "t.k = q.k AND t.ts <= q.ts"))).toEqual(["a 5 100", "a 10 101", "b 10 200"]);
    expect(await ask(join("", "q.ts > t.ts AND q.k = t.k"))).toEqual(["a 5 100", "a 10 102", "b 10 200"]);
    expect(await ask(join("", "t.ts >= q.ts"))).toEqual(["a 5 300", "a 10 101", "a 20 102", "b 10 101", "c 10 101", "- 10 101"]);
  });

  test("LEFT keeps rows without a partner; NULL equals nothing", async () => {
    const want = ["a 5 -", "a 10 101", "a 20 102", "b 10 201", "c 10 -", "- 10 -"];
    expect(await ask(join("LEFT", "t.k = q.k AND t.ts >= q.ts"))).toEqual(want);
    expect(await ask(join("LEFT OUTER", "t.k = q.k AND t.ts >= q.ts"))).toEqual(want);
  });

  test("by USING compares the last column", async () => {
    expect(await ask("SELECT k, ts, bid FROM t ASOF JOIN q USING (k, ts) ORDER BY 1, 2")).toEqual(["a 10 101", "a 20 102", "b 10 201"]);
  });

  test("filters behind it what is of the right side, before it what is of the left", async () => {
    expect(await ask(`SELECT t.ts FROM t ASOF LEFT JOIN q ON t.k = q.k AND t.ts >= q.ts WHERE q.bid IS NULL AND t.k = 'a'`)).toEqual(["5"]);
    expect(await ask("SELECT t.ts FROM t ASOF JOIN q ON t.k = q.k AND t.ts >= q.ts WHERE q.bid < 102 AND t.k = 'a'")).toEqual(["10"]);
    expect(
      await ask(
        "SELECT px + bid FROM (SELECT * FROM t WHERE px < 3) AS t ASOF JOIN (SELECT k, bid, ts FROM q) AS q USING (k, ts) ORDER BY 1",
      ),
    ).toEqual(["102", "104"]);
  });

  test("of many rows, in any order, is what a correlated query finds", async () => {
    for (const [operator, order] of [
      [">=", "DESC"],
      ["<", "ASC"],
    ] as const) {
      const got = await ask(
        `SELECT a.k, a.v, b.ts FROM many AS a ASOF LEFT JOIN most AS b ON a.k = b.k AND a.ts ${operator} b.ts ORDER BY a.k, a.v`,
      );
      const nearest = `SELECT b.ts FROM most AS b WHERE b.k = a.k AND a.ts ${operator} b.ts ORDER BY b.ts ${order} LIMIT 1`;
      const { rows } = await data.sql(`SELECT a.k, a.v, (${nearest}) FROM many AS a WHERE a.v % 30 = 0 ORDER BY a.k, a.v`);
      const want = rows.map((row) => row.map((cell) => cell ?? "-").join(" "));
      expect(got.filter((line) => Number(line.split(" ")[1]) % 30 === 0)).toEqual(want);
      expect(want.length).toBeGreaterThan(50);
    }
  });

  test("refuses other conditions", async () => {
    const failure = (condition: string): Promise<string> => data.sql(join("", condition)).then(String, String);
    expect(await failure("t.k = q.k")).toContain("ASOF JOIN needs one of >=, >, <= and <");
    expect(await failure("t.k = q.k AND t.ts >= q.ts AND t.px > 1")).toContain("ASOF JOIN takes equalities between the sides");
    expect(await failure("t.k = q.k AND t.ts >= q.ts AND t.px >= q.bid")).toContain("not several");
    expect(await failure("t.k = q.k OR t.ts >= q.ts")).toContain("ASOF JOIN takes equalities");
    expect(await data.sql("SELECT 1 FROM t ASOF JOIN q").then(String, String)).toContain("a join needs ON or USING");
  });

  test("gives what DuckDB gives", async () => {
    const duckdb = await Duckdb.open();
    if (duckdb === undefined) return;
    try {
      await duckdb.run(`CREATE TABLE t (k VARCHAR, px INTEGER, ts BIGINT); INSERT INTO t VALUES ${TRADES}`);
      await duckdb.run(`CREATE TABLE q (k VARCHAR, bid INTEGER, ts BIGINT); INSERT INTO q VALUES ${QUOTES}`);
      for (const kind of ["", "LEFT"]) {
        for (const operator of [">=", ">", "<=", "<"]) {
          const query = `SELECT t.px, q.bid FROM t ASOF ${kind} JOIN q ON t.k = q.k AND t.ts ${operator} q.ts ORDER BY t.px`;
          const answer = await duckdb.ask(query);
          const want = "rows" in answer ? answer.rows.map((row) => row.map((cell) => cell ?? "-").join(" ")) : answer;
          expect([query, await ask(query)]).toEqual([query, want as string[]]);
        }
      }
    } finally {
      duckdb.close();
    }
  });
});
