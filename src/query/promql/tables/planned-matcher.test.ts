/** A matcher as a condition of a plan takes the values that the matcher takes. */
import { expect, test } from "bun:test";
import { evaluate } from "../../expression/interpreter.ts";
import type { LabelMatcher } from "../syntax/ast.ts";
import { labelTest } from "./label-test.ts";
import { plannedMatcher } from "./planned-matcher.ts";

const VALUES = [undefined, "", "a", "ab", "b", "a\nb", "A", "ä", "1", "host-1", ".", "a.b", "^a$"];

test.each([
  ["!=", "a"],
  ["!=", ""],
  ["=~", "a.*"],
  ["=~", ".+"],
  ["=~", ".*"],
  ["=~", "a|b."],
  ["=~", "(?i)a"],
  ["=~", "^a$"],
  ["=~", "[^a]"],
  ["=~", "host-[0-9]+"],
  ["=~", "a\\.b"],
  ["!~", "a.*"],
  ["!~", "a|b"],
  ["!~", ".+"],
  ["!~", ""],
] as const)("%s %p", (operator, value) => {
  const matcher = { name: "l", operator, value } as LabelMatcher;
  const [own, planned] = [labelTest(matcher), plannedMatcher(matcher)];
  if (planned === undefined) throw new Error("it has a condition");
  for (const each of VALUES) {
    const got = evaluate(planned.condition, () => each, planned.environment) === true;
    expect([each, got]).toEqual([each, own(each ?? "")]);
  }
});

test("classes mean something else in SQL, and a list of values needs no condition", () => {
  for (const [operator, value] of [
    ["=~", "\\d+"],
    ["!~", "[\\w]"],
    ["=", "a"],
  ] as const) {
    expect(plannedMatcher({ name: "l", operator, value } as LabelMatcher)).toBeUndefined();
  }
});
