/** Heavy queries over the tables of `heavy-data.ts`: one of each operator that holds or orders many values. */
import type { AnswerFormat, HeavyQuery } from "./heavy-query.ts";

/** The rows that ORDER BY skips, as a part of all. */
const OFFSET_SHARE = 0.8;

/** The queries, for some rows of `t`. */
export function heavyQueries(rows: number): readonly HeavyQuery[] {
  return [...keyQueries(), sortQuery(rows), ...joinQueries(), ...setQueries(), ...textQueries(), ...largeAnswers()];
}

/** One key, many groups: how many there are, and the largest. */
function grouped(name: string, key: string, more = ""): HeavyQuery {
  return { name, sql: `SELECT count(*), max(c) FROM (SELECT ${key} AS g, count(*) AS c FROM t${more} GROUP BY 1)` };
}

function keyQueries(): readonly HeavyQuery[] {
  return [
    {
      name: "GROUP BY integer, 1M groups",
      sql: "SELECT count(*), max(c), max(s) FROM (SELECT k1m, count(*) AS c, sum(v) AS s FROM t GROUP BY k1m)",
    },
    grouped("GROUP BY integer above 2^53", "big"),
    grouped("GROUP BY text, 200k groups", "s"),
    grouped("GROUP BY DECIMAL(12,2), 1M groups", "d"),
    grouped("GROUP BY DECIMAL(30,2), 100k groups", "dw"),
    { name: "DISTINCT integer", sql: "SELECT count(*) FROM (SELECT DISTINCT id FROM t)" },
    { name: "count(DISTINCT) integer", sql: "SELECT count(DISTINCT k2m) FROM t" },
    { name: "count(DISTINCT) text of 32 bytes", sql: "SELECT count(DISTINCT su) FROM t" },
  ];
}

function sortQuery(rows: number): HeavyQuery {
  const sql = `SELECT s, id FROM t ORDER BY s, id LIMIT 10 OFFSET ${Math.floor(rows * OFFSET_SHARE)}`;
  return { name: "ORDER BY (text, integer) OFFSET", sql, compares: "all" };
}

function joinQueries(): readonly HeavyQuery[] {
  const pairs = "count(*), sum(a.v + b.v)";
  return [
    { name: "join integer", sql: `SELECT ${pairs} FROM t a JOIN t b ON a.id = b.id` },
    { name: "join integer above 2^53", sql: `SELECT ${pairs} FROM t a JOIN t b ON a.big = b.big` },
    {
      name: "NOT EXISTS text",
      sql: "SELECT count(*) FROM t a WHERE NOT EXISTS (SELECT 1 FROM t b WHERE b.s = a.s AND b.k1m < 100000)",
    },
    { name: "NOT IN text", sql: "SELECT count(*) FROM t a WHERE su NOT IN (SELECT su FROM t b WHERE b.k1m < 100000)" },
    { name: "IN integers", sql: "SELECT count(*), sum(v) FROM t WHERE id IN (SELECT k1m FROM t WHERE v < 100)" },
  ];
}

function setQueries(): readonly HeavyQuery[] {
  return [
    {
      name: "INTERSECT integer",
      sql: "SELECT count(*), sum(k) FROM (SELECT k1m AS k FROM t WHERE v < 500 INTERSECT SELECT k2m FROM t)",
    },
    {
      name: "EXCEPT text",
      sql: "SELECT count(*), max(s) FROM (SELECT s FROM t EXCEPT SELECT s FROM t WHERE k1m < 50000)",
    },
  ];
}

function textQueries(): readonly HeavyQuery[] {
  const pattern = "'^[0-9]+[a-f]{3}'";
  return [
    { name: "max(text)", sql: "SELECT max(su) FROM t" },
    { name: "LIKE", sql: "SELECT count(*) FROM t WHERE su LIKE '%abc%'" },
    {
      name: "regular expression",
      sql: `SELECT count(*) FROM t WHERE su ~ ${pattern}`,
      duckdbSql: `SELECT count(*) FROM t WHERE regexp_matches(su, ${pattern})`,
    },
    { name: "lower", sql: "SELECT count(*) FROM t WHERE lower(su) > 'c' AND lower(s) < 'user-5'" },
    grouped("GROUP BY substr", "substr(su, 1, 4)"),
    grouped("GROUP BY concat", "concat(s, '-', substr(su, 1, 1))"),
  ];
}

/** Half of a table, fetched whole. */
function largeAnswers(): readonly HeavyQuery[] {
  const formats: readonly AnswerFormat[] = ["json", "csv", "arrow"];
  return formats.map((fetchedAs) => ({ name: `large answer as ${fetchedAs}`, sql: "SELECT * FROM cpu WHERE usage_user > 50", fetchedAs }));
}
