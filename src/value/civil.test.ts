import { describe, expect, test } from "bun:test";
import { floorDivide, floorModulo, floorTo, secondsAndFraction } from "./civil.ts";

test("divides towards the past", () => {
  expect([floorDivide(7n, 2n), floorModulo(7n, 2n)]).toEqual([3n, 1n]);
  expect([floorDivide(-7n, 2n), floorModulo(-7n, 2n)]).toEqual([-4n, 1n]);
  expect([floorDivide(-8n, 2n), floorModulo(-8n, 2n)]).toEqual([-4n, 0n]);
});

test("seconds and what is left of them, before 1970 too", () => {
  expect(secondsAndFraction(1_500n, 1000)).toEqual({ seconds: 1, fraction: 500 });
  expect(secondsAndFraction(-1n, 1_000_000_000)).toEqual({ seconds: -1, fraction: 999_999_999 });
  expect(secondsAndFraction(-2_000n, 1000)).toEqual({ seconds: -2, fraction: 0 });
  expect(secondsAndFraction(7n, 1)).toEqual({ seconds: 7, fraction: 0 });
});

describe("the floor of a time", () => {
  const cases: readonly (readonly [time: bigint, step: bigint, want: bigint])[] = [
    [0n, 10n, 0n],
    [9n, 10n, 0n],
    [10n, 10n, 10n],
    [-1n, 10n, -10n],
    [-10n, 10n, -10n],
    [-11n, 10n, -20n],
    [2n ** 63n - 1n, 2n, 2n ** 63n - 2n],
    [-(2n ** 63n), 3n, -9_223_372_036_854_775_809n],
  ];
  test.each(cases)("%d by %d is %d", (time, step, want) => expect(floorTo(time, step)).toBe(want));
});
