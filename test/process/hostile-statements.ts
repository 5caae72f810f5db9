/**
 * Short and long texts that ask for much work: planning that doubles, chains, long lists, functions over large values. Each has to end with
 * an answer or a clear error while others are served; `hostile.ts` measures that, `hostile.test.ts` runs short forms of them.
 */
import { hostileJoins, longInPlaces } from "./hostile-places.ts";
import { hostileRows } from "./hostile-rows.ts";
import { type HostileStatement, hostileTexts, repeated } from "./hostile-texts.ts";

/** How much each statement asks for: 1 is what was seen to stop a server. */
type Scale = number;

/** `WITH c0 AS (first), c1 AS (next of c0), … last`. */
function levels(count: number, first: string, next: (name: string) => string, last: (name: string) => string): string {
  const tables = Array.from({ length: count }, (_, i) => `c${i + 1} AS (${next(`c${i}`)})`);
  return `WITH c0 AS (${first}), ${tables.join(", ")} ${last(`c${count}`)}`;
}

/** Plans that double at each level of their text. */
export function doubling(scale: Scale): readonly HostileStatement[] {
  const n = Math.max(4, Math.round(20 * Math.min(1, scale * 2)));
  const union = (c: string): string => `SELECT * FROM ${c} UNION ALL SELECT * FROM ${c}`;
  const one = "SELECT 1 AS x";
  const count = (c: string): string => `SELECT count(*) FROM ${c}`;
  const limited = (c: string): string => `SELECT x FROM ${c} LIMIT 1`;
  return [
    { name: "CTE doubled by UNION ALL", sql: levels(n, one, union, limited) },
    {
      name: "CTE doubled by UNION ALL, filtered",
      sql: levels(n, "SELECT usage AS x FROM hostile", union, (c) => `${limited(c).replace(" LIMIT", " WHERE x > 3 LIMIT")}`),
    },
    { name: "CTE doubled by joins", sql: levels(n, one, (c) => `SELECT a.x FROM ${c} a JOIN ${c} b ON a.x = b.x`, limited) },
    { name: "CTE doubled by sub-queries", sql: levels(n, one, (c) => `SELECT x FROM ${c} WHERE x IN (SELECT x FROM ${c})`, count) },
    { name: "CTE doubled by EXCEPT", sql: levels(n, one, (c) => `SELECT x FROM ${c} EXCEPT SELECT x + 1 FROM ${c}`, limited) },
    {
      name: "CTE doubled by scalar sub-queries",
      sql: levels(n, one, (c) => `SELECT (SELECT max(x) FROM ${c}) + (SELECT min(x) FROM ${c}) AS x`, limited),
    },
    {
      name: "columns doubled by *, *",
      sql: levels(
        n,
        one,
        (c) => `SELECT *, * FROM ${c}`,
        (c) => `SELECT count(*) FROM ${c}`,
      ),
    },
    {
      name: "columns doubled by joins",
      sql: levels(
        n,
        one,
        (c) => `SELECT * FROM ${c} AS l CROSS JOIN ${c} AS r`,
        (c) => `SELECT count(*) FROM ${c}`,
      ),
    },
    {
      name: "expressions doubled by levels",
      sql: levels(
        2 * n,
        "SELECT usage AS x FROM hostile",
        (c) => `SELECT x + x AS x FROM ${c}`,
        (c) => `SELECT x FROM ${c} WHERE x > 1`,
      ),
    },
    {
      name: "expressions doubled under aggregates",
      sql: levels(
        2 * n,
        "SELECT usage AS x FROM hostile",
        (c) => `SELECT x * x AS x FROM ${c}`,
        (c) => `SELECT sum(x), max(x) FROM ${c} WHERE x <> 0`,
      ),
    },
    {
      name: "aliases doubled in ORDER BY and HAVING",
      sql:
        `SELECT ${repeated(n, (i) => `usage + ${i} AS a${i}`, ", ")} FROM hostile ` +
        `ORDER BY ${repeated(n, (i) => `a${i} + a${(i + 1) % n}`, ", ")}`,
    },
    { name: "CUBE of 12", sql: `SELECT count(*) FROM hostile GROUP BY CUBE (${repeated(Math.min(12, n), (i) => `usage + ${i}`, ", ")})` },
    { name: "CUBE of 20", sql: `SELECT count(*) FROM hostile GROUP BY CUBE (${repeated(20, (i) => `usage + ${i}`, ", ")})` },
    {
      name: "grouping sets beside each other",
      sql:
        `SELECT count(*) FROM hostile GROUP BY ROLLUP (${repeated(60, (i) => `usage + ${i}`, ", ")}), ` +
        `ROLLUP (${repeated(60, (i) => `usage - ${i}`, ", ")})`,
    },
  ];
}

function chains(scale: Scale): readonly HostileStatement[] {
  const of = (count: number): number => Math.max(100, Math.round(count * scale));
  const from = "SELECT count(*) FROM hostile WHERE";
  const field = (i: number): string => `usage <> ${i}`;
  return [
    { name: "AND of 16,000", sql: `${from} ${repeated(of(16_000), field, " AND ")}` },
    { name: "AND of 200,000", sql: `${from} ${repeated(of(200_000), field, " AND ")}` },
    { name: "AND of 16,000 on a tag", sql: `${from} ${repeated(of(16_000), (i) => `host <> 'h${i}'`, " AND ")}` },
    { name: "AND of 16,000 times", sql: `${from} ${repeated(of(16_000), (i) => `greptime_timestamp > ${i}`, " AND ")}` },
    { name: "OR of 100,000", sql: `${from} ${repeated(of(100_000), (i) => `usage = ${i}`, " OR ")}` },
    { name: "OR of 16,000 on a tag", sql: `${from} ${repeated(of(16_000), (i) => `host = 'h${i}'`, " OR ")}` },
    { name: "OR of 30,000 calls", sql: `${from} ${repeated(of(30_000), (i) => `abs(usage) = ${i}`, " OR ")}` },
    { name: "OR of ANDs", sql: `${from} ${repeated(of(20_000), (i) => `(usage > ${i} AND host = 'h${i}')`, " OR ")}` },
    { name: "AND of ORs", sql: `${from} ${repeated(of(20_000), (i) => `(usage > ${i} OR host = 'h${i}')`, " AND ")}` },
    { name: "OR of INs", sql: `${from} ${repeated(of(5000), (i) => `usage IN (${i}, ${i + 1}, ${i + 2}, NULL)`, " OR ")}` },
    { name: "nested OR in SELECT", sql: `SELECT CASE WHEN ${repeated(of(50_000), field, " OR ")} THEN 1 END FROM hostile` },
    {
      name: "HAVING of 50,000",
      sql: `SELECT host, sum(usage) FROM hostile GROUP BY host HAVING ${repeated(of(50_000), (i) => `sum(usage) <> ${i}`, " AND ")}`,
    },
    {
      name: "ON of 20,000",
      sql: `SELECT count(*) FROM hostile a JOIN hostile b ON ${repeated(of(20_000), (i) => `a.usage <> b.usage + ${i}`, " AND ")}`,
    },
    { name: "IN of 1,000,000", sql: `${from} usage IN (${repeated(of(1_000_000), String, ",")})` },
    { name: "NOT IN of 500,000 texts", sql: `${from} host NOT IN (${repeated(of(500_000), (i) => `'h${i}'`, ",")})` },
    { name: "IN of 100,000 sums", sql: `${from} usage IN (${repeated(of(100_000), (i) => `usage + ${i}`, ",")})` },
    { name: "IN of 100,000 rows", sql: `${from} (usage, host) IN (${repeated(of(100_000), (i) => `(${i}, 'h${i}')`, ",")})` },
    { name: "+ of 400", sql: `SELECT ${repeated(400, () => "usage", " + ")} FROM hostile` },
    { name: "+ of 100,000", sql: `SELECT ${repeated(of(100_000), String, " + ")}` },
    { name: "|| of 100,000", sql: `SELECT ${repeated(of(100_000), () => "'a'", " || ")}` },
    { name: "NOT of 100,000", sql: `SELECT ${repeated(of(100_000), () => "NOT", " ")} true` },
    { name: "- of 100,000", sql: `SELECT ${repeated(of(100_000), () => "-", " ")} 1` },
    { name: "( of 100,000", sql: `SELECT ${"(".repeat(of(100_000))}1${")".repeat(of(100_000))}` },
    { name: ":: of 100,000", sql: `SELECT 1${"::int".repeat(of(100_000))}` },
    {
      name: "CASE of 50,000 branches",
      sql: `SELECT CASE ${repeated(of(50_000), (i) => `WHEN usage = ${i} THEN ${i}`, " ")} END FROM hostile`,
    },
    {
      name: "CASE of 50,000 calls",
      sql: `SELECT CASE ${repeated(of(50_000), (i) => `WHEN abs(usage) = ${i} THEN upper('${i}')`, " ")} END FROM hostile`,
    },
    { name: "concat of 100,000", sql: `SELECT concat(${repeated(of(100_000), (i) => `'${i}'`, ", ")})` },
    { name: "concat of 50,000 columns", sql: `SELECT concat(${repeated(of(50_000), () => "host", ", ")}) FROM hostile` },
    { name: "coalesce of 100,000", sql: `SELECT coalesce(${repeated(of(100_000), () => "usage", ", ")}) FROM hostile` },
    { name: "greatest of 100,000", sql: `SELECT greatest(${repeated(of(100_000), (i) => `usage + ${i}`, ", ")}) FROM hostile` },
    { name: "list of 300,000", sql: `SELECT [${repeated(of(300_000), String, ", ")}]` },
    { name: "list of 50,000 sums", sql: `SELECT [${repeated(of(50_000), (i) => `usage + ${i}`, ", ")}] FROM hostile` },
    { name: "BETWEEN of 20,000", sql: `${from} ${repeated(of(20_000), (i) => `usage BETWEEN ${i} AND ${i + 1}`, " OR ")}` },
    { name: "LIKE of 20,000", sql: `${from} ${repeated(of(20_000), (i) => `host LIKE '%h${i}%'`, " OR ")}` },
    { name: "~ of 20,000", sql: `${from} ${repeated(of(20_000), (i) => `host ~ 'h${i}.*x'`, " OR ")}` },
    { name: "casts of 50,000", sql: `${from} ${repeated(of(50_000), (i) => `usage::text = '${i}'`, " OR ")}` },
    { name: "sub-queries of 2,000", sql: `SELECT ${repeated(of(2000), (i) => `(SELECT max(usage) + ${i} FROM hostile)`, ", ")}` },
    {
      name: "AND of 2,000 IN sub-queries",
      sql: `${from} ${repeated(of(2000), (i) => `usage IN (SELECT usage + ${i} FROM hostile)`, " AND ")}`,
    },
  ];
}

function lists(scale: Scale): readonly HostileStatement[] {
  const of = (count: number): number => Math.max(100, Math.round(count * scale));
  const insert = "INSERT INTO hostile_rows (host, usage, greptime_timestamp) VALUES";
  return [
    { name: "UNION ALL of 900", sql: repeated(of(900), (i) => `SELECT ${i} AS x`, " UNION ALL ") },
    { name: "UNION ALL of 50,000", sql: repeated(of(50_000), (i) => `SELECT ${i} AS x`, " UNION ALL ") },
    { name: "UNION of 900 tables", sql: repeated(of(900), (i) => `SELECT usage + ${i} AS x FROM hostile`, " UNION ") },
    {
      name: "UNION of 300 tables of 40 columns",
      sql: repeated(of(300), () => `SELECT ${repeated(40, (c) => `usage + ${c} AS c${c}`, ", ")} FROM hostile`, " UNION ALL "),
    },
    { name: "VALUES of 300,000", sql: `SELECT count(*) FROM (VALUES ${repeated(of(300_000), (i) => `(${i}, 'a${i}')`, ",")}) AS v (a, b)` },
    {
      name: "VALUES of 20,000 x 40",
      sql: `SELECT count(*) FROM (VALUES ${repeated(of(20_000), (i) => `(${repeated(40, (c) => String(i + c), ",")})`, ",")}) AS v`,
    },
    { name: "VALUES of 900 computed", sql: `SELECT count(*) FROM (VALUES ${repeated(900, (i) => `(random() + ${i})`, ",")}) AS v (a)` },
    {
      name: "INSERT of 300,000",
      sql: `${insert} ${repeated(of(300_000), (i) => `('h${i % 100}', ${i}, ${1_700_000_000_000_000_000 + i})`, ",")}`,
    },
    { name: "INSERT of 100,000 sums", sql: `${insert} ${repeated(of(100_000), (i) => `('h' || 'x', ${i} + 1, ${i})`, ",")}` },
    { name: "DELETE of 100,000", sql: `DELETE FROM hostile WHERE ${repeated(of(100_000), (i) => `host = 'x${i}'`, " OR ")}` },
    { name: "SELECT of 4,000 columns", sql: `SELECT ${repeated(of(4000), (i) => `usage + ${i}`, ", ")} FROM hostile` },
    { name: "SELECT of 100,000 columns", sql: `SELECT ${repeated(of(100_000), (i) => `usage + ${i}`, ", ")} FROM hostile` },
    { name: "aggregates of 4,000", sql: `SELECT ${repeated(of(4000), (i) => `sum(usage + ${i})`, ", ")} FROM hostile` },
    { name: "windows of 1,000", sql: `SELECT ${repeated(of(1000), (i) => `sum(usage) OVER (ORDER BY usage + ${i})`, ", ")} FROM hostile` },
    { name: "GROUP BY of 4,000", sql: `SELECT count(*) FROM hostile GROUP BY ${repeated(of(4000), (i) => `usage + ${i}`, ", ")}` },
    { name: "ORDER BY of 10,000", sql: `SELECT usage FROM hostile ORDER BY ${repeated(of(10_000), (i) => `usage + ${i}`, ", ")}` },
    {
      name: "JOIN of 400",
      sql:
        `SELECT count(*) FROM hostile t0 ` +
        `${repeated(400, (i) => `JOIN hostile t${i + 1} ON t${i}.usage = t${i + 1}.usage`, " ")} WHERE t0.host = 'none'`,
    },
    {
      name: "JOIN of 10,000",
      sql: `SELECT count(*) FROM hostile t0 ${repeated(of(10_000), (i) => `JOIN hostile t${i + 1} ON t${i}.usage = t${i + 1}.usage`, " ")}`,
    },
    { name: "CROSS JOIN of 10,000", sql: `SELECT count(*) FROM ${repeated(of(10_000), (i) => `hostile t${i}`, ", ")}` },
    { name: "CTEs of 10,000", sql: `WITH ${repeated(of(10_000), (i) => `c${i} AS (SELECT ${i} AS x)`, ", ")} SELECT x FROM c7` },
    {
      name: "chain of 2,000 CTEs",
      sql: levels(
        of(2000),
        "SELECT 1 AS x",
        (c) => `SELECT x + 1 AS x FROM ${c}`,
        (c) => `SELECT x FROM ${c}`,
      ),
    },
    {
      name: "EXPLAIN of OR of 50,000",
      sql: `EXPLAIN SELECT count(*) FROM hostile WHERE ${repeated(of(50_000), (i) => `usage = ${i}`, " OR ")}`,
    },
    {
      name: "EXPLAIN VERBOSE of OR of 20,000",
      sql: `EXPLAIN VERBOSE SELECT count(*) FROM hostile WHERE ${repeated(of(20_000), (i) => `usage + host = ${i}`, " OR ")}`,
    },
    {
      name: "EXPLAIN ANALYZE of IN of 300,000",
      sql: `EXPLAIN ANALYZE SELECT count(*) FROM hostile WHERE usage IN (${repeated(of(300_000), String, ",")})`,
    },
    { name: "EXPLAIN of 4,000 columns", sql: `EXPLAIN SELECT ${repeated(of(4000), (i) => `usage + ${i}`, ", ")} FROM hostile` },
    { name: "a syntax error behind 10 MB", sql: `SELECT ${repeated(of(1_000_000), String, ",")} FROM FROM` },
    { name: "no SQL at all, 10 MB", sql: "a b ".repeat(of(2_500_000)) },
    { name: "semicolons of 10 MB", sql: "SELECT 1;".repeat(of(1_000_000)) },
  ];
}

function functions(scale: Scale): readonly HostileStatement[] {
  const n = Math.max(1000, Math.round(1_000_000 * scale));
  const text = Math.max(1000, Math.round(16_000_000 * scale));
  const list = `range(${n})`;
  const other = `range(${n / 2}, ${n + n / 2})`;
  const on = (call: string): HostileStatement => ({
    name: call.replaceAll(/'(.{24}).{20,}?'/g, "'$1…'"),
    sql: `SELECT length(cast(${call} AS string))`,
  });
  const a = `repeat('a', ${text})`;
  const words = `repeat('ab,', ${Math.floor(text / 3)})`;
  return [
    `array_length(array_intersect(${list}, ${other}))`,
    `array_length(array_union(${list}, ${other}))`,
    `array_length(array_except(${list}, ${other}))`,
    `array_length(array_distinct(${list}))`,
    `array_position(${list}, ${n - 1})`,
    `array_has(${list}, ${n - 1})`,
    `array_has_all(${list}, ${list})`,
    `array_has_any(${list}, range(${n}, ${2 * n}))`,
    `array_length(array_remove_all(${list}, 5))`,
    `array_length(array_replace_all(${list}, 5, 6))`,
    `array_length(array_sort(${list}, 'DESC'))`,
    `array_length(array_reverse(${list}))`,
    `array_length(array_concat(${list}, ${list}))`,
    `array_length(array_repeat(5, ${n}))`,
    `array_length(array_append(${list}, 5))`,
    `array_length(array_slice(${list}, 2, ${n - 1}))`,
    `array_length(flatten([${list}, ${list}]))`,
    `array_length(array_positions(${list}, 5))`,
    `array_max(${list})`,
    `length(array_to_string(${list}, ','))`,
    `array_length(string_to_array(${words}, ','))`,
    `cast(${list} AS string)`,
    `array_length(array_resize(${list}, ${n}, 5))`,
    `${list} = ${list}`,
    `array_length(generate_series(TIMESTAMP '2020-01-01', TIMESTAMP '2020-02-01', INTERVAL '1 second'))`,
    `length(replace(${a}, 'a', 'b'))`,
    `length(translate(${a}, 'abc', 'xyz'))`,
    `length(upper(${a}))`,
    `length(initcap(${words}))`,
    `length(reverse(${a}))`,
    `length(lpad('x', ${text}, 'ab'))`,
    `length(rpad(${a}, ${text}, 'ab'))`,
    `length(trim(${a}))`,
    `length(regexp_replace(${a}, 'a', 'b', 'g'))`,
    `array_length(regexp_match(${words}, '(ab,)+'))`,
    `regexp_count(${words}, 'ab')`,
    `regexp_like(${a}, '(a|b)*c')`,
    `${a} LIKE '%b%c%'`,
    `${a} SIMILAR TO '(a|b)*c'`,
    `strpos(${a}, 'aaab')`,
    `split_part(${words}, ',', ${Math.floor(text / 3)})`,
    `substr_index(${words}, ',', ${Math.floor(text / 4)})`,
    `levenshtein(repeat('a', ${text / 100}), repeat('b', ${text / 100}))`,
    `levenshtein(repeat('a', 4000), repeat('b', 4000))`,
    `md5(${a})`,
    `sha256(${a})`,
    `sha512(${a})`,
    `blake3(${a})`,
    `digest(${a}, 'sha256')`,
    `crc32(${a})`,
    `length(encode(${a}, 'hex'))`,
    `length(encode(${a}, 'base64'))`,
    `length(decode(${a}, 'hex'))`,
    `length(to_hex(${n}))`,
    `ascii(${a})`,
    `character_length(${a})`,
    `bit_length(${a})`,
    `octet_length(${a})`,
    `find_in_set('ab', ${words})`,
    `matches_term(${words}, 'xy')`,
    `matches(${words}, 'xy OR zz AND ab')`,
    `json_get_string(parse_json(concat('[', ${words.replace("ab,", "1,")}, '1]')), '[5]')`,
    `json_to_string(parse_json(concat('[', ${words.replace("ab,", "1,")}, '1]')))`,
    `json_array_length(concat('[', ${words.replace("ab,", "1,")}, '1]'))`,
    `json_path_exists(parse_json(concat('[', ${words.replace("ab,", "1,")}, '1]')), '$[*]')`,
    `json_is_array(parse_json(concat('[', ${words.replace("ab,", "1,")}, '1]')))`,
    `json_get_string(parse_json(concat(repeat('[', ${n / 10}), repeat(']', ${n / 10}))), '[0]')`,
    `length(vec_to_string(parse_vec(concat('[', ${words.replace("ab,", "1,")}, '1]'))))`,
    `vec_dot_product(concat('[', ${words.replace("ab,", "1,")}, '1]'), concat('[', ${words.replace("ab,", "1,")}, '1]'))`,
    `length(concat(${a}, ${a}))`,
    `length(concat_ws(',', ${a}, ${a}))`,
    `length(overlay(${a} PLACING 'x' FROM 5))`,
    `length(left(${a}, ${text - 5}))`,
    `length(date_format(TIMESTAMP '2020-01-01', repeat('%Y', ${n})))`,
    `length(to_char(TIMESTAMP '2020-01-01', repeat('%Y', ${n})))`,
    `cast(${a} AS bigint)`,
    `cast(repeat('9', ${text}) AS decimal(38, 2))`,
    `cast(repeat('9', ${text}) AS double)`,
    `cast(repeat('9', ${text}) AS timestamp)`,
    `cast(repeat('1 day ', ${n}) AS interval)`,
    `st_distance(repeat('POINT(', ${n}), 'POINT(1 1)')`,
    `factorial(170)`,
    `length(uuid())`,
  ]
    .map(on)
    .concat([
      { name: "range over rows", sql: `SELECT sum(array_length(range(${n / 100}))) FROM (SELECT number FROM numbers LIMIT 1000) AS n` },
      {
        name: "replace over rows",
        sql: `SELECT sum(length(replace(repeat('a', ${text / 100}), 'a', 'b'))) FROM (SELECT number FROM numbers LIMIT 100) AS n`,
      },
      {
        name: "replace over rows by a column",
        sql: `SELECT sum(length(replace(repeat('a', ${text / 100} + number), 'a', 'b'))) FROM (SELECT number FROM numbers LIMIT 100) AS n`,
      },
      {
        name: "array_intersect by a column",
        sql:
          `SELECT sum(array_length(array_intersect(range(number + ${n}), range(number + ${n})))) ` +
          `FROM (SELECT number FROM numbers LIMIT 3) AS n`,
      },
      {
        name: "replace by a column",
        sql: `SELECT max(length(replace(repeat('a', number + ${text - 10}), 'a', 'b'))) FROM (SELECT number FROM numbers LIMIT 2) AS n`,
      },
      {
        name: "regexp_replace in WHERE",
        sql:
          `SELECT count(*) FROM (SELECT number FROM numbers LIMIT 2) AS n ` +
          `WHERE regexp_replace(repeat('a', number + ${text / 4}), '[a-c]', 'b', 'g') <> 'a'`,
      },
      {
        name: "levenshtein in a join",
        sql:
          `SELECT count(*) FROM (SELECT number AS a FROM numbers LIMIT 30) AS l ` +
          `JOIN (SELECT number AS b FROM numbers LIMIT 30) AS r ON levenshtein(repeat('a', 1000 + a), repeat('b', 1000 + b)) > 5`,
      },
      {
        name: "array_sort in GROUP BY",
        sql:
          `SELECT array_length(array_sort(range(number + ${n}), 'DESC')) AS g, count(*) ` +
          `FROM (SELECT number FROM numbers LIMIT 3) AS n GROUP BY g`,
      },
      {
        name: "array_agg of 3,000,000",
        sql: `SELECT array_length(array_agg(number)) FROM (SELECT number FROM numbers LIMIT ${3 * n}) AS n`,
      },
      {
        name: "array_agg DISTINCT of 1,000,000",
        sql: `SELECT array_length(array_agg(DISTINCT number)) FROM (SELECT number FROM numbers LIMIT ${n}) AS n`,
      },
      {
        name: "array_agg ORDER BY of 1,000,000",
        sql: `SELECT array_length(array_agg(number ORDER BY number DESC)) FROM (SELECT number FROM numbers LIMIT ${n}) AS n`,
      },
      {
        name: "string_agg of 2,000,000",
        sql: `SELECT length(string_agg(cast(number AS string), ',')) FROM (SELECT number FROM numbers LIMIT ${2 * n}) AS n`,
      },
      { name: "median of 2,000,000", sql: `SELECT median(number) FROM (SELECT number FROM numbers LIMIT ${2 * n}) AS n` },
      { name: "count(DISTINCT) of 2,000,000", sql: `SELECT count(DISTINCT number) FROM (SELECT number FROM numbers LIMIT ${2 * n}) AS n` },
      { name: "unnest of 1,000,000", sql: `SELECT count(*) FROM unnest(range(${n})) AS u` },
      { name: "unnest of 1,000,000 in SELECT", sql: `SELECT unnest(range(${n})) AS x ORDER BY x DESC LIMIT 1` },
      { name: "generate_series of 100,000,000", sql: `SELECT count(*) FROM generate_series(1, ${100 * n})` },
      { name: "a list of 1,000,000 as the answer", sql: `SELECT range(${n})` },
      { name: "a text of 16 MB as the answer", sql: `SELECT ${a}` },
      { name: "a LIMIT of a long constant", sql: `SELECT 1 LIMIT length(replace(${a}, 'a', 'b'))` },
      {
        name: "INSERT of a long constant",
        sql: `INSERT INTO hostile_rows (host, usage, greptime_timestamp) VALUES ('long', length(replace(${a}, 'a', 'b')), 5)`,
      },
      {
        name: "WHERE of a long constant",
        sql: `SELECT count(*) FROM hostile WHERE usage > array_length(array_intersect(${list}, ${other}))`,
      },
    ]);
}

/** All statements at a scale: 1 as they were seen to stop a server. */
export function hostileStatements(scale: Scale): readonly HostileStatement[] {
  return [
    ...doubling(scale),
    ...chains(scale),
    ...lists(scale),
    ...hostileJoins(scale),
    ...hostileRows(scale),
    ...hostileTexts(scale),
    ...functions(scale),
    ...longInPlaces(scale),
  ];
}

/** Statements that make what the others read. */
export const HOSTILE_SETUP: readonly string[] = [
  "CREATE TABLE hostile (host STRING, usage BIGINT, greptime_timestamp TIMESTAMP(9) TIME INDEX, PRIMARY KEY (host))",
  "CREATE TABLE hostile_rows (host STRING, usage BIGINT, greptime_timestamp TIMESTAMP(9) TIME INDEX, PRIMARY KEY (host))",
  "INSERT INTO hostile (host, usage, greptime_timestamp) VALUES ('a', 1, 1), ('b', 2, 2), ('c', 3, 3)",
];
