import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let data: QueryFixture;

beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE t (k STRING PRIMARY KEY, a INT, x DOUBLE, s STRING, ts TIMESTAMP TIME INDEX)");
  await data.sql(`INSERT INTO t VALUES ('p', 10, 1.5, 'b', 1000), ('p', 20, NULL, 'a', 2000), ('p', 20, 2.5, NULL, 3000),
    ('q', 5, 4.0, 'c', 1000), ('q', NULL, 3.0, 'a', 4000), (NULL, 7, 'NaN', 'z', 9000)`);
});

/** The rows of an answer of loops and reference, in order, each as text, NULL as "-". */
async function rowsOf(sql: string): Promise<readonly string[]> {
  const { rows } = await data.both(sql);
  return rows.map((row) => row.map((value) => (value === undefined ? "-" : String(value))).join(" "));
}

async function check(sql: string, want: readonly string[]): Promise<void> {
  expect(await rowsOf(sql), sql).toEqual([...want]);
}

async function checkFails(sql: string, why: RegExp): Promise<void> {
  expect(await data.sql(sql).then(() => "no error", String), sql).toMatch(why);
}

describe("ranking functions", () => {
  test("count rows, peers and groups of peers", async () => {
    await check("SELECT a, row_number() OVER w, rank() OVER w, dense_rank() OVER w FROM t WINDOW w AS (ORDER BY a)", [
      "5 1 1 1",
      "7 2 2 2",
      "10 3 3 3",
      "20 4 4 4",
      "20 5 4 4",
      "- 6 6 5",
    ]);
    await check("SELECT a, percent_rank() OVER (ORDER BY a), cume_dist() OVER (ORDER BY a) FROM t WHERE k = 'p'", [
      "10 0 0.3333333333333333",
      "20 0.5 1",
      "20 0.5 1",
    ]);
    await check("SELECT percent_rank() OVER (PARTITION BY a ORDER BY ts) FROM t WHERE k = 'q'", ["0", "0"]);
  });
  test("deal rows into buckets, larger ones first", async () => {
    await check("SELECT ntile(4) OVER (ORDER BY ts, k) FROM t", ["1", "1", "2", "2", "3", "4"]);
    await check("SELECT ntile(9) OVER (ORDER BY ts) FROM t WHERE k = 'p'", ["1", "2", "3"]);
    await checkFails("SELECT ntile(NULL) OVER (ORDER BY ts) FROM t", /NTILE requires a positive integer, but finds NULL/);
    await checkFails("SELECT ntile(0) OVER (ORDER BY ts) FROM t", /NTILE requires a positive integer, but finds 0/);
    await checkFails("SELECT ntile(a) OVER (ORDER BY ts) FROM t", /no constant/);
  });
});

describe("values of other rows", () => {
  test("lag and lead reach over rows, with a default beyond the partition", async () => {
    await check(
      "SELECT ts::BIGINT, lag(a) OVER w, lead(a, 2, 0) OVER w, lag(s, -1) OVER w FROM t WHERE k = 'p' WINDOW w AS (ORDER BY ts)",
      ["1000 - 20 a", "2000 10 0 -", "3000 20 0 -"],
    );
    await check("SELECT lag(a, 0) OVER (ORDER BY ts) FROM t WHERE k = 'q'", ["5", "-"]);
    const { types } = await data.both(
      "SELECT lag(a, 1, 0) OVER (ORDER BY ts), lag(a, 1, 0.5) OVER (ORDER BY ts), lag(x, 1, 0) OVER (ORDER BY ts) FROM t",
    );
    expect(types).toEqual(["Int32", "Float64", "Float64"]);
    await checkFails("SELECT lag(a, ts::BIGINT) OVER (ORDER BY ts) FROM t", /distance of lag\(\) must be a constant whole number/);
  });
  test("a default may be an expression over the row", async () => {
    await check("SELECT lag(s, 1, 5) OVER w, (lag(ts, 9, '1970-01-02') OVER w)::BIGINT FROM t WHERE k = 'q' WINDOW w AS (ORDER BY ts)", [
      "5 86400000",
      "c 86400000",
    ]);
    await check("SELECT lag(s, 1, k) OVER (PARTITION BY k ORDER BY ts) FROM t WHERE k IS NOT NULL", ["p", "b", "a", "q", "c"]);
  });
  test("first, last and n-th value of the frame", async () => {
    await check(
      "SELECT first_value(a) OVER w, last_value(a) OVER w, nth_value(a, 2) OVER w, nth_value(a, -2) OVER w FROM t " +
        "WINDOW w AS (PARTITION BY k ORDER BY ts)",
      ["10 10 - -", "10 20 20 10", "10 20 20 20", "5 5 - -", "5 - - 5", "7 7 - -"],
    );
    await checkFails("SELECT nth_value(a, 0) OVER () FROM t", /counts from 1/);
  });
  test("IGNORE NULLS looks past NULLs", async () => {
    await check(
      "SELECT lag(x) IGNORE NULLS OVER w, first_value(s) IGNORE NULLS OVER (w ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), " +
        "last_value(x) RESPECT NULLS OVER w FROM t WHERE k = 'p' WINDOW w AS (ORDER BY ts)",
      ["- a 1.5", "1.5 - -", "1.5 - 2.5"],
    );
    await checkFails("SELECT rank() IGNORE NULLS OVER (ORDER BY a) FROM t", /IGNORE NULLS does not go with rank/);
    await checkFails("SELECT sum(a) IGNORE NULLS OVER (ORDER BY a) FROM t", /IGNORE NULLS does not go with the aggregate sum/);
    await checkFails("SELECT abs(a) IGNORE NULLS FROM t", /is no aggregate/);
  });
  test("IGNORE NULLS may stand behind the last argument", async () => {
    await check("SELECT first_value(s IGNORE NULLS ORDER BY ts DESC), first_value(s RESPECT NULLS ORDER BY ts DESC) FROM t WHERE k = 'p'", [
      "a -",
    ]);
    await checkFails("SELECT abs(a IGNORE NULLS) FROM t", /is no aggregate/);
    await checkFails("SELECT first_value(IGNORE NULLS) FROM t", /expected/);
  });
  test("first_value as a plain aggregate may ignore NULLs too", async () => {
    await check("SELECT first_value(s ORDER BY ts DESC) IGNORE NULLS, first_value(s ORDER BY ts DESC) FROM t WHERE k = 'p'", ["a -"]);
  });
});

describe("frames", () => {
  const sums = (frame: string): string => `SELECT sum(a) OVER (${frame}) FROM t WHERE a IS NOT NULL ORDER BY a, ts`;
  test("default to the partition, and with an order to the peers of the row", async () => {
    await check(sums(""), ["62", "62", "62", "62", "62"]);
    await check(sums("ORDER BY a"), ["5", "12", "22", "62", "62"]);
  });
  test("by rows, groups and values", async () => {
    await check(sums("ORDER BY a, ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"), ["12", "22", "37", "50", "40"]);
    await check(sums("ORDER BY a GROUPS 1 PRECEDING"), ["5", "12", "17", "50", "50"]);
    await check(sums("ORDER BY a RANGE BETWEEN 3 PRECEDING AND 2 FOLLOWING"), ["12", "12", "17", "40", "40"]);
    await check(sums("ORDER BY a DESC RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING"), ["5", "12", "17", "40", "40"]);
    await check(sums("ORDER BY a, ts ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING"), ["-", "-", "5", "12", "22"]);
    await check(sums("ORDER BY a, ts ROWS BETWEEN 2 PRECEDING AND 3 PRECEDING"), ["-", "-", "-", "-", "-"]);
  });
  test("by time, with intervals or their text", async () => {
    const counts = (range: string): string => `SELECT count(*) OVER (ORDER BY ts ${range}) FROM t ORDER BY ts`;
    await check(counts("RANGE INTERVAL '1 second' PRECEDING"), ["2", "2", "3", "2", "2", "1"]);
    await check(counts("RANGE BETWEEN '2s' PRECEDING AND '1 day' FOLLOWING"), ["6", "6", "6", "6", "4", "1"]);
  });
  test("NULL keys see their peers", async () => {
    await check("SELECT a, count(*) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM t", [
      "5 2",
      "7 1",
      "10 1",
      "20 2",
      "20 2",
      "- 1",
    ]);
    await check("SELECT a, count(*) OVER (ORDER BY a NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING) FROM t", [
      "- 1",
      "5 3",
      "7 3",
      "10 4",
      "20 6",
      "20 6",
    ]);
  });
  test("below the least unsigned number there is nothing", async () => {
    await check("SELECT sum(number) OVER (ORDER BY number RANGE BETWEEN 5 PRECEDING AND 1 FOLLOWING) FROM numbers WHERE number < 4", [
      "1",
      "3",
      "6",
      "6",
    ]);
    await check("SELECT count(*) OVER (ORDER BY n::BIGINT UNSIGNED RANGE 2 PRECEDING) FROM (VALUES (0), (1), (3)) AS v (n)", [
      "1",
      "2",
      "2",
    ]);
    await check("SELECT count(*) OVER (ORDER BY n::DECIMAL(4, 2) RANGE 0.5 PRECEDING) FROM (VALUES (1.25), (1.75), (2.30)) AS v (n)", [
      "1",
      "2",
      "1",
    ]);
  });
  test("that make no sense are refused", async () => {
    await checkFails(sums("ORDER BY a ROWS BETWEEN CURRENT ROW AND 1 PRECEDING"), /must not end before it begins/);
    await checkFails(sums("ORDER BY a ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW"), /cannot begin at UNBOUNDED FOLLOWING/);
    await checkFails(sums("ORDER BY a ROWS BETWEEN CURRENT ROW AND UNBOUNDED PRECEDING"), /cannot end at UNBOUNDED PRECEDING/);
    await checkFails(sums("GROUPS 1 PRECEDING"), /GROUPS needs an ORDER BY/);
    await checkFails(sums("RANGE 1 PRECEDING"), /exactly one expression/);
    await checkFails(sums("ORDER BY s RANGE 1 PRECEDING"), /numbers or times, not of String/);
    await checkFails(sums("ORDER BY a ROWS -1 PRECEDING"), /must not be negative/);
    await checkFails(sums("ORDER BY ts RANGE INTERVAL '-1 second' PRECEDING"), /must not be negative/);
    await checkFails(sums("ORDER BY ts RANGE 1000 PRECEDING"), /RANGE over times needs an interval/);
    await checkFails(sums("ORDER BY a ROWS 1.5 PRECEDING"), /must be a whole number/);
    await checkFails(sums("ORDER BY a ROWS NULL PRECEDING"), /not NULL/);
  });
});

describe("aggregates", () => {
  test("of any kind, with FILTER, DISTINCT and an order", async () => {
    await check("SELECT sum(a) FILTER (WHERE x > 2) OVER (PARTITION BY k), count(DISTINCT a) OVER (PARTITION BY k) FROM t", [
      "20 2",
      "20 2",
      "20 2",
      "5 1",
      "5 1",
      "7 1",
    ]);
    await check("SELECT string_agg(s, '' ORDER BY s) OVER (ORDER BY ts ROWS 1 PRECEDING) FROM t WHERE k = 'p'", ["b", "ab", "a"]);
    await check(
      "SELECT median(a) OVER (ORDER BY ts ROWS 2 PRECEDING), min(s) OVER (ORDER BY ts), (max(ts) OVER (ORDER BY ts))::BIGINT " +
        "FROM t WHERE k = 'p'",
      ["10 b 1000", "15 a 2000", "20 a 3000"],
    );
  });
  test("NaN is the greatest", async () => {
    await check("SELECT min(x) OVER (ORDER BY x DESC), max(x) OVER (ORDER BY x) FROM t WHERE x > 2", ["NaN NaN", "4 4", "3 3", "2.5 2.5"]);
  });
  test("sums beyond 2^53 stay exact", async () => {
    const values = "(VALUES (1, 9007199254740993), (2, 9007199254740993), (3, -9007199254740993)) AS v (i, n)";
    await check(`SELECT sum(n) OVER (ORDER BY i ROWS 1 PRECEDING) FROM ${values}`, ["9007199254740993", "18014398509481986", "0"]);
    await check("SELECT sum(n) OVER (ORDER BY n) FROM (VALUES (4503599627370497), (4503599627370499)) AS v (n)", [
      "4503599627370497",
      "9007199254740996",
    ]);
  });
  test("of aggregates", async () => {
    await check("SELECT k, sum(sum(a)) OVER (ORDER BY k), rank() OVER (ORDER BY count(*) DESC) FROM t GROUP BY k ORDER BY k", [
      "p 50 1",
      "q 55 2",
      "- 62 3",
    ]);
    await check("SELECT k FROM t GROUP BY k QUALIFY row_number() OVER (ORDER BY max(ts) DESC) = 1", ["-"]);
  });
});

describe("anomaly scores", () => {
  const score = (call: string, values: string): string =>
    `SELECT round(${call} OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 99 FOLLOWING), 2) FROM (VALUES ${values}) AS v (i, n)`;
  test("measure the distance from the others", async () => {
    await check(score("anomaly_score_zscore(n)", "(1, 1), (2, 2), (3, 9)"), ["0.84", "0.56", "1.4"]);
    await check(score("anomaly_score_mad(n)", "(1, 1), (2, 2), (3, 9)"), ["0.67", "0", "4.72"]);
    await check(score("anomaly_score_iqr(n, 0.5)", "(1, 1), (2, 2), (3, 3), (4, 10)"), ["0", "0", "0", "1.25"]);
  });
  test("are infinite off the centre of what does not vary, and NULL for too few", async () => {
    await check(score("anomaly_score_mad(n)", "(1, 1), (2, 1), (3, 1), (4, 2)"), ["0", "0", "0", "Infinity"]);
    await check(score("anomaly_score_zscore(n)", "(1, 1), (2, NULL)"), ["-", "-"]);
    await checkFails("SELECT anomaly_score_mad(s) OVER () FROM t", /takes numbers, not String/);
    await checkFails("SELECT anomaly_score_iqr(x) OVER () FROM t", /use anomaly_score_iqr\(value, k\)/);
    await checkFails("SELECT anomaly_score_mad(x) FROM t", /is a window function: it needs OVER/);
  });
});

describe("windows", () => {
  test("have names, and build on each other", async () => {
    await check(
      "SELECT sum(a) OVER w, sum(a) OVER (v ROWS 1 PRECEDING) FROM t WHERE k = 'p' WINDOW w AS (PARTITION BY k), v AS (w ORDER BY ts)",
      ["50 10", "50 30", "50 40"],
    );
    await checkFails("SELECT sum(a) OVER v FROM t WINDOW w AS ()", /window "v" does not exist/);
    await checkFails("SELECT sum(a) OVER w FROM t WINDOW w AS (), w AS ()", /defined twice/);
    await checkFails("SELECT sum(a) OVER (w PARTITION BY k) FROM t WINDOW w AS ()", /cannot add PARTITION BY/);
    await checkFails("SELECT sum(a) OVER (w ORDER BY k) FROM t WINDOW w AS (ORDER BY a)", /cannot replace the ORDER BY/);
    await checkFails("SELECT sum(a) OVER (w ORDER BY k) FROM t WINDOW w AS (ROWS 1 PRECEDING)", /it has a frame/);
  });
  test("give rows in the order of the last one", async () => {
    await check("SELECT k, a, row_number() OVER (PARTITION BY k ORDER BY a DESC) FROM t", [
      "p 20 1",
      "p 20 2",
      "p 10 3",
      "q - 1",
      "q 5 2",
      "- 7 1",
    ]);
    await check("SELECT a, rank() OVER (ORDER BY a), count(*) OVER () FROM t WHERE k = 'p'", ["10 1 3", "20 2 3", "20 2 3"]);
  });
  test("keep what QUALIFY says", async () => {
    await check("SELECT k, a FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY ts DESC) = 1 ORDER BY k", ["p 20", "q -", "- 7"]);
    await check("SELECT k, rank() OVER (ORDER BY ts, k) AS r FROM t QUALIFY r <= 2 LIMIT 1", ["p 1"]);
    await checkFails("SELECT a FROM t QUALIFY a > 1", /QUALIFY needs a window call/);
  });
  test("stand in the select list and ORDER BY, and nowhere else", async () => {
    await check("SELECT a FROM t ORDER BY row_number() OVER (ORDER BY ts DESC) LIMIT 2", ["7", "-"]);
    await check("SELECT DISTINCT count(*) OVER (PARTITION BY k) AS n FROM t ORDER BY n DESC", ["3", "2", "1"]);
    for (const sql of [
      "SELECT a FROM t WHERE rank() OVER (ORDER BY a) = 1",
      "SELECT count(*) FROM t GROUP BY rank() OVER (ORDER BY a)",
      "SELECT count(*) FROM t HAVING rank() OVER (ORDER BY a) = 1",
      "SELECT sum(rank() OVER (ORDER BY a)) FROM t",
      "SELECT sum(rank() OVER (ORDER BY a)) OVER () FROM t",
    ])
      await checkFails(sql, /rank\(\) OVER is not allowed here/);
    await checkFails("SELECT rank() FROM t", /rank\(\) is a window function: it needs OVER/);
    await checkFails("SELECT abs(a) OVER () FROM t", /abs\(\) is no aggregate and no window function/);
    await checkFails("SELECT rnk() OVER () FROM t", /Did you mean 'rank'/);
    await checkFails("SELECT rank(DISTINCT a) OVER () FROM t", /rank\(\) OVER takes no \*, DISTINCT/);
  });
  test("run in sub-queries, and over them", async () => {
    await check(
      "SELECT k, (SELECT max(r) FROM (SELECT rank() OVER (ORDER BY i.a) AS r FROM t AS i WHERE i.k = o.k) AS q) " +
        "FROM t AS o WHERE ts = '1970-01-01 00:00:01'",
      ["p 2", "q 2"],
    );
    await check("SELECT rank() OVER (ORDER BY (SELECT count(*) FROM t AS i WHERE i.k = o.k), k) FROM t AS o WHERE a < 20", ["1", "2", "3"]);
  });
  test("of nothing are nothing", async () => {
    await check("SELECT rank() OVER (ORDER BY a) FROM t WHERE a > 100", []);
  });
});

test("the memory of a window is bounded", async () => {
  const sql = "SELECT rank() OVER (ORDER BY number) FROM numbers";
  expect(await data.sql(sql, { memoryBytesMax: 1000 }).then(() => "no error", String)).toMatch(/it needs more than the 1 KiB of memory/);
});

/** Rows with many equal keys, NULLs, NaN and text. */
const cell = (values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values, "NULL");
const row = fc.tuple(
  cell(["'a'", "'b'"]),
  cell(["-3", "0", "1", "1", "2", "7"]),
  cell(["-1.5", "0", "0.5", "0.5", "3", "'NaN'::DOUBLE"]),
  cell(["'x'", "'y'", "'zz'"]),
  cell(["'1970-01-01'", "'1970-01-02'", "'1970-01-02 12:00:00'", "'1970-03-01'"]),
);
const distance = fc.constantFrom("0", "1", "2", "3");
const span = fc.constantFrom("INTERVAL '0 days'", "INTERVAL '12 hours'", "INTERVAL '1 day'", "INTERVAL '1 month'");
const direction = fc.constantFrom("", " DESC", " NULLS FIRST", " DESC NULLS LAST");

function frames(unit: string, offset: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const places = fc.constantFrom(
    ["UNBOUNDED PRECEDING", "CURRENT ROW"],
    ["p", "CURRENT ROW"],
    ["p", "f"],
    ["p", "p"],
    ["f", "f"],
    ["CURRENT ROW", "f"],
    ["f", "UNBOUNDED FOLLOWING"],
    ["UNBOUNDED PRECEDING", "p"],
    ["CURRENT ROW", "CURRENT ROW"],
  );
  return fc.tuple(places, offset, offset).map(([[start = "", end = ""], a, b]) => {
    const text = (place: string, by: string): string => (place === "p" ? `${by} PRECEDING` : place === "f" ? `${by} FOLLOWING` : place);
    return `${unit} BETWEEN ${text(start, a)} AND ${text(end, b)}`;
  });
}

const order = fc.oneof(
  fc.tuple(fc.constantFrom("n", "x", "n, x", "s", "d", "n * 2, s"), direction, frames("ROWS", distance)),
  fc.tuple(fc.constantFrom("n", "x", "n, x", "s", "d"), direction, frames("GROUPS", distance)),
  fc.tuple(fc.constantFrom("n", "x", "n::TINYINT", "n::DECIMAL(6, 2)"), direction, frames("RANGE", distance)),
  fc.tuple(fc.constantFrom("x"), direction, frames("RANGE", fc.constantFrom("0.5", "1.5"))),
  fc.tuple(fc.constantFrom("d", "d::DATE"), direction, frames("RANGE", span)),
  fc.tuple(fc.constantFrom("n", "s"), direction, fc.constant("")),
);
const window = fc
  .tuple(fc.constantFrom("", "PARTITION BY k ", "PARTITION BY k, s "), fc.option(order, { nil: undefined }))
  .map(([partition, by]) => (by === undefined ? partition : `${partition}ORDER BY ${by[0]}${by[1]} ${by[2]}`));
const call = fc.constantFrom(
  "count(*)",
  "count(x)",
  "sum(n)",
  "sum(x)",
  "avg(n)",
  "avg(x)",
  "min(x)",
  "max(x)",
  "min(n)",
  "max(d)",
  "min(s)",
  "sum(n) FILTER (WHERE x > 0)",
  "sum(n::DECIMAL(8, 1))",
  "avg(n * 4503599627370497)",
  "count(DISTINCT n)",
  "string_agg(s, ',' ORDER BY s, i)",
  "stddev_pop(n)",
  "median(n)",
  "bool_or(x > 1)",
  "row_number()",
  "rank()",
  "dense_rank()",
  "percent_rank()",
  "cume_dist()",
  "ntile(3)",
  "lag(x)",
  "lag(s, 2, 'none')",
  "lead(n, 1, i)",
  "lag(s) IGNORE NULLS",
  "lead(n, 2) IGNORE NULLS",
  "first_value(s)",
  "last_value(x)",
  "nth_value(n, 2)",
  "nth_value(d, -2)",
  "first_value(n) IGNORE NULLS",
  "nth_value(s, -1) IGNORE NULLS",
  "anomaly_score_zscore(n)",
  "anomaly_score_mad(x)",
  "anomaly_score_iqr(n, 0.5)",
);

/** Scores near 0 are all rounding. */
function called(f: string, over: string): string {
  return f.startsWith("anomaly") ? `round(${f} OVER (${over}), 6)` : `${f} OVER (${over})`;
}

test("loops and reference agree on random rows, windows and calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 14 }),
      fc.array(fc.tuple(call, window), { minLength: 1, maxLength: 3 }),
      async (rows, calls) => {
        const values = rows.map((cells, i) => `(${i}, ${cells.join(", ")})`).join(", ");
        const source =
          "SELECT i, k::STRING AS k, n::INT AS n, x::DOUBLE AS x, s::STRING AS s, d::TIMESTAMP AS d " +
          `FROM (VALUES ${values}) AS v (i, k, n, x, s, d)`;
        await data.both(`SELECT i, ${calls.map(([f, over]) => called(f, over)).join(", ")} FROM (${source}) AS t`);
      },
    ),
    { seed: 20241121, numRuns: 100 },
  );
});
