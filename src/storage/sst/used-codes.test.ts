import { expect, test } from "bun:test";
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
  const used = usedCodes(given.length, (run) => given[run] ?? 0, STRINGS);
  expect([...used.codes]).toEqual([...codes]);
  expect(used.dictionary).toEqual([...dictionary]);
});
