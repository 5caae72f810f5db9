import { expect, test } from "bun:test";
import { Seldom } from "./seldom.ts";

test("says a few in each stretch of time, and then how many it did not say", () => {
  let now = 0;
  const seldom = new Seldom({ monotonicMillis: () => now }, 2, 1000);
  const take = (count: number): (number | undefined)[] => Array.from({ length: count }, () => seldom.take());
  expect(take(4)).toEqual([0, 0, undefined, undefined]);
  now = 999;
  expect(take(1)).toEqual([undefined]);
  now = 1000;
  expect(take(3)).toEqual([3, 0, undefined]);
});
