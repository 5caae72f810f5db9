import { expect, test } from "bun:test";
import { parseSql } from "./parse.ts";
import { ParsedTexts } from "./parsed-texts.ts";

test("a query's tree is made once", () => {
  const texts = new ParsedTexts();
  const first = texts.parse("SELECT a FROM t WHERE b = 1");
  expect(first).toEqual(parseSql("SELECT a FROM t WHERE b = 1"));
  expect(texts.parse("SELECT a FROM t WHERE b = 1")).toBe(first);
  expect(texts.parse("SELECT a FROM t WHERE b = 2")).not.toEqual(first);
});

test.each(["INSERT INTO t VALUES (1)", "SHOW TABLES", "SELECT 1; DELETE FROM t", `SELECT '${"x".repeat(3000)}'`])(
  "%p is not kept",
  (text) => {
    const texts = new ParsedTexts();
    expect(texts.parse(text)).not.toBe(texts.parse(text));
  },
);

test("a text that does not parse fails every time", () => {
  const texts = new ParsedTexts();
  for (let i = 0; i < 2; i++) expect(() => texts.parse("SELECT FROM WHERE")).toThrow("syntax");
});

test("texts that were not used for longest go, by number and by length", () => {
  const many = new ParsedTexts();
  const kept = many.parse("SELECT 0");
  const gone = many.parse("SELECT 1");
  for (let i = 2; i < 257; i++) {
    many.parse(`SELECT ${i}`);
    expect(many.parse("SELECT 0")).toBe(kept);
  }
  expect(many.parse("SELECT 1")).not.toBe(gone);
  const long = new ParsedTexts();
  const first = long.parse("SELECT 0");
  for (let i = 0; i < 50; i++) long.parse(`SELECT '${"y".repeat(2000)}', ${i}`);
  expect(long.parse("SELECT 0")).not.toBe(first);
});
