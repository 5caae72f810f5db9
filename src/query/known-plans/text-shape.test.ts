import { expect, test } from "bun:test";
import { shapeOf } from "./text-shape.ts";

/** The constants of a text's shape as text; undefined where it has none. */
function constants(text: string): readonly string[] | undefined {
  return shapeOf(text)?.constants.map((each) => `${each.kind} ${each.text} @${each.offset}`);
}

test("texts and numbers leave the text, with where they stood", () => {
  expect(constants("SELECT a1 FROM t2 WHERE b = 'it''s' AND c < 25 AND d = 1.5 ")).toEqual([
    "string it's @28",
    "number 25 @44",
    "number 1.5 @55",
  ]);
});

test("texts that differ in constants alone have one shape, and no others", () => {
  const shape = shapeOf("SELECT a FROM t WHERE b = 'x' AND c < 1")?.shape;
  expect(shapeOf("SELECT a FROM t WHERE b = '' AND c < 12345.6")?.shape).toBe(shape ?? "none");
  for (const other of [
    "SELECT a FROM t WHERE b = 1 AND c < 'x'",
    "SELECT a FROM t WHERE b = 'x' AND c < -1",
    "SELECT a FROM t WHERE b = 'x'  AND c < 1",
    'SELECT a FROM t WHERE b = "x" AND c < 1',
    "select a FROM t WHERE b = 'x' AND c < 1",
    "SELECT a FROM t WHERE b = 'x' AND c < 1;",
  ]) {
    expect(shapeOf(other)?.shape).toBeDefined();
    expect(shapeOf(other)?.shape).not.toBe(shape ?? "none");
  }
});

test("names keep their digits, quoted ones all they hold", () => {
  expect(constants("SELECT h1, \"a 2 'x'\", `b 3` FROM t4")).toEqual([]);
});

test("what needs a second look has no shape", () => {
  for (const text of [
    "INSERT INTO t VALUES (1)",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "SELECT 1 -- one",
    "SELECT /* one */ 1",
    "SELECT E'a\\'b'",
    "SELECT U&'a'",
    "SELECT X'00'",
    "SELECT $1",
    "SELECT $$a$$",
    "SELECT a$b FROM t",
    "SELECT ?",
    "SELECT 1e5",
    "SELECT 0x1F",
    "SELECT .5",
    "SELECT 1.",
    "SELECT 1.2.3",
    "SELECT 5m",
    "SELECT 'a",
    'SELECT "a',
    "SELECT é FROM t",
    "SELECT\u200b1",
    'SELECT "\u0001"',
    `SELECT '${"x".repeat(3000)}'`,
    `SELECT ${Array.from({ length: 200 }, () => "1").join(", ")}`,
  ]) {
    expect(shapeOf(text)).toBeUndefined();
  }
});
