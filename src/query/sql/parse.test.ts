import { describe, expect, test } from "bun:test";
import { DbError } from "../../base/error.ts";
import { SQL_BYTES_MAX, SQL_DEPTH_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { parseSql } from "./parse.ts";
import { SqlParser } from "./grammar/sql-parser.ts";
import { rowCountOf } from "./syntax/value-rows.ts";

test("the grammar has no ambiguities", () => {
  expect(() => new SqlParser(true)).not.toThrow();
});

describe("limits", () => {
  const nested = (open: string, inner: string, close: string, depth: number): string =>
    `SELECT ${open.repeat(depth)}${inner}${close.repeat(depth)}`;
  const tooDeep = new RegExp(`nests deeper than ${SQL_DEPTH_MAX} levels`);
  const shapes: readonly (readonly [name: string, open: string, inner: string, close: string])[] = [
    ["parentheses", "(", "1", ")"],
    ["calls", "f(", "1", ")"],
    ["negations", "NOT ", "a", ""],
    ["signs", "- ", "a", ""],
    ["sums", "", "a", " + 1"],
    ["casts", "", "a", "::int"],
    ["CASE", "CASE WHEN ", "a", " THEN 1 END"],
    ["IN lists", "a IN (", "1", ")"],
    ["IS", "", "a", " IS NULL"],
  ];
  for (const [name, open, inner, close] of shapes) {
    test(`${name} nest up to the limit and are refused beyond`, () => {
      expect(parseSql(nested(open, inner, close, SQL_DEPTH_MAX - 2))).toHaveLength(1);
      expect(() => parseSql(nested(open, inner, close, SQL_DEPTH_MAX + 1))).toThrow(tooDeep);
      expect(() => parseSql(nested(open, inner, close, 50_000))).toThrow(tooDeep);
    });
  }
  test("what nests in two rules a level counts twice", () => {
    expect(parseSql(nested("1 + (", "a", ")", SQL_DEPTH_MAX / 2 - 2))).toHaveLength(1);
    expect(() => parseSql(nested("1 + (", "a", ")", SQL_DEPTH_MAX / 2 + 1))).toThrow(tooDeep);
  });
  test("the height counts even where no rule recurses that deep", () => {
    const chain = (inner: string): string => `(${inner}${" + 1".repeat(200)})`;
    expect(() => parseSql(`SELECT ${chain(chain(chain("a")))}`)).toThrow(tooDeep);
    expect(parseSql(`SELECT ${chain(chain("a"))}, ${chain(chain("a"))}`)).toHaveLength(1);
  });
  test("works again after a failure deep inside", () => {
    expect(() => parseSql(nested("f(", "1::wibble", ")", 100))).toThrow("unknown type");
    expect(() => parseSql(nested("(", "1", "", 100))).toThrow("ends too early");
    expect(() => parseSql("INSERT INTO t VALUES (DEFAULT, )(")).toThrow(DbError);
    expect(() => parseSql("SELECT DEFAULT")).toThrow("DEFAULT can only be");
    expect(parseSql(nested("(", "1", ")", SQL_DEPTH_MAX - 2))).toHaveLength(1);
  });
  test("a text over the limit of bytes is refused before it is read", () => {
    expect(() => parseSql(`SELECT '${"é".repeat(SQL_BYTES_MAX / 2)}'`)).toThrow("longer than");
  });
  test("large lists and rows parse", () => {
    const items = Array.from({ length: 10_000 }, (_, i) => `'host_${i}'`);
    const [select] = parseSql(`SELECT * FROM t WHERE h IN (${items.join(", ")})`);
    expect(select?.kind === "select" && select.where?.kind === "in-list" && select.where.items.length).toBe(items.length);
    const [insert] = parseSql(`INSERT INTO t VALUES ${items.map((item, i) => `(${item}, ${i})`).join(", ")}`);
    expect(insert?.kind === "insert" && insert.source.kind === "values" && rowCountOf(insert.source.rows)).toBe(items.length);
  });
});

describe("mutated statements", () => {
  const SEEDS: readonly string[] = [
    "SELECT DISTINCT a.b, count(*) FILTER (WHERE x > 1) AS n FROM public.t u " +
      "WHERE y BETWEEN 1 AND 2 AND z NOT LIKE 'a%' ESCAPE '!' GROUP BY 1",
    "SELECT CASE a WHEN 1 THEN x::timestamp(3) ELSE CAST(y AS decimal(10, 2)) END, " +
      "last_value(v ORDER BY ts DESC NULLS FIRST) FROM t LIMIT 5 OFFSET 2",
    "SELECT date_trunc('hour', ts) - INTERVAL '1' day, EXTRACT(year FROM ts), trim(BOTH 'x' FROM s), 0xff, x'00' " +
      "FROM t HAVING 1 IN (1, 2.5e3)",
    "CREATE TABLE IF NOT EXISTS t (h STRING COMMENT 'it''s' SKIPPING INDEX WITH (a = 1), ts TIMESTAMP TIME INDEX, PRIMARY KEY (h)) " +
      "ENGINE = mito WITH (ttl = '7d')",
    "INSERT INTO t (a, \"B\") VALUES (1, 'x'), (DEFAULT, NULL); SHOW FULL TABLES FROM d LIKE '%' ; EXPLAIN ANALYZE FORMAT json SELECT 1",
    "SET @@session.time_zone = '+08:00'; ADMIN flush_table('t'); DESC TABLE a.b; DROP TABLE IF EXISTS a, b; /* c */ USE d -- e",
  ];
  const PIECES: readonly string[] = [
    ..."( ) , ; . * + - :: = <> ' \" ` /* */ -- [ ] { } : @@ ? $1 ~ ! | \\ 1e 0x x' é".split(" "),
    ..."SELECT FROM NOT AND BETWEEN IS NULL INTERVAL AS".split(" "),
    "\n",
  ];

  /** A number generator that gives the same numbers on every run. */
  function randomFrom(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
  }

  test("parse or fail with an error for the client, nothing else", () => {
    const random = randomFrom(20240131);
    let parsed = 0;
    for (let round = 0; round < 6000; round++) {
      let text = SEEDS[round % SEEDS.length] ?? "";
      for (let edits = random(4); edits >= 0; edits--) {
        const at = random(text.length + 1);
        const end = Math.min(text.length, at + random(8));
        const piece = random(2) === 0 ? (PIECES[random(PIECES.length)] ?? "") : text.slice(random(text.length), random(text.length));
        text = text.slice(0, at) + piece + text.slice(random(3) === 0 ? at : end);
      }
      try {
        parseSql(text);
        parsed++;
      } catch (thrown) {
        if (!(thrown instanceof DbError)) throw new Error(`not a DbError: ${JSON.stringify(text)}`, { cause: thrown });
        // Primary keys in several places and FULLTEXT without INDEX have texts of their own (contract query.md 1.4).
        if (thrown.code === StatusCode.InvalidArguments) {
          expect(thrown.message).toMatch(/primary keys|expect INDEX after/);
          continue;
        }
        expect([StatusCode.InvalidSyntax, StatusCode.Unsupported] as number[]).toContain(thrown.code);
        expect(thrown.message).toMatch(/ at Line: \d+, Column: \d+$/);
      }
    }
    expect(parsed).toBeGreaterThan(100);
  });
  test("cut anywhere", () => {
    for (const seed of SEEDS) {
      for (let end = 0; end < seed.length; end++) {
        try {
          parseSql(seed.slice(0, end));
        } catch (thrown) {
          if (!(thrown instanceof DbError)) throw new Error(`not a DbError: ${JSON.stringify(seed.slice(0, end))}`, { cause: thrown });
        }
      }
    }
  });
});
