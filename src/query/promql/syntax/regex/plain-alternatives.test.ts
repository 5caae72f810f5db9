import { expect, test } from "bun:test";
import fc from "fast-check";
import { plainAlternatives } from "./plain-alternatives.ts";

const LISTS: readonly (readonly [pattern: string, texts: readonly string[] | undefined])[] = [
  ["", [""]],
  ["a|b", ["a", "b"]],
  ["(a|b)", ["a", "b"]],
  ["(?:a|b)", ["a", "b"]],
  ["^(a|b)$", ["a", "b"]],
  ["^a|b$", ["a", "b"]],
  ["(10\\.0\\.0\\.1:9100|x\\(y\\))", ["10.0.0.1:9100", "x(y)"]],
  ["(a\\\\)", ["a\\"]],
  ["(a\\)", undefined],
  ["a\\$", ["a$"]],
  ["(a|b", undefined],
  ["a|b)", undefined],
  ["(a)(b)", undefined],
  ["((a|b))", undefined],
  ["(a|b)|c", undefined],
  ["(", undefined],
  ["^^a", undefined],
  ["(?i:a)", undefined],
  ["a\\d", undefined],
  ["()", [""]],
];

test("lists of texts are told apart from other patterns", () => {
  expect(LISTS.map(([pattern]) => [pattern, plainAlternatives(pattern)])).toEqual(LISTS.map((each) => [...each]));
});

test("a list has the texts that the expression matches", () => {
  const piece = fc.constantFrom("a", "b", "|", "(", ")", "(?:", "^", "$", "\\", ".", "\\.", "");
  const samples = ["", "a", "b", "ab", "a.", ".", "(", ")", "$", "^", "|", "a|b", "\\", "aa", "(a"];
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const texts = plainAlternatives(pieces.join(""));
      if (texts === undefined) return;
      const regex = new RegExp(`^(?:${pieces.join("")})$`);
      for (const sample of [...samples, ...texts])
        expect([pieces.join(""), sample, texts.includes(sample)]).toEqual([pieces.join(""), sample, regex.test(sample)]);
    }),
    { seed: 20_261_123, numRuns: 3000 },
  );
});
