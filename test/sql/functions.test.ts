/**
 * Functions over random rows, beside DuckDB where both mean the same: each function is one query over all rows, by loops and reference.
 * Errors of values stop a query, so that arguments stay where both have a result.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { QueryFixture } from "../support/query-fixture.ts";
import { type Cell, cellOf, differenceOf } from "./compare-rows.ts";
import { Duckdb } from "./duckdb.ts";

const ROWS = 40;
const SEED = 20241130;

/** Columns: s and u texts, i and j whole numbers, n a small one, x and y floats, d a date, g a group. */
const row: fc.Arbitrary<readonly (string | number | undefined)[]> = fc.tuple(
  fc.option(textOf(8), { nil: undefined, freq: 8 }),
  textOf(3),
  fc.option(fc.integer({ min: -1_000_000, max: 1_000_000 }), { nil: undefined, freq: 8 }),
  fc.oneof(fc.constantFrom(0, 1, -1, 12, 255), fc.integer({ min: -1000, max: 1000 })),
  fc.integer({ min: 0, max: 12 }),
  fc.option(
    fc.oneof(
      fc.constantFrom(0, 1, -1, 0.5, -2.5, 2.5, 1e9),
      fc.integer({ min: -100_000, max: 100_000 }).map((n) => n / 64),
    ),
    {
      nil: undefined,
      freq: 8,
    },
  ),
  fc.integer({ min: -4000, max: 4000 }).map((n) => n / 16),
  fc.option(fc.integer({ min: -40_000, max: 60_000 }), { nil: undefined, freq: 8 }),
  fc.integer({ min: 0, max: 3 }),
);

function textOf(maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom("a", "b", "B", "c", "ä", "1", "2", ",", " ", "😀", "%"), { maxLength }).map((parts) => parts.join(""));
}

/** What is asked of both, or of each in its own words. */
type Asked = string | readonly [varve: string, duckdb: string];

/** Calls that are the same text in both. */
const listed = (calls: string): readonly string[] => calls.split("; ");

const TEXT: readonly Asked[] = [
  ...listed("length(s); upper(s); lower(s); reverse(s); trim(s); ltrim(s); rtrim(s); md5(s); bit_length(s)"),
  ...listed("ltrim(s, u); rtrim(s, u); concat(s, u, s); concat_ws(',', s, u); contains(s, u); starts_with(s, u)"),
  ...listed("ends_with(s, u)"),
  ...listed("strpos(s, u); repeat(s, n); replace(s, 'a', u); substr(s, n + 1); substr(s, n + 1, 3); left(s, n - 4)"),
  ...listed("right(s, n - 4)"),
  ...listed("lpad(s, n, 'xy'); rpad(s, n, 'xy'); translate(s, 'abB', 'xy'); chr(n + 64); s LIKE '%a_%'; s ILIKE 'B%'"),
  ...listed("split_part(s, ',', 1); split_part(s, ',', n + 1); split_part(s, ',', -1); regexp_replace(s, '[ab]+', 'X')"),
  ["ascii(s)", "CASE WHEN s = '' THEN 0 ELSE unicode(s) END"],
  ["s ~ '^[ab]'", "regexp_matches(s, '^[ab]')"],
  ["regexp_replace(s, '([ab])(.)', '\\2\\1', 'g')", "regexp_replace(s, '([ab])(.)', '\\2\\1', 'g')"],
  ["regexp_like(s, 'b', 'i')", "regexp_matches(s, 'b', 'i')"],
  ["encode(s, 'hex')", "lower(hex(s))"],
];

const NUMBERS: readonly Asked[] = [
  ...listed("abs(i); abs(x); floor(x); ceil(x); sqrt(abs(x)); ln(abs(x) + 1); log10(abs(x) + 1); log2(abs(x) + 1)"),
  ...listed("exp(y / 64)"),
  ...listed("sin(y); cos(y); tan(y); atan(x); atan2(x, y); cbrt(x); degrees(y); radians(y); trunc(x); gcd(i, j)"),
  ...listed("lcm(i, j)"),
  ...listed("power(abs(y), n - 4); asin(y / 256); acos(y / 256); sinh(y / 64); cosh(y / 64); tanh(y); greatest(i, j)"),
  ...listed("least(x, y)"),
  ...listed("greatest(i, j, NULL); nullif(i, j); coalesce(i, j); i & j; i | j; factorial(n); pi() * y; round(x)"),
  ...listed("round(x, 2)"),
  ["asinh(x)", "asinh(x)"],
  ["signum(x)", "CAST(sign(x) AS DOUBLE)"],
  ["i # j", "xor(i, j)"],
  ["abs(i) << n", "abs(i) << n"],
  ["i >> n", "i >> n"],
  ["to_hex(abs(i))", "lower(to_hex(abs(i)))"],
  ["isnan(x)", "isnan(x)"],
  ["mod(i, nullif(j, 0))", "i % nullif(j, 0)"],
];

const PARTS = ["year", "quarter", "month", "week", "day", "dow", "doy"];
const DATES: readonly Asked[] = [
  ...PARTS.map((part): Asked => [`date_part('${part}', d)`, `date_part('${part}', d)`]),
  ["date_part('isodow', d)", "date_part('isodow', d) - 1"],
  ["date_part('epoch', d)", "epoch(d)"],
  ...["year", "quarter", "month", "week", "day"].map(
    (part): Asked => [`CAST(date_trunc('${part}', d) AS DATE)`, `CAST(date_trunc('${part}', d) AS DATE)`],
  ),
  ...["1 month", "13 months", "1 year", "40 days"].map((span): Asked => [`d - INTERVAL '${span}'`, `CAST(d - INTERVAL '${span}' AS DATE)`]),
  ["d + j", "d + j"],
  ["d - DATE '1970-01-01'", "d - DATE '1970-01-01'"],
  ["make_date(1990 + n, n % 12 + 1, n + 1)", "make_date(1990 + n, n % 12 + 1, n + 1)"],
  ["to_char(d, '%Y-%m-%d|%j|%a|%B|%y|%u|%V')", "strftime(d, '%Y-%m-%d|%j|%a|%B|%y|%u|%V')"],
  ["CAST(d AS STRING)", "CAST(d AS VARCHAR)"],
  ...listed("year(d); quarter(d); month(d); day(d); dayofmonth(d); dayofyear(d); weekofyear(d); monthname(d); dayname(d); last_day(d)"),
  ["dayofweek(d)", "dayofweek(d) + 1"],
  ["weekday(d)", "isodow(d) - 1"],
  ...["1 day", "1 week", "10 days", "1 month", "1 quarter", "2 years"].map(
    (width): Asked => [
      `CAST(time_bucket(INTERVAL '${width.replace("1 quarter", "3 months")}', d) AS DATE)`,
      `CAST(time_bucket(INTERVAL '${width.replace("1 quarter", "3 months")}', d) AS DATE)`,
    ],
  ),
  ["CAST(time_bucket(INTERVAL '10 days', d, '2001-02-03') AS DATE)", "CAST(time_bucket(INTERVAL '10 days', d, DATE '2001-02-03') AS DATE)"],
  [
    "CAST(time_bucket(INTERVAL '7 days', d, INTERVAL '2 days') AS DATE)",
    "CAST(time_bucket(INTERVAL '7 days', d, INTERVAL '2 days') AS DATE)",
  ],
  // Weeks that begin on the way are whole weeks there.
  ...["decade", "year", "quarter", "month", "day"].map((unit) => both(`date_diff('${unit}', d, make_date(1990 + n, n % 12 + 1, n + 1))`)),
  ...["hour", "minute", "second", "millisecond", "microsecond"].map((unit) => both(`date_diff('${unit}', d, DATE '2001-02-03')`)),
  ...["day", "week", "hour"].map(
    (unit): Asked => [`timestampdiff(${unit}, d, DATE '2001-02-03')`, `date_sub('${unit}', d, DATE '2001-02-03')`],
  ),
  ...["year", "month", "day"].map(
    (part): Asked => [
      `date_part('${part}', age(DATE '2001-02-03', d))`,
      `date_part('${part}', age(TIMESTAMP '2001-02-03', CAST(d AS TIMESTAMP)))`,
    ],
  ),
  ["CAST(timestampadd(MONTH, n, d) AS DATE)", "CAST(d + to_months(CAST(n AS INTEGER)) AS DATE)"],
  ["str_to_date(to_char(d, '%Y/%m/%d'), '%Y/%m/%d')", "d"],
];

const AGGREGATES: readonly Asked[] = [
  ...listed("count(x); sum(i); avg(i); min(s); max(d); stddev_samp(x); stddev_pop(x); var_samp(x); var_pop(i)"),
  ...listed("corr(x, y)"),
  ...listed("covar_samp(x, y); covar_pop(x, y); regr_slope(x, y); regr_intercept(x, y); regr_count(x, y)"),
  ...listed("regr_avgx(x, y); regr_avgy(x, y)"),
  ...listed("regr_sxx(x, y); regr_syy(x, y); regr_sxy(x, y); regr_r2(x, y); median(x); bit_and(i); bit_or(i); bit_xor(i)"),
  ...listed("count(DISTINCT s); sum(DISTINCT n); string_agg(u, '-' ORDER BY k); sum(j) FILTER (WHERE x > 0)"),
  ...listed("max(n) FILTER (WHERE s IS NULL)"),
  ...listed("arg_max(s, k); arg_min(s, k); max_by(i, k); min_by(u, k); count_if(x > 0)"),
  ["group_concat(u ORDER BY k SEPARATOR '-')", "string_agg(u, '-' ORDER BY k)"],
  ["listagg(u, '-') WITHIN GROUP (ORDER BY k DESC)", "string_agg(u, '-' ORDER BY k DESC)"],
  ["group_concat(DISTINCT n ORDER BY n)", "string_agg(DISTINCT CAST(n AS INTEGER), ',' ORDER BY CAST(n AS INTEGER))"],
  ["bool_and(x > 0)", "bool_and(x > 0)"],
  ["bool_or(x > 100)", "bool_or(x > 100)"],
  ["percentile_cont(0.25) WITHIN GROUP (ORDER BY x)", "quantile_cont(x, 0.25)"],
  ["percentile_cont(0.9) WITHIN GROUP (ORDER BY x DESC)", "quantile_cont(x, 0.1)"],
  ["first_value(s ORDER BY k)", "first(s ORDER BY k)"],
  ["last_value(i ORDER BY n, k)", "last(i ORDER BY n, k)"],
];

const FRAMES = [
  "",
  "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
  "RANGE BETWEEN 3 PRECEDING AND CURRENT ROW",
  "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
];
const WINDOWS: readonly Asked[] = [
  ...FRAMES.flatMap((frame): Asked[] =>
    ["sum(j)", "avg(x)", "min(i)", "count(s)", "stddev_pop(y)", "first_value(u)", "last_value(u)", "nth_value(u, 2)"].map((call) =>
      both(`${call} OVER (PARTITION BY g ORDER BY k ${frame})`),
    ),
  ),
  ...["row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(3)"].map((call) =>
    both(`${call} OVER (PARTITION BY g ORDER BY n, k)`),
  ),
  ...["lag(i)", "lead(i, 2)", "lag(j, 1, 7)"].map((call) => both(`${call} OVER (PARTITION BY g ORDER BY k)`)),
];

function both(text: string): readonly [string, string] {
  return [text, text];
}

const DUCK_NAMES = [
  "BIGINT k",
  "VARCHAR s",
  "VARCHAR u",
  "BIGINT i",
  "INTEGER j",
  "INTEGER n",
  "DOUBLE x",
  "DOUBLE y",
  "DATE d",
  "BIGINT g",
];

/** Both databases with the same rows. */
async function filled(duckdb: Duckdb): Promise<QueryFixture> {
  const rows = fc.sample(row, { seed: SEED, numRuns: ROWS });
  const literal = (value: string | number | undefined, at: number): string => {
    if (value === undefined) return "NULL";
    if (at === 7) return `DATE '${new Date(Number(value) * 86_400_000).toISOString().slice(0, 10)}'`;
    if (typeof value === "string") return `'${value}'`;
    return at === 5 || at === 6 ? `CAST(${value} AS DOUBLE)` : String(value);
  };
  const tuples = rows.map((values, k) => [k, ...values.map(literal)]);
  const fixture = new QueryFixture();
  await fixture.sql(
    "CREATE TABLE t (k BIGINT, s STRING, u STRING, i BIGINT, j BIGINT, n BIGINT, x DOUBLE, y DOUBLE, d DATE, g BIGINT, " +
      "ts TIMESTAMP TIME INDEX)",
  );
  await fixture.sql(`INSERT INTO t VALUES ${tuples.map((tuple, k) => `(${tuple.join(", ")}, ${k})`).join(", ")}`);
  await duckdb.run(`CREATE TABLE t (${DUCK_NAMES.map((column) => column.split(" ").reverse().join(" ")).join(", ")})`);
  await duckdb.run(`INSERT INTO t VALUES ${tuples.map((tuple) => `(${tuple.join(", ")})`).join(", ")}`);
  return fixture;
}

const rowwise = (call: string): string => `SELECT k, ${call} AS r FROM t ORDER BY k`;
const grouped = (call: string): string => `SELECT g, ${call} AS r FROM t GROUP BY g ORDER BY g`;

test.each([
  ["text", TEXT, rowwise],
  ["numbers", NUMBERS, rowwise],
  ["dates", DATES, rowwise],
  ["aggregates", AGGREGATES, grouped],
  ["windows", WINDOWS, rowwise],
] as const)("functions on %s give what DuckDB gives", async (_, asked, query) => {
  const duckdb = await Duckdb.open();
  if (duckdb === undefined) return;
  try {
    const fixture = await filled(duckdb);
    const differences: unknown[] = [];
    for (const entry of asked) {
      const [varve, duck] = typeof entry === "string" ? [entry, entry] : entry;
      const { rows, types } = await fixture.both(query(varve));
      const got = rows.map((cells) => cells.map((cell, i): Cell => cellOf(cell, types[i] ?? "")));
      const want = await duckdb.ask(query(duck));
      const difference = "rows" in want ? differenceOf(got, want.rows, true) : want;
      if (difference !== undefined) differences.push({ varve, difference });
    }
    expect(differences).toEqual([]);
  } finally {
    duckdb.close();
  }
});
