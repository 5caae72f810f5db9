import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ExecOptions } from "../execute.ts";
import { rowsHere } from "../../../test/support/cluster/rows-here.ts";
import { localWorkers } from "../../../test/support/local-workers.ts";
import { openMemorySnapshot } from "../../../test/support/memory-catalog.ts";
import { QueryFixture } from "../../../test/support/query-fixture.ts";

/** Three hosts in two zones (one without a zone), a row a minute over seven hours, values of many shapes. */
async function fixture(): Promise<QueryFixture> {
  const made = new QueryFixture();
  await made.sql(`CREATE TABLE m (host STRING, zone STRING, id INT, a BIGINT, b SMALLINT, x DOUBLE, y FLOAT, ok BOOLEAN, d DATE, s STRING,
    t2 TIMESTAMP(9), u BIGINT UNSIGNED, ts TIMESTAMP(3) TIME INDEX, PRIMARY KEY (host, zone, id))`);
  const rows: string[] = [];
  for (let i = 0; i < 420; i++) {
    const ok = i % 5 === 0 ? "NULL" : String(i % 2 === 0);
    const host = ["'h1'", "'h2'", "'h3'"][i % 3];
    const zone = i % 3 === 2 ? "NULL" : `'z${i % 2}'`;
    const a = i % 7 === 0 ? "NULL" : String(((i * 37) % 500) - 100);
    const x = i % 11 === 0 ? "NULL" : i % 50 === 1 ? "'NaN'" : String(((i * 17) % 113) / 7 - 5);
    const stamp = 1_700_000_000_000 + i * 60_000;
    rows.push(`(${host}, ${zone}, ${i % 4}, ${a}, ${i % 300}, ${x}, ${i / 3}, ${ok}, '2024-0${(i % 9) + 1}-15', 't${i % 13}',
      ${i % 6 === 0 ? "NULL" : `${stamp}000123`}, ${i * 1000}, ${stamp})`);
  }
  await made.sql(`INSERT INTO m VALUES ${rows.join(", ")}`);
  await made.sql("CREATE TABLE wide (host STRING PRIMARY KEY, v BIGINT, n BIGINT UNSIGNED, ts TIMESTAMP(9) TIME INDEX)");
  await made.sql(`INSERT INTO wide VALUES ('a', 9007199254740993, 18446744073709551615, 1),
    ('a', 5, 3, 2), ('b', -9223372036854775808, 7, 3),
    ('b', NULL, NULL, 4), ('a', 9007199254740991, 1, 5), ('a', 9007199254740991, 1, 6),
    ('c', 1, 2, '2024-01-01'), ('c', 2, 2, '2025-06-01')`);
  return made;
}

/** The text of the error that a statement ends in. */
async function failureOf(fixture: QueryFixture, sql: string, options: ExecOptions = {}): Promise<string> {
  return fixture.sql(sql, options).then(() => "no error", String);
}

let data: QueryFixture;
beforeAll(async () => {
  data = await fixture();
});

describe("generated loops and the interpreter agree", () => {
  const queries = [
    "SELECT * FROM m",
    "SELECT * FROM m WHERE a > 90.0",
    "SELECT a + b, a - b, a * 2, b / 7, b % 7, x * y, x / 0, -a, -x FROM m",
    "SELECT a, x FROM m WHERE x > 2 OR a IS NULL",
    "SELECT x FROM m WHERE NOT (x <= 2)",
    "SELECT x FROM m WHERE x = 'NaN' OR x >= 10",
    "SELECT count(*) FROM m WHERE ok",
    "SELECT count(*), count(ok), count(zone) FROM m WHERE ok IS NOT TRUE",
    "SELECT ok, NOT ok, ok AND a > 0, ok OR a > 0 FROM m",
    "SELECT host, zone, max(a), min(a), sum(a), avg(a), count(a) FROM m GROUP BY host, zone",
    "SELECT date_trunc('hour', ts), host, avg(x), sum(x), max(x), min(x), max(y), min(b) FROM m GROUP BY 1, 2",
    "SELECT date_bin(INTERVAL '45 minutes', ts), sum(b) FROM m GROUP BY 1 HAVING sum(b) > 3000",
    "SELECT date_trunc('month', ts), count(*) FROM m GROUP BY 1",
    "SELECT date_trunc('week', t2), count(*) FROM m GROUP BY 1",
    "SELECT id, count(*), sum(a) FROM m GROUP BY id",
    "SELECT upper(host) || '-' || coalesce(zone, '?'), max(ts), min(ts) FROM m GROUP BY 1",
    "SELECT d, ok, count(*) FROM m GROUP BY d, ok",
    "SELECT s, x > 3, count(DISTINCT a), sum(DISTINCT b) FROM m GROUP BY s, x > 3",
    "SELECT host, last_value(a ORDER BY ts), first_value(x ORDER BY ts) FROM m GROUP BY host",
    "SELECT host, last_value(s ORDER BY ts DESC), first_value(zone ORDER BY ts DESC) FROM m GROUP BY host",
    "SELECT last_value(a ORDER BY ts), last_value(t2 ORDER BY ts), max(ts), last_value(ok ORDER BY ts) FROM m",
    "SELECT host, last_value(host ORDER BY ts), last_value(d ORDER BY ts), last_value(u ORDER BY ts) FROM m GROUP BY host",
    "SELECT host, sum(a) FILTER (WHERE ok), count(*) FILTER (WHERE x > 1) FROM m GROUP BY host",
    "SELECT date_trunc('hour', ts), host, min(a) FILTER (WHERE a > 300), avg(x) FILTER (WHERE id = 9) FROM m GROUP BY 1, 2",
    "SELECT s, max(d) FILTER (WHERE NOT ok), sum(x) FILTER (WHERE b < 100), count(zone) FILTER (WHERE true) FROM m GROUP BY s",
    "SELECT sum(100 / a) FILTER (WHERE a <> 0), max(t2) FILTER (WHERE ok), count(DISTINCT id) FILTER (WHERE ok) FROM m",
    "SELECT host, median(b), stddev(b), var_pop(x) FROM m WHERE NOT x = 'NaN' GROUP BY host",
    "SELECT DISTINCT host, ok FROM m",
    "SELECT CASE WHEN a > 100 THEN 1 WHEN a < 0 THEN -1 ELSE 0 END, CASE host WHEN 'h1' THEN a END FROM m",
    "SELECT CASE WHEN a > 100 THEN a ELSE host END, CASE WHEN ok THEN x END, coalesce(id, zone), greatest(b, a) FROM m",
    "SELECT a FROM m UNION ALL SELECT host FROM m UNION ALL SELECT ok FROM m",
    "SELECT a FROM m WHERE a IN (20, 57, 94, 131, 168, 205, NULL) OR b NOT IN (1, 2)",
    "SELECT a FROM m WHERE host IN ('h1', 'h9') AND zone IS NOT NULL AND id BETWEEN 1 AND 2",
    "SELECT a FROM m WHERE host LIKE 'h%' AND s LIKE '%1_'",
    "SELECT count(*) FROM m WHERE length(host) + id > 3",
    "SELECT CAST(x AS BIGINT), CAST(a AS DOUBLE), CAST(b AS TINYINT) FROM m WHERE b < 100 AND NOT x = 'NaN'",
    "SELECT abs(a), sqrt(abs(x)), floor(x), round(x, 1), power(b, 2) FROM m",
    "SELECT ts FROM m WHERE ts >= '2023-11-15' AND ts < '2023-11-15 01:00:00' AND t2 > '2023-11-15 00:10:00'",
    "SELECT ts - INTERVAL '1 day', ts - t2, date_trunc('day', t2), CAST(ts AS DATE) FROM m",
    "SELECT sum(v), max(v), min(v), avg(v), max(n), host FROM wide GROUP BY host",
    "SELECT v, n, v / 2, n > v, ts FROM wide ORDER BY ts DESC",
    "SELECT date_trunc('year', ts), count(*) FROM wide GROUP BY 1",
    "SELECT host, max(v + 0) FROM wide WHERE v < 9223372036854775000 AND v > -9000 GROUP BY host",
    "SELECT max(a) - min(a) + count(*) FROM m HAVING count(*) > 1",
    "SELECT count(*) FROM m WHERE false",
    "SELECT max(a) FROM m WHERE ts < 0",
    "SELECT host, max(a) FROM m WHERE ts < 0 GROUP BY host",
    "SELECT ts, a FROM m ORDER BY ts DESC LIMIT 7",
    "SELECT max(a), date_trunc('minute', ts) FROM m GROUP BY 2 ORDER BY 2 DESC LIMIT 5",
    "SELECT max(a), date_trunc('minute', ts) AS t FROM m WHERE ts < '2023-11-15 02:00:00' GROUP BY t ORDER BY t DESC LIMIT 3 OFFSET 2",
    "SELECT host, a FROM m ORDER BY a DESC NULLS LAST, host, ts LIMIT 20 OFFSET 3",
  ];
  for (const sql of queries) {
    test(sql, async () => {
      await data.both(sql);
    });
  }

  test("on random conditions, groupings and batch sizes", async () => {
    const column = fc.constantFrom("a", "b", "x", "y", "u", "id");
    const number = fc.constantFrom("0", "1", "3", "100", "-50", "2.5", "9007199254740992", "NULL");
    const term = fc.tuple(column, fc.constantFrom("+", "-", "*"), number).map(([c, o, n]) => `${c} ${o} ${n}`);
    const atom = fc.oneof(
      fc.tuple(fc.oneof(column, term), fc.constantFrom("=", "<>", "<", "<=", ">", ">="), fc.oneof(number, column)).map((p) => p.join(" ")),
      fc.constantFrom("ok", "zone IS NULL", "host = 'h1'", "host <> 'h2'", "s > 't3'", "x IS NOT NULL", "id IN (1, 3)", "NOT ok"),
      fc.constantFrom("ts > '2023-11-15 01:00:00'", "d < '2024-05-01'", "host < s", "length(s) = 2", "t2 IS NULL"),
    );
    const condition = fc
      .array(fc.tuple(atom, fc.constantFrom("AND", "OR", "AND NOT", "OR NOT")), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.map(([text, join], i) => (i === 0 ? text : `${join} (${text})`)).join(" "));
    const keys = fc.subarray(["host", "zone", "id", "ok", "date_trunc('hour', ts)", "b % 3"], { minLength: 0, maxLength: 3 });
    const calls = fc.subarray(
      ["count(*)", "sum(a)", "max(x)", "min(y)", "avg(b)", "count(ok)", "max(ts)", "last_value(a ORDER BY ts)", "min(s)"],
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(condition, keys, calls, fc.constantFrom(1, 7, 64, 1000), async (where, by, list, batchRows) => {
        const table = data.catalog.table("public", "m");
        if (table !== undefined) table.batchRows = batchRows;
        await data.both(
          `SELECT ${[...by, ...list].join(", ")} FROM m WHERE ${where}${by.length === 0 ? "" : ` GROUP BY ${by.join(", ")}`}`,
        );
        await data.both(`SELECT a + b, x, host, ${where} FROM m WHERE ${where}`);
      }),
      { seed: 20240101, numRuns: 40 },
    );
  });
});

describe("ORDER BY", () => {
  const columns = ["host", "zone", "id", "a", "b", "x", "y", "ok", "d", "s", "t2", "u", "ts", "1 / x", "a / 100.0", "-x"];
  rowsHere("which of equals comes first").test("sorts by values of every kind as the interpreter does", async () => {
    const item = fc
      .tuple(fc.constantFrom(...columns), fc.constantFrom("", " ASC", " DESC"), fc.constantFrom("", " NULLS FIRST", " NULLS LAST"))
      .map((parts) => parts.join(""));
    const limit = fc.constantFrom("", " LIMIT 10", " LIMIT 400 OFFSET 5", " LIMIT 7 OFFSET 300", " OFFSET 290", " LIMIT 3 OFFSET 100000");
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 3 }), limit, async (items, end) => {
        const sql = `SELECT ${columns.join(", ")} FROM m ORDER BY ${items.join(", ")}${end}`;
        const got = await data.sql(sql);
        const wanted = await data.sql(sql, { forceInterpreter: true });
        expect(got.rows.map(String), sql).toEqual(wanted.rows.map(String));
      }),
      { seed: 20240104, numRuns: 40 },
    );
  });
});

describe("a loop that doubles cannot serve leaves the batch to the interpreter", () => {
  async function fails(sql: string, message: RegExp): Promise<void> {
    expect(await failureOf(data, sql)).toMatch(message);
    expect(await failureOf(data, sql, { forceInterpreter: true })).toMatch(message);
  }

  test("integer overflow is an error", () => fails("SELECT v * 3 FROM wide", /Arithmetic overflow/));
  test("division by zero is an error", () => fails("SELECT a / (b - b) FROM m", /Divide by zero/));
  test("a cast out of range is an error", () => fails("SELECT CAST(b AS TINYINT) FROM m", /Can't cast value 1\d\d to type Int8/));
  test("a guarded division is not", async () => {
    const { rows } = await data.both("SELECT CASE WHEN id <> 0 THEN 12 / id END FROM m WHERE id < 2");
    expect(new Set(rows.map(([value]) => value))).toEqual(new Set([undefined, 12]));
  });
});

test("sums of integers stay exact where doubles round", async () => {
  const { rows } = await data.both("SELECT sum(v) FROM wide WHERE host = 'a'");
  expect(rows).toEqual([[9007199254740993n + 5n + 9007199254740991n * 2n]]);
});

describe("sums of integers beyond 64 bits", () => {
  const [max, min] = [2n ** 63n - 1n, -(2n ** 63n)];
  beforeAll(async () => {
    await data.sql("CREATE TABLE huge (h STRING PRIMARY KEY, v BIGINT, u BIGINT UNSIGNED, ts TIMESTAMP TIME INDEX)");
    await data.sql(
      `INSERT INTO huge VALUES ('a', ${max}, 18446744073709551615, 1), ('a', ${max}, 3, 2), ('b', ${min}, 0, 3), ('b', ${min}, 0, 4)`,
    );
  });
  rowsHere("threads of its process").test("are an error of the whole, in groups, windows and parts", async () => {
    for (const query of [
      "SELECT sum(v) FROM huge WHERE h = 'a'",
      "SELECT sum(u) FROM huge",
      "SELECT h, sum(v) FROM huge GROUP BY h",
      "SELECT sum(v) OVER (ORDER BY ts) FROM huge",
      "SELECT sum(DISTINCT u) FROM huge",
      "SELECT sum(v) RANGE '1h' FROM huge ALIGN '1h'",
      "SELECT count(DISTINCT ts), sum(v) FROM huge WHERE h = 'a'",
      "SELECT sum(d) FROM (SELECT arrow_cast(v, 'Duration(Second)') AS d FROM huge WHERE h = 'a')",
    ]) {
      for (const options of [{}, { forceInterpreter: true }, { workers: localWorkers(openMemorySnapshot) }])
        expect([query, await failureOf(data, query, options)]).toEqual([query, expect.stringContaining("Arithmetic overflow: sum is ")]);
    }
  });
  test("are none where only a part is too large", async () => {
    expect((await data.both("SELECT sum(v), avg(v) FROM huge")).rows).toEqual([[-2, -0.5]]);
    expect((await data.both("SELECT count(DISTINCT h), sum(v) FROM huge")).rows).toEqual([[2, -2]]);
    expect((await data.both("SELECT avg(v), avg(u) FROM huge WHERE h = 'a'")).rows).toEqual([[2 ** 63, 2 ** 63 + 1]]);
    expect((await data.both("SELECT sum(v::DECIMAL(38, 0)) FROM huge WHERE h = 'a'")).rows).toEqual([[2n * max]]);
  });
});

test("a query over its memory limit says so", async () => {
  const sql = "SELECT a, b, x, count(*) FROM m GROUP BY a, b, x";
  expect(await failureOf(data, sql, { memoryBytesMax: 1000 })).toMatch(
    /needs more than the 1 KiB of memory that query.memory_limit allows \(it holds|aggregate holds/,
  );
});

test("a cancelled query stops", async () => {
  const controller = new AbortController();
  const cancelled = new QueryFixture(controller.signal);
  await cancelled.sql("CREATE TABLE c (v INT, ts TIMESTAMP TIME INDEX)");
  await cancelled.sql("INSERT INTO c VALUES (1, 1)");
  controller.abort();
  expect(await failureOf(cancelled, "SELECT * FROM c")).toMatch(/cancelled/);
});
