import { expect, test } from "bun:test";
import { textAt, textTableOf } from "../../../column/text-table.ts";
import { usedCodes } from "./used-codes.ts";

const STRINGS = [undefined, "a", "b", "c", "d"];

test.each([
  [[], [], [undefined]],
  [
    [3, 3, 1],
    [1, 1, 2],
    [undefined, "c", "a"],
  ],
  [
    [0, 4, 0],
    [0, 1, 0],
    [undefined, "d"],
  ],
] as const)("codes %p become %p", (given, codes, dictionary) => {
  const codeOf = Uint32Array.of(9, ...given); // Run r is of series r + 1.
  const used = usedCodes(
    Uint32Array.from(given.keys(), (run) => run + 1),
    codeOf,
    textTableOf(STRINGS),
  );
  expect([...used.codes]).toEqual([...codes]);
  expect(Array.from({ length: used.texts.size }, (_, code) => textAt(used.texts, code))).toEqual([...dictionary]);
});
