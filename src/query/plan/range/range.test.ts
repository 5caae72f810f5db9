import { beforeAll, describe, expect, test } from "bun:test";
import { checkFails, rowTexts } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(`CREATE TABLE m (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v BIGINT, x DOUBLE, s STRING)`);
  await data.sql(`INSERT INTO m VALUES (0, 'a', 0, 1.5, 'p'), (5000, 'a', NULL, NULL, NULL),
    (10000, 'a', 1, 2.5, 'q'), (17000, 'a', 4, 1, 'r'),
    (40000, 'a', 2, 7, 't'), (3000, 'b', 3, 9, 'u'), (61000, 'b', 8, 1, 'w')`);
  await data.sql("CREATE TABLE plain (ts TIMESTAMP(0) TIME INDEX, v DOUBLE, other TIMESTAMP(3))");
  await data.sql("INSERT INTO plain VALUES (0, 1, 0), (3, 2, 0), (4, 3, 0)");
  await data.sql("CREATE TABLE fine (ts TIMESTAMP(9) TIME INDEX, v BIGINT)");
  await data.sql("INSERT INTO fine VALUES (-1, 1), (0, 2), (999999, 4), (1000000, 8), (1700000000123456789, 16)");
});

/** Rows of a query, loops and reference agreeing: columns apart by blanks, NULL as `-`. */
const rowsOf = (sql: string): Promise<readonly string[]> => rowTexts(data, sql);

async function check(sql: string, ...want: readonly string[]): Promise<void> {
  expect(await rowsOf(sql), sql).toEqual([...want]);
}

const fails = (sql: string, code: number, why: string): Promise<void> => checkFails(data, sql, why, code);

describe("a slot", () => {
  test("holds the rows from its start until a range later", async () => {
    await check(
      "SELECT ts, host, max(v) RANGE '10s' FROM m ALIGN '10s' ORDER BY host, ts",
      "0 a 0",
      "10000 a 4",
      "40000 a 2",
      "0 b 3",
      "60000 b 8",
    );
    // Longer ranges overlap; shorter ones leave rows out, which then make no slot.
    await check(
      "SELECT ts, count(*) RANGE '20s' FROM m WHERE host = 'a' ALIGN '10s' ORDER BY ts",
      "-10000 2",
      "0 4",
      "10000 2",
      "30000 1",
      "40000 1",
    );
    await check("SELECT ts, count(*) RANGE '4s' FROM m ALIGN '10s' BY () ORDER BY ts", "0 2", "10000 1", "40000 1", "60000 1");
  });
  test("is there when any range reaches a row", async () => {
    await check(
      "SELECT ts, sum(v) RANGE '20s', count(*) RANGE '7s' FROM m WHERE host = 'a' ALIGN '10s' ORDER BY ts",
      "-10000 0 0",
      "0 5 2",
      "10000 5 1",
      "30000 2 0",
      "40000 2 1",
    );
  });
  test("counts from the origin", async () => {
    const query = (to: string): string => `SELECT ts, count(*) RANGE '1m' FROM m ALIGN '1m' ${to} BY () ORDER BY ts`;
    await check(query(""), "0 6", "60000 1");
    await check(query("TO ''"), "0 6", "60000 1");
    await check(query("TO CALENDAR"), "0 6", "60000 1");
    await check(query("TO '1970-01-01 00:00:04'"), "-56000 2", "4000 5");
    await check(query("TO '2024-05-01T00:00:04+01:00'"), "-56000 2", "4000 5");
    await check(query("TO (now() + INTERVAL '4 seconds')"), "-56000 2", "4000 5");
    await check(query("TO NOW"), "0 6", "60000 1");
  });
  test("begins at the session's distance from UTC", async () => {
    const zoned = new QueryFixture();
    Object.assign(zoned.context.variables, { timeZone: "+08:00" });
    await zoned.sql("CREATE TABLE m (ts TIMESTAMP(3) TIME INDEX, v BIGINT)");
    await zoned.sql("INSERT INTO m VALUES (0, 1), (86400000, 2)");
    const { rows } = await zoned.both("SELECT ts, sum(v) RANGE '1d' FROM m ALIGN '1d' ORDER BY ts");
    expect(rows).toEqual([
      [28_800_000n - 86_400_000n, 1],
      [28_800_000n, 2],
    ]);
  });
  test("of days to a zone is a day of its clock, however long; a shorter one begins at its midnight", async () => {
    const zoned = new QueryFixture();
    await zoned.sql("CREATE TABLE m (ts TIMESTAMP(3) TIME INDEX, v BIGINT)");
    await zoned.sql(`INSERT INTO m VALUES ('2024-03-30T22:30:00Z', 1), ('2024-03-30T23:30:00Z', 2), ('2024-03-31T21:59:00Z', 4),
      ('2024-03-31T22:01:00Z', 8), ('2024-04-02T22:01:00Z', 16)`);
    const of = async (range: string, align: string, fill = ""): Promise<readonly string[]> => {
      const { rows } = await zoned.both(`SELECT ts::STRING, sum(v) RANGE '${range}' ${fill} FROM m ALIGN ${align} BY () ORDER BY ts`);
      return rows.map((row) => row.join(" "));
    };
    const days = ["2024-03-29T23:00:00 1", "2024-03-30T23:00:00 6", "2024-03-31T22:00:00 8"];
    expect(await of("1d", "'1d' TO 'Europe/Berlin'")).toEqual([...days, "2024-04-02T22:00:00 16"]);
    expect(await of("1d", "'1d' TO 'europe/berlin'", "FILL 0")).toEqual([...days, "2024-04-01T22:00:00 0", "2024-04-02T22:00:00 16"]);
    expect(await of("2d", "'1d' TO 'Europe/Berlin'")).toEqual([
      "2024-03-28T23:00:00 1",
      "2024-03-29T23:00:00 7",
      "2024-03-30T23:00:00 14",
      "2024-03-31T22:00:00 8",
      "2024-04-01T22:00:00 16",
      "2024-04-02T22:00:00 16",
    ]);
    expect(await of("12h", "'12h' TO '+05:30'")).toEqual(["2024-03-30T18:30:00 3", "2024-03-31T18:30:00 12", "2024-04-02T18:30:00 16"]);
  });
  test("is of the time's own unit, and between its units where it must be", async () => {
    await check("SELECT ts, max(v) RANGE '1500ms' FROM plain ALIGN '1s' ORDER BY ts", "-1 1", "0 1", "2 2", "3 3", "4 3");
    await check("SELECT count(v) RANGE '1s' FROM plain ALIGN '500ms'", "1", "1", "1", "1", "1", "1");
    await check(
      "SELECT ts, sum(v) RANGE '1ms' FROM fine ALIGN '1ms' ORDER BY ts",
      "-1000000 1",
      "0 6",
      "1000000 8",
      "1700000000123000000 16",
    );
    await check(
      "SELECT ts, sum(v) RANGE '1y' FROM fine ALIGN '52w' ORDER BY ts LIMIT 3",
      "-31449600000000000 15",
      "0 14",
      "1698278400000000000 16",
    );
  });
});

describe("series", () => {
  test("are those of the primary key, of BY, or one", async () => {
    await check("SELECT host, sum(v) RANGE '1h' FROM m ALIGN '1h' ORDER BY host", "a 7", "b 11");
    await check("SELECT sum(v) RANGE '1h' FROM m ALIGN '1h' BY ()", "18");
    await check("SELECT sum(v) RANGE '1h' FROM m ALIGN '1h' BY (1)", "18");
    await check("SELECT length(host), sum(v) RANGE '1h' FROM m ALIGN '1h' BY (length(host))", "1 18");
    await check("SELECT upper(host) || s, sum(v) RANGE '1h' FROM m WHERE v > 2 ALIGN '1h' BY (host, s) ORDER BY 1", "Ar 4", "Bu 3", "Bw 8");
    await check("SELECT v % 2, count(*) RANGE '1h' FROM m ALIGN '1h' BY (v % 2) ORDER BY 1 NULLS FIRST", "- 1", "0 4", "1 2");
    await check("SELECT sum(v) RANGE '1h' FROM plain ALIGN '1h'", "6");
  });
  test("of queries need BY, and find the time in what they read", async () => {
    await check(
      "SELECT t, max(big) RANGE '1m' " +
        "FROM (SELECT ts AS t, host, max(v) RANGE '10s' AS big FROM m ALIGN '10s') ALIGN '1m' BY (host) ORDER BY t, 2",
      "0 3",
      "0 4",
      "60000 8",
    );
    await check(
      "WITH q AS (SELECT v, ts AS t, other FROM plain) SELECT t, sum(v) RANGE '4s' FROM q ALIGN '4s' BY () ORDER BY t",
      "0 3",
      "4 3",
    );
    await check("SELECT sum(v) RANGE '1h' FROM (SELECT v, ts FROM m UNION ALL SELECT x, ts FROM m) ALIGN '1h' BY ()", "40");
    await check(
      "SELECT sum(b.v) RANGE '1h' FROM m a LEFT JOIN m b ON a.ts = b.ts AND a.v > 1 ALIGN '1h' BY (a.host) ORDER BY 1",
      "6",
      "11",
    );
    await check(
      "SELECT sum(c) RANGE '1h' FROM (SELECT date_trunc('minute', ts) AS t, count(*) AS c FROM m GROUP BY 1) ALIGN '1h' BY ()",
      "7",
    );
  });
});

describe("calls", () => {
  test("are any aggregates, with what goes with them", async () => {
    await check(
      "SELECT first_value(v) RANGE '20s', last_value(s) RANGE '20s', count(DISTINCT v) RANGE '20s', " +
        "sum(v) FILTER (WHERE v > 1) RANGE '20s' " +
        "FROM m ALIGN '20s' ORDER BY host, ts",
      "0 r 3 4",
      "2 t 1 2",
      "3 u 1 3",
      "8 w 1 8",
    );
    await check("SELECT first_value(s ORDER BY x DESC) RANGE '1h', median(v) RANGE '1h' FROM m ALIGN '1h' BY ()", "- 2");
  });
  test("stand in expressions, and one RANGE goes for all before it", async () => {
    await check("SELECT (min(v) + max(v)) RANGE '1h' + 0.5 FROM m ALIGN '1h' ORDER BY 1", "4.5", "11.5");
    await check("SELECT max(v) RANGE '1h' - min(v) RANGE '1h' AS d FROM m ALIGN '1h' ORDER BY d DESC", "5", "4");
    await check("SELECT CASE WHEN max(v) RANGE '1h' > 5 THEN 'high' ELSE host END FROM m ALIGN '1h' ORDER BY host", "a", "high");
    await check("SELECT (SELECT max(v) FROM plain) + max(v) RANGE '1h' FROM m ALIGN '1h' BY ()", "11");
    await check("SELECT host FROM (SELECT host, max(v) RANGE '1h' AS big FROM m ALIGN '1h') WHERE big > 5", "b");
  });
  test("may order, be limited, and be written to a table", async () => {
    await check("SELECT host, max(v) RANGE '10s' FROM m ALIGN '10s' ORDER BY max(v) RANGE '10s' DESC, ts LIMIT 2", "b 8", "a 4");
    await check("SELECT DISTINCT host, count(*) RANGE '10s' FROM m ALIGN '10s' ORDER BY host, 2", "a 1", "a 2", "b 1");
    await data.sql("CREATE TABLE roll (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v BIGINT)");
    const { affected } = await data.sql("INSERT INTO roll SELECT ts, host, max(v) RANGE '1m' FROM m ALIGN '1m'");
    expect(affected).toBe(3);
    await check("SELECT ts, host, v FROM roll ORDER BY host, ts", "0 a 4", "0 b 3", "60000 b 8");
  });
  test("name their columns as written", async () => {
    const { columns } = await data.both(
      "SELECT ts, 2*MIN(v) RANGE '5s' FILL PREV, max(v) RANGE (INTERVAL '1' minute) FROM m ALIGN '5s' FILL NULL",
    );
    expect(columns).toEqual(["ts", "2 * min(v) range '5s' fill prev", "max(v) range interval '1 minute'"]);
  });
});

describe("FILL", () => {
  const query = (fill: string, end = ""): string =>
    `SELECT ts, max(v) RANGE '5s' ${fill} FROM m WHERE host = 'a' ALIGN '5s' ${end} ORDER BY ts`;

  test("leaves NULL, takes the value before, a constant, or what lies on the line", async () => {
    await check(query(""), "0 0", "5000 -", "10000 1", "15000 4", "40000 2");
    await check(query("FILL NULL"), "0 0", "5000 -", "10000 1", "15000 4", "20000 -", "25000 -", "30000 -", "35000 -", "40000 2");
    await check(query("FILL PREV"), "0 0", "5000 0", "10000 1", "15000 4", "20000 4", "25000 4", "30000 4", "35000 4", "40000 2");
    await check(query("FILL 9"), "0 0", "5000 9", "10000 1", "15000 4", "20000 9", "25000 9", "30000 9", "35000 9", "40000 2");
    await check(
      query("FILL LINEAR"),
      "0 0",
      "5000 0.5",
      "10000 1",
      "15000 4",
      "20000 3.6",
      "25000 3.2",
      "30000 2.8",
      "35000 2.4",
      "40000 2",
    );
  });
  test("of the query goes for calls without their own, and slots are made for all", async () => {
    await check(
      "SELECT ts, max(v) RANGE '10s', max(s) RANGE '10s' FILL PREV, count(*) RANGE '10s' FILL NULL " +
        "FROM m WHERE host = 'a' ALIGN '10s' FILL 7 ORDER BY ts",
      "0 0 p 2",
      "10000 4 r 2",
      "20000 7 r 0",
      "30000 7 r 0",
      "40000 2 t 1",
    );
    await check(
      "SELECT count(*) RANGE '10s', min(v) RANGE '10s', min(v) RANGE '10s' FILL 7 FROM m WHERE host = 'b' ALIGN '10s' ORDER BY ts",
      "1 3 3",
      "0 - 7",
      "0 - 7",
      "0 - 7",
      "0 - 7",
      "0 - 7",
      "1 8 8",
    );
  });
  test("extends the line beyond the first and last value, and needs two of them", async () => {
    const line = (where: string): Promise<readonly string[]> =>
      rowsOf(
        `SELECT max(v) RANGE '5s' FILL LINEAR ` +
          `FROM (SELECT ts, CASE WHEN ${where} THEN v END AS v FROM m WHERE host = 'a') ALIGN '5s' BY ()`,
      );
    expect(await line("v IN (1, 4)")).toEqual(["-5", "-2", "1", "4", "7", "10", "13", "16", "19"]);
    expect(await line("v = 4")).toEqual(["-", "-", "-", "4", "-", "-", "-", "-", "-"]);
  });
  test("changes the type where a line does", async () => {
    const { types } = await data.both("SELECT max(v) RANGE '5s' FILL LINEAR, max(v) RANGE '5s' FILL PREV FROM m ALIGN '5s'");
    expect(types).toEqual(["Float64", "Int64"]);
  });
  test("makes slots while they are read", async () => {
    const { rows } = await data.sql("SELECT ts, max(v) RANGE '1s' FILL PREV FROM fine ALIGN '1s' LIMIT 20000 OFFSET 100000");
    expect([rows.length, rows[0], rows.at(-1)]).toEqual([20000, [99_999_000_000_000n, 8], [119_998_000_000_000n, 8]]);
  });
});

test("EXPLAIN shows the ranges", async () => {
  const { rows } = await data.sql("EXPLAIN SELECT ts, max(v) RANGE '10s' FILL 6, min(v) RANGE '7s' FROM m ALIGN '5s'");
  const text = String(rows);
  for (const part of [
    "FillSlotsExec: [max FILL 6, min FILL NONE]",
    "OverlapExec: slots=2 of 5000 milliseconds, ages",
    "host (once a series)",
  ])
    expect(text).toContain(part);
  const plain = String((await data.sql("EXPLAIN SELECT max(v) RANGE '5s' FROM m ALIGN '5s'")).rows);
  expect(plain).toContain("statistics_of_pages=true");
  expect(plain).not.toContain("Overlap");
});

describe("errors", () => {
  const of = (item: string, rest = "ALIGN '5s'"): string => `SELECT ${item} FROM m ${rest}`;

  test("of clauses without their partner", async () => {
    await fails(of("min(v)"), 2000, "Illegal Range select, no RANGE keyword found in any SelectItem");
    await fails(of("min(v) RANGE '5s'", ""), 2000, "ALIGN argument cannot be omitted in the range select query");
    await fails(of("ts, min(v) RANGE '5s'", ""), 2000, "ALIGN argument cannot be omitted in the range select query");
    await fails(of("row_number() OVER (), min(v) RANGE '5s'"), 2000, "Range Query: Window functions is not allowed in Range Query");
    await fails(of("min(v) * 2 RANGE '5s'"), 2000, "Can't use the RANGE keyword in Expr 2 without function");
    await fails(of("min(max(v) RANGE '5s') RANGE '5s'"), 2000, "Range Query: Nest Range Query is not allowed");
    await fails(of("host, min(v) RANGE '5s'", "GROUP BY host ALIGN '5s'"), 2000, "GROUP BY does not go with ALIGN");
    await fails(of("min(v) RANGE '5s'", "WHERE max(v) RANGE '5s' > 1 ALIGN '5s'"), 3000, "aggregates are not allowed in WHERE");
  });
  test("of lengths", async () => {
    await fails(of("min(v) RANGE 'not_time'"), 2000, "not a valid duration string: not_time");
    await fails(of("min(v) RANGE '5'"), 2000, "not a valid duration string: 5");
    await fails(of("min(v) RANGE '5s'", "ALIGN 'x1s'"), 2000, "not a valid duration string: x1s");
    await fails(of("min(v) RANGE '0s'"), 3000, "duration must be greater than 0");
    await fails(of("min(v) RANGE '5s'", "ALIGN (INTERVAL '0' day)"), 3000, "Illegal argument `interval '0 day'` in range select query");
    await fails(of("min(v) RANGE (now())"), 3000, "Illegal argument `now()` in range select query");
    await fails(of("min(v) RANGE (INTERVAL '1' month)"), 3000, "Year or month interval is not allowed in range query");
    await fails(of("min(v) RANGE '1d'", "ALIGN '1ms'"), 3000, "86400000 slots");
    await fails(of("min(v) RANGE '5s'", "ALIGN '5s' TO UNKNOWN"), 3000, "Illegal `align to` argument `unknown` in range select query");
  });
  test("of fills", async () => {
    await fails(of("min(v) RANGE '5s' FILL 3.0"), 3000, "3.0 is not a valid fill option, fail to convert to a const value");
    await fails(of("min(v) RANGE '5s'", "ALIGN '5s' FILL host"), 3000, "host is not a valid fill option");
    await fails(of("min(s) RANGE '5s' FILL LINEAR"), 3000, "Use FILL LINEAR on Non-numeric DataType String");
  });
  test("of names that are no key", async () => {
    await fails(of("min(v) RANGE '5s', max(v)"), 3001, 'No field named "max(v)"');
    await fails(of("x, min(v) RANGE '5s'"), 3001, "No field named x. Valid fields are aggregates with a RANGE, ts, host");
    await fails(of("host, min(v) RANGE '5s'", "ALIGN '5s' BY ()"), 3001, "No field named host");
    await fails(of("nothing, min(v) RANGE '5s'"), 3000, "No field named nothing");
    await fails(of("min(v) RANGE '5s'", "ALIGN '5s' BY (max(v))"), 3000, "aggregates are not allowed in BY");
  });
  test("of what has no series or no time", async () => {
    await fails("SELECT min(v) RANGE '5s' FROM (SELECT ts, v FROM m) ALIGN '5s'", 2000, "Cannot infer default BY columns");
    await fails("SELECT min(number) RANGE '5s' FROM numbers ALIGN '5s' BY ()", 3000, "needs a time index");
    await fails(
      "SELECT min(a) RANGE '5s' FROM (SELECT 1 AS a, now() AS b, now() AS c) ALIGN '5s' BY ()",
      3000,
      "needs a time index; b, c could be it",
    );
  });
});
