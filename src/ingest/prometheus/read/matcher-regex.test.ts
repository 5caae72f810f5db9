import { describe, expect, test } from "bun:test";
import { failureOf } from "../../../../test/support/failure-of.ts";
import { matcherRegex } from "./matcher-regex.ts";

function check(pattern: string, meets: readonly string[], misses: readonly string[]): void {
  const matches = matcherRegex(pattern);
  for (const text of meets) expect([pattern, text, matches(text)]).toEqual([pattern, text, true]);
  for (const text of misses) expect([pattern, text, matches(text)]).toEqual([pattern, text, false]);
}

describe("an expression", () => {
  test("meets a text anywhere, unless it is bound to an end", () => {
    check("b+", ["b", "abbc"], ["", "ac"]);
    check("^b$", ["b"], ["ab", "bc"]);
    check("", ["", "a"], []);
    check("a|b.c", ["xa", "b\nc", "büc"], ["bc"]);
  });

  test("has the classes and the flags of RE2", () => {
    check("(?i)web-\\d{2}", ["WEB-01"], ["web-1"]);
    check("\\p{Greek}[[:digit:]]", ["α1"], ["a1"]);
  });

  test("takes time linear in the text where the runtime's engine takes for ever", () => {
    check("(a+)+$", [], [`${"a".repeat(5000)}b`]);
    check("(a|a)*(a|a)*(a|a)*c", [], ["a".repeat(5000)]);
  });

  test("is refused when it is none, looks back, or is too large", async () => {
    for (const pattern of ["(", "a**", "(a)\\1", "(?=a)", "[b-a]", "a{2000}", `(?:${"a{100}".repeat(10)}){9}`]) {
      const { message } = await failureOf(Promise.try(() => matcherRegex(pattern)));
      expect(message).toMatch(/^Invalid prometheus remote request, msg: .*regular expression/);
    }
  });

  test("is stopped when it takes too many steps over all texts", async () => {
    const matches = matcherRegex("(?:abcdefghij){200}");
    const many = Promise.try(() => {
      for (let i = 0; i < 100; i++) matches("x".repeat(100_000));
    });
    const { message } = await failureOf(many);
    expect(message).toMatch(/takes too many steps/);
  });
});
