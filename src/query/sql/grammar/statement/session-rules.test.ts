import { expect, test } from "bun:test";
import { DbError } from "../../../../base/error.ts";
import { onlyStatement, parsed, parseSql } from "../../parse.ts";
import { printStatement } from "../../print/print-statement.ts";

/** The statement as it prints; that text must parse to the same again. */
function check(input: string, want: string): void {
  expect(parseSql(input).map(printStatement), input).toEqual([want]);
  expect(parseSql(want).map(printStatement), want).toEqual([want]);
}

function checkRejects(input: string, why: string | RegExp): void {
  expect(() => parseSql(input), input).toThrow(why);
  expect(() => parseSql(input), input).toThrow(DbError);
}

test("TQL has a mode, moments, PromQL and an alias", () => {
  check("tql eval (0, 10.5, '5s') rate(a[5m])", "TQL EVAL (0, 10.5, '5s') rate(a[5m])");
  check("TQL EVALUATE (now() - INTERVAL '1 hour', now(), 5, '1m'), a AS v", "TQL EVAL (now() - INTERVAL '1 hour', now(), 5, '1m') a AS v");
  check("TQL EVAL a", "TQL EVAL a");
  check("TQL EXPLAIN VERBOSE FORMAT json (0, 1, 1) a", "TQL EXPLAIN VERBOSE FORMAT JSON (0, 1, 1) a");
  check('TQL ANALYZE (0, 1, 1) {__name__="a"} # x', 'TQL ANALYZE (0, 1, 1) {__name__="a"}');
  check("TQL EVAL (0, 1, 1) a # one\n + b AS v # two;\n", "TQL EVAL (0, 1, 1) a # one\n + b AS v");
  check("EXPLAIN TQL EVAL (0, 1, 1) a", "EXPLAIN TQL EVAL (0, 1, 1) a");
  check(
    "WITH x (t, v) AS (TQL EVAL (0, 1, 1) a), y AS (SELECT 1) SELECT * FROM x",
    "WITH x (t, v) AS (TQL EVAL (0, 1, 1) a), y AS (SELECT 1) SELECT * FROM x",
  );
});

test("TQL says where its PromQL begins", () => {
  const [tql] = parseSql("SELECT 1;\nTQL EVAL (0,\n 1, 1)  a").slice(1);
  expect(tql?.kind === "tql" && tql.promqlSpan).toEqual({ line: 3, column: 9 });
});

test("TQL that is not complete is refused", () => {
  checkRejects("TQL (0, 1, 1) a", "Invalid TQL syntax: found '(', expected EVAL, EXPLAIN or ANALYZE at Line: 1, Column: 5");
  checkRejects("TQL EVAL (0, 1) a", "Invalid TQL syntax: found 2 values, expected (start, end, step)");
  checkRejects("TQL EVAL (0, 1, 2, 3, 4) a", "Invalid TQL syntax: found 5 values");
  checkRejects("TQL EVAL (0, 1, 1)", "Invalid TQL syntax: the text ends too early, expected a PromQL query");
  checkRejects("TQL EVAL (0, , 1) a", "Invalid TQL syntax: found ','");
  checkRejects("TQL EVAL (0, 1, 1", "Invalid TQL syntax: the text ends too early");
  checkRejects("WITH x AS (TQL EXPLAIN (0, 1, 1) a) SELECT 1", "only TQL EVAL is served in WITH");
  checkRejects("SELECT * FROM (TQL EVAL (0, 1, 1) a)", "Invalid SQL syntax");
});

test("CREATE FLOW", () => {
  check("create flow f sink to d.t as select 1", "CREATE FLOW f SINK TO d.t AS SELECT 1");
  check(
    "CREATE OR REPLACE FLOW IF NOT EXISTS f SINK TO t EXPIRE AFTER '1 hour'::INTERVAL EVAL INTERVAL '1m' COMMENT 'it''s' " +
      "WITH (defer_on_missing_source = true) AS TQL EVAL (now(), now(), '1m') sum(a) AS v",
    "CREATE OR REPLACE FLOW IF NOT EXISTS f SINK TO t EXPIRE AFTER INTERVAL '1 hour' EVAL INTERVAL '1m' COMMENT 'it''s' " +
      "WITH ('defer_on_missing_source' = 'true') AS TQL EVAL (now(), now(), '1m') sum(a) AS v",
  );
  check("CREATE FLOW f SINK TO t EXPIRE AFTER 3600 AS SELECT 1", "CREATE FLOW f SINK TO t EXPIRE AFTER 3600 AS SELECT 1");
  check("SELECT sink, expire, eval FROM flow", "SELECT sink, expire, eval FROM flow");
  checkRejects("CREATE FLOW f AS SELECT 1", "expected SINK");
  checkRejects("CREATE FLOW f SINK t AS SELECT 1", "expected TO");
  checkRejects("CREATE FLOW f SINK TO t", "expected AS");
  checkRejects("CREATE FLOW f SINK TO t EVAL '1m' AS SELECT 1", "expected INTERVAL");
  checkRejects("CREATE FLOW f SINK TO t AS INSERT INTO a VALUES (1)", "expected a query");
  checkRejects("CREATE OR REPLACE TABLE t (a INT)", "CREATE OR REPLACE TABLE");
});

test("prepared statements", () => {
  check("prepare s from 'SELECT ?'", "PREPARE s FROM 'SELECT ?'");
  check("EXECUTE s", "EXECUTE s");
  check("EXECUTE s USING 1, 'a', -2, NULL", "EXECUTE s USING 1, 'a', -2, NULL");
  check("DEALLOCATE s", "DEALLOCATE PREPARE s");
  check("DEALLOCATE prepare", "DEALLOCATE PREPARE prepare");
  check("DEALLOCATE ALL", "DEALLOCATE PREPARE ALL");
  checkRejects("PREPARE s AS SELECT 1", "expected FROM");
  checkRejects("PREPARE s FROM SELECT 1", "expected a string");
  checkRejects("EXECUTE s USING", "expected");
  checkRejects("DEALLOCATE", "expected the name of a prepared statement");
  expect(onlyStatement(parsed("SELECT ?, ?")).parameterCount).toBe(2);
  expect(onlyStatement(parsed("SELECT $3")).parameterCount).toBe(3);
  expect(onlyStatement(parsed("SELECT 1")).parameterCount).toBe(0);
  expect(() => onlyStatement(parsed("SELECT 1; SELECT 2"))).toThrow("a prepared statement is one statement, found 2");
  expect(() => onlyStatement(parsed(""))).toThrow("found 0");
});

test("cursors", () => {
  check("declare c cursor for select 1", "DECLARE c CURSOR FOR SELECT 1");
  check("DECLARE c CURSOR FOR TQL EVAL (0, 1, 1) a", "DECLARE c CURSOR FOR TQL EVAL (0, 1, 1) a");
  check("FETCH 10 IN c", "FETCH 10 FROM c");
  check("CLOSE c", "CLOSE c");
  checkRejects("DECLARE c SELECT 1", "expected CURSOR");
  checkRejects("FETCH c", "expected a number");
  checkRejects("FETCH 1.5 FROM c", "expected a whole number of rows");
  checkRejects("FETCH 1 c", "expected FROM or IN");
});

test("TABLESAMPLE", () => {
  check("SELECT * FROM t TABLESAMPLE (10 PERCENT)", "SELECT * FROM t TABLESAMPLE (10 PERCENT)");
  check(
    "SELECT * FROM t tablesample bernoulli (10) repeatable (42) AS u",
    "SELECT * FROM t AS u TABLESAMPLE BERNOULLI (10 PERCENT) REPEATABLE (42)",
  );
  check("SELECT * FROM t AS u TABLESAMPLE SYSTEM (5 ROWS)", "SELECT * FROM t AS u TABLESAMPLE SYSTEM (5 ROWS)");
  checkRejects("SELECT * FROM t TABLESAMPLE (101 PERCENT)", "expected at most 100 PERCENT");
  checkRejects("SELECT * FROM t TABLESAMPLE (1.5 ROWS)", "expected a whole number of ROWS");
  checkRejects("SELECT * FROM t TABLESAMPLE 10", "found '10'");
  checkRejects("SELECT * FROM generate_series(1, 2) TABLESAMPLE (10)", "goes with a table");
});

test("WITH RECURSIVE", () => {
  check("WITH RECURSIVE a (n) AS (SELECT 1) SELECT * FROM a", "WITH RECURSIVE a (n) AS (SELECT 1) SELECT * FROM a");
  check("WITH recursive AS (SELECT 1) SELECT * FROM recursive", "WITH recursive AS (SELECT 1) SELECT * FROM recursive");
  checkRejects("WITH RECURSIVE SELECT 1", "cannot use keyword 'SELECT' as a name");
});
