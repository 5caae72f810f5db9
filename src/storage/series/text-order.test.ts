import { expect, test } from "bun:test";
import fc from "fast-check";
import { compareTexts, textTableOf } from "../../column/text-table.ts";
import { sortByText } from "./text-order.ts";

/** Sorts all codes of these texts and expects the order of a comparison sort. */
function check(texts: readonly string[]): void {
  const table = textTableOf([undefined, ...texts]);
  const codes = Uint32Array.from({ length: table.size }, (_, i) => table.size - 1 - i);
  const want = [...codes].sort((a, b) => compareTexts(table, a, b));
  sortByText(codes, table);
  expect([...codes]).toEqual(want);
}

test("texts are in the order of their bytes, NULL first", () => {
  check([]);
  check(["", "a"]);
  check(["b", "a", "aa", "", "\0", "\u{1f600}", "\uffff", "é", "z".repeat(500), `${"z".repeat(499)}y`]);
});

test("long common prefixes, and many texts of few lengths", () => {
  check(Array.from({ length: 500 }, (_, i) => `${"prefix/".repeat(20)}${(i * 7919) % 500}`));
  check(Array.from({ length: 1000 }, (_, i) => String.fromCharCode(97 + (i % 26), 97 + ((i / 26) % 26), 97 + ((i / 676) % 26))));
});

test("any texts", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: "binary", maxLength: 6 }), { maxLength: 200 }), (texts) => {
      check([...new Set(texts.map((text) => text.toWellFormed()))]);
    }),
    { seed: 22, numRuns: 60 },
  );
});
