import { expect, test } from "bun:test";
import fc from "fast-check";
import { likeTest } from "./like.ts";

function check(text: string, pattern: string, want: boolean, insensitive = false, escape?: string): void {
  expect([text, pattern, likeTest(pattern, escape, insensitive)(text)]).toEqual([text, pattern, want]);
}

test("matches whole texts", () => {
  check("abc", "abc", true);
  check("abc", "a%", true);
  check("abc", "%b%", true);
  check("abc", "_b_", true);
  check("abc", "a%c%", true);
  check("a😀c", "a_c", true);
  check("a😀", "%_", true);
  check("ab", "a%b%c", false);
  check("aba", "ab%ba", false);
  check("abc", "ab", false);
  check("", "%", true);
  check("", "_", false);
  check("😀", "__", false);
});

test("escapes", () => {
  check("a%b", "a\\%b", true);
  check("axb", "a\\%b", false);
  check("a_b", "a!_b", true, false, "!");
  check("a\\", "a\\", true);
});

test("knows letters of both cases", () => {
  check("ÄPFEL", "ä%l", true, true);
  check("Apfel", "a%L", false);
  check("STRASSE", "str%SE", true, true);
  check("ΟΔΟΣ", "_δος", true, true);
  check("ß", "_", true, true);
});

test("agrees with a regular expression", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "😀"), maxLength: 8 });
  const patterns = fc.string({ unit: fc.constantFrom("a", "b", "😀", "%", "_"), maxLength: 6 });
  fc.assert(
    fc.property(letters, patterns, (text, pattern) => {
      const oracle = new RegExp(`^${pattern.replaceAll("%", "[^]*").replaceAll("_", "[^]")}$`, "u");
      expect([text, pattern, likeTest(pattern, undefined, false)(text)]).toEqual([text, pattern, oracle.test(text)]);
    }),
    { seed: 7, numRuns: 3000 },
  );
});

test("takes no longer on texts made against it", () => {
  check(`${"a".repeat(5000)}`, `${"%a".repeat(40)}%b`, false);
});
