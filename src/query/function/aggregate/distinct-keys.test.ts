/** Keys of DISTINCT: equal for what SQL groups together. */
import { expect, test } from "bun:test";
import { keyOf } from "./distinct-keys.ts";

test("keys are equal for values of one group, and only for them", () => {
  expect(keyOf([5])).toBe(keyOf([5n]));
  expect(keyOf([2n ** 60n])).not.toBe(keyOf([2n ** 60n + 1n]));
  expect(keyOf([1, 2])).not.toBe(keyOf([12]));
  expect(keyOf(["5"])).not.toBe(keyOf([5]));
  expect(keyOf([undefined])).not.toBe(keyOf([""]));
});
