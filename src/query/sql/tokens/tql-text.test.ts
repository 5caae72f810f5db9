import { expect, test } from "bun:test";
import fc from "fast-check";
import { withoutPromql } from "./tql-text.ts";

/** The PromQL that is cut out of a text. */
function check(text: string, want: readonly string[]): void {
  const { sql, cuts } = withoutPromql(text);
  expect([text, cuts.map(({ start, end }) => text.slice(start, end))]).toEqual([text, [...want]]);
  expect(sql.length).toBe(text.length);
  expect(sql.split(/\r\n|\r|\n/).length).toBe(text.split(/\r\n|\r|\n/).length);
  for (const { start, end } of cuts) expect(sql.slice(start, end).trim()).toBe("");
}

test("PromQL ends at the semicolon or with the text", () => {
  check("TQL EVAL (0, 10, '5s') rate(a{b=\"c\"}[5m])", ['rate(a{b="c"}[5m])']);
  check("tql eval (0, 10, '5s'), a < 1; SELECT 1", ["a < 1"]);
  check("SELECT 1; TQL EVALUATE (0, 10, '5s') a; TQL EVAL (0, 1, 1) b", ["a", "b"]);
  check("TQL ANALYZE VERBOSE FORMAT JSON (0, 10, '5s') a", ["a"]);
  check("TQL EXPLAIN a", ["a"]);
  check("TQL EXPLAIN VERBOSE format", ["format"]);
  check("EXPLAIN ANALYZE TQL EVAL (0, 1, 1) a", ["a"]);
  check("DECLARE c CURSOR FOR TQL EVAL (0, 1, 1) a", ["a"]);
  check("TQL EVAL a + 1", ["a + 1"]);
});

test("quotes, brackets and comments hide what would end it", () => {
  check(`TQL EVAL (0, 1, '1s') a{b=";)", c='\\';', d=\`;\`}; SELECT 1`, [`a{b=";)", c='\\';', d=\`;\`}`]);
  check("TQL EVAL (0, 1, '1s') a # no; end\n + b;", ["a # no; end\n + b"]);
  check("TQL EVAL (date_trunc('day', now() - INTERVAL '1' day), (1), ')') (a + (b))", ["(a + (b))"]);
  check("TQL EVAL (0, 1, 1) /* one; */ a /* two; */;", ["a"]);
  check("TQL EVAL (0, 1, 1) a\n-- a; comment\n+ b;", ["a\n-- a; comment\n+ b"]);
  check("TQL EVAL (0, 1, 1) a --b", ["a --b"]);
});

test("what it stands in and its alias are no part of it", () => {
  check("WITH x AS (TQL EVAL (0, 1, 1) sum(a)) SELECT * FROM x", ["sum(a)"]);
  check("CREATE FLOW f SINK TO t AS TQL EVAL (now(), now(), '1m') a AS v", ["a"]);
  check('TQL EVAL (0, 1, 1) sum by (as) (a) AS "V"', ["sum by (as) (a)"]);
  check("TQL EVAL (0, 1, 1) as", ["as"]);
  check("TQL EVAL (0, 1, 1) a as b + c", ["a as b + c"]);
});

test("elsewhere tql is a name", () => {
  check("SELECT tql FROM eval", []);
  check("SELECT 'tql eval (0, 1, 1) a', \"tql\" FROM tql -- tql eval (0, 1, 1) b", []);
  check("SELECT a tql, eval FROM t", []);
  check("TQL EVAL (0, 1", []);
  check("TQL EVAL (0, 1, 1)", []);
  check("TQL EVAL (0, 1, 1) ;", []);
  check("TQL", []);
});

test("any text keeps its length and its lines", () => {
  const piece = fc.constantFrom(
    "TQL ",
    "eval ",
    "(",
    ")",
    "'",
    '"',
    "`",
    ";",
    "\n",
    "--",
    "/*",
    "*/",
    "#",
    "a",
    " as ",
    "{",
    "}",
    "\\",
    "[5m]",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join("");
      const { sql, cuts } = withoutPromql(text);
      expect(sql.length).toBe(text.length);
      let done = 0;
      for (const { start, end } of cuts) {
        expect(start).toBeGreaterThanOrEqual(done);
        expect(end).toBeGreaterThan(start);
        done = end;
      }
      expect(done).toBeLessThanOrEqual(text.length);
      expect(sql.replace(/[^\n]/g, "")).toBe(text.replace(/[^\n]/g, ""));
    }),
    { seed: 7, numRuns: 500 },
  );
});
