import { describe, expect, test } from "bun:test";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { fullTextQueryOf, meetsFullTextQuery } from "./full-text-query.ts";

const TEXTS: readonly string[] = ["red apple", "green apple pie", "Apple AND pear", "pear + plum", 'say "red" (twice)', "apples-and-pears"];

/** Which of the texts a query finds. */
function check(query: string, want: readonly number[]): void {
  const parsed = fullTextQueryOf(query);
  expect([...TEXTS.keys()].filter((i) => meetsFullTextQuery(parsed, TEXTS[i]!))).toEqual([...want]);
}

describe("finds", () => {
  test("a term anywhere, case and all", () => check("apple", [0, 1, 5]));
  test("any of several terms", () => check("red plum", [0, 3, 4]));
  test("either side of OR", () => check("red OR plum", [0, 3, 4]));
  test("both sides of AND", () => check("green AND apple", [1]));
  test("AND before OR", () => check("plum OR green AND apple", [1, 3]));
  test("AND before terms beside each other", () => check("green AND apple plum", [1, 3]));
  test("terms that must be there", () => check("+apple +green", [1]));
  test("must-have terms, whatever else is named", () => check("+apple plum", [0, 1, 5]));
  test("what does not hold a term", () => check("apple -red", [1, 5]));
  test("nothing but what does not hold a term", () =>
    check(
      "-apple -pear",
      [4].concat(2).filter((i) => i === 4),
    ));
  test("AND with something left out", () => check("apple AND -red", [1, 5]));
  test("OR with something left out", () => check("plum OR -apple", [2, 3, 4]));
  test("groups", () => check("(red OR green) AND apple", [0, 1]));
  test("signed groups", () => check("+(red green) -pie", [0, 4]));
  test("a group that must not hold", () => check("apple -(red OR pie)", [5]));
  test("groups beside each other", () => check("(+apple +green) plum", [1, 3]));
  test("phrases", () => check('"apple pie"', [1]));
  test("a quote in a phrase", () => check('"say \\"red\\""', [4]));
  test("operators in quotes", () => check('"AND"', [2]));
  test("operators after a backslash", () => check("\\AND", [2]));
  test("signs after a backslash", () => check("\\+", [3]));
  test("parentheses after a backslash", () => check("\\(twice\\)", [4]));
  test("signs within a term", () => check("apples-and", [5]));
  test("words like operators in lower case", () => check("and", [5]));
  test("wildcards of LIKE as they are", () => check("%", []));
  test("a phrase right behind a term", () => check('plum"apple pie"', [1, 3]));
  test("nothing for no terms", () => check("  ", []));
  test("everything for an empty phrase", () => check('""', [0, 1, 2, 3, 4, 5]));
});

/** Why a query does not parse. */
function refusalOf(query: string): string {
  try {
    fullTextQueryOf(query);
  } catch (error) {
    if (error instanceof DbError && error.code === StatusCode.InvalidArguments) return error.message;
    throw error;
  }
  return "it parses";
}

describe("is refused", () => {
  const refuse = (query: string, at: number, why: string): void => {
    expect(refusalOf(query)).toBe(`cannot parse full-text query '${query}' at character ${at}: ${why}`);
  };
  const TERM = 'a term, a "phrase" or ( belongs here';
  test("AND without a right side", () => refuse("a AND", 6, TERM));
  test("AND without a left side", () => refuse("AND a", 1, TERM));
  test("OR without a right side", () => refuse("a OR ", 6, "a term belongs here"));
  test("OR without a left side", () => refuse("OR", 1, "a term belongs here"));
  test("a sign before nothing", () => refuse("a +", 4, TERM));
  test("two signs", () => refuse("--a", 2, TERM));
  test("a parenthesis that is not closed", () => refuse("(a", 3, "a ( is not closed"));
  test("a parenthesis that is not opened", () => refuse("a)", 2, "there is no ( for this )"));
  test("an empty group", () => refuse("()", 2, "a term belongs here"));
  test("a phrase that is not closed", () => refuse('a "b', 3, 'the phrase has no closing "'));
  test("too deep a nesting", () => {
    expect(refusalOf(`${"(".repeat(100)}a${")".repeat(100)}`)).toContain("more than 64 parentheses");
  });
  test("too long a query", () => {
    expect(refusalOf("a ".repeat(40_000))).toContain("longer than 65536 characters");
  });
});
