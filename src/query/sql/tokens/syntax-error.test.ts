import { expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { parseSql } from "../parse.ts";

function errorOf(text: string): DbError {
  try {
    parseSql(text);
  } catch (thrown) {
    if (thrown instanceof DbError) return thrown;
    throw thrown;
  }
  throw new Error(`parses: ${text}`);
}

function check(input: string, want: string): void {
  const { code, message } = errorOf(input);
  expect(message, input).toBe(want);
  expect(code, input).toBe(StatusCode.InvalidSyntax);
}

function checkUnsupported(input: string, want: string): void {
  const { code, message } = errorOf(input);
  expect(message, input).toBe(want);
  expect(code, input).toBe(StatusCode.Unsupported);
}

test("says what was found, what was expected and where", () => {
  checkUnsupported(
    "SELECT * FORM t",
    "SQL statement is not supported, keyword: 'FORM', expected the end of the statement at Line: 1, Column: 10",
  );
});

test("counts lines and columns from one, over all line ends", () => {
  check("SELECT a\nFROM t\n  WHERE )", "Invalid SQL syntax: found ')', expected an expression at Line: 3, Column: 9");
  check("SELECT a\r\nFROM t WHERE )", "Invalid SQL syntax: found ')', expected an expression at Line: 2, Column: 14");
  checkUnsupported(
    "SELECT 'a\nb' )",
    "SQL statement is not supported, keyword: ')', expected the end of the statement at Line: 2, Column: 4",
  );
  check("/* a\n b */ SELECT )", "Invalid SQL syntax: found ')', expected a column or expression at Line: 2, Column: 14");
});

test("points behind the text when it ends too early", () => {
  check("SELECT", "Invalid SQL syntax: the text ends too early, expected a column or expression at Line: 1, Column: 7");
  check("SELECT a\nFROM  \n", "Invalid SQL syntax: the text ends too early, expected a name at Line: 2, Column: 5");
});

test("cuts long texts and keeps them on one line", () => {
  checkUnsupported(
    `SELECT 1 'a\nb${"x".repeat(200)}'`,
    `SQL statement is not supported, keyword: ''a b${"x".repeat(76)}…', expected the end of the statement at Line: 1, Column: 10`,
  );
});

test("names what is not closed", () => {
  check("SELECT 'abc", "Invalid SQL syntax: the string ''abc' is not closed at Line: 1, Column: 8");
  check("SELECT 'it''s", "Invalid SQL syntax: the string ''it''s' is not closed at Line: 1, Column: 8");
  check('SELECT "abc', "Invalid SQL syntax: the quoted name '\"abc' is not closed at Line: 1, Column: 8");
  check("SELECT `abc", "Invalid SQL syntax: the quoted name '`abc' is not closed at Line: 1, Column: 8");
  check("SELECT 1 /* abc", "Invalid SQL syntax: a comment is not closed at Line: 1, Column: 10");
});

test("names characters that begin nothing", () => {
  check("SELECT \\", "Invalid SQL syntax: found '\\', which begins no SQL token at Line: 1, Column: 8");
  check("SELECT 1 ! 2", "Invalid SQL syntax: found '!', which begins no SQL token at Line: 1, Column: 10");
});

test("advises quotes for reserved names", () => {
  check("SELECT a FROM order", "Invalid SQL syntax: cannot use keyword 'order' as a name; add quotes to it at Line: 1, Column: 15");
});

test("names constructs that are not served, with their place", () => {
  const construct = (name: string, column: number): string => `SQL construct is not supported: ${name} at Line: 1, Column: ${column}`;
  checkUnsupported("SELECT sum(a) OVER (ROWS 1 PRECEDING EXCLUDE TIES)", construct("EXCLUDE in a window frame", 38));
  checkUnsupported("SELECT a < ANY ([1])", construct("< ANY of a list; only = ANY and <> ALL are", 16));
  const folding = "COLLATE utf8mb4_general_ci: texts compare by code points; compare lower(x), or use ILIKE, to make no difference of size";
  checkUnsupported("SELECT a COLLATE utf8mb4_general_ci", construct(folding, 18));
  check(
    "SELECT a COLLATE x",
    "Invalid SQL syntax: unknown collation 'x'; texts compare by code points, as with utf8mb4_bin at Line: 1, Column: 18",
  );
  checkUnsupported("SELECT a -> 'b'", construct("operator ->; json_get(j, path) and its kin read members of JSON", 11));
  checkUnsupported("SELECT a ->> 'b'", construct("operator ->>; json_get(j, path) and its kin read members of JSON", 11));
});

test("names statements that are not served", () => {
  const statement = (name: string, column = 1): string => `SQL statement is not supported, keyword: ${name} at Line: 1, Column: ${column}`;
  checkUnsupported("vacuum t", statement("VACUUM"));
  checkUnsupported("SELECT 1; MERGE INTO t", statement("MERGE", 11));
  checkUnsupported("ALTER FLOW f SET x = 1", statement("ALTER FLOW", 7));
  checkUnsupported("CREATE OR REPLACE TRIGGER t", statement("CREATE OR REPLACE TRIGGER", 19));
  checkUnsupported("SHOW GRANTS", statement("SHOW GRANTS", 6));
  checkUnsupported("SELEC 1", "SQL statement is not supported, keyword: 'SELEC', expected a statement at Line: 1, Column: 1");
});
