/** Keys of DISTINCT: equal for what SQL groups together; a key is new once. */
import { expect, test } from "bun:test";
import { DistinctKeys, keyOf } from "./distinct-keys.ts";

test("keys are equal for values of one group, and only for them", () => {
  expect(keyOf([5])).toBe(keyOf([5n]));
  expect(keyOf([2n ** 60n])).not.toBe(keyOf([2n ** 60n + 1n]));
  expect(keyOf([1, 2])).not.toBe(keyOf([12]));
  expect(keyOf(["5"])).not.toBe(keyOf([5]));
  expect(keyOf([undefined])).not.toBe(keyOf([""]));
});

/** How many of the numbers below `count` had not come. */
function countOfNew(keys: DistinctKeys, count: number): number {
  let found = 0;
  for (let i = 0; i < count; i++) if (keys.add(i)) found++;
  return found;
}

test("a key is new once, among few and among many", () => {
  for (const count of [0, 100, 32_767, 32_768, 100_000]) {
    const keys = new DistinctKeys();
    expect(countOfNew(keys, count)).toBe(count);
    const others = ["s1:a", "n", Number.NaN, 0.5, -1];
    for (const key of others) expect(keys.add(key)).toBe(true);
    for (const key of [...others, -Number.NaN]) expect(keys.add(key)).toBe(false);
    expect(countOfNew(keys, count)).toBe(0);
    if (count > 0) expect(keys.add(-0)).toBe(false);
  }
});
