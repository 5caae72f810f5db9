import { expect, test } from "bun:test";
import { LaneClock } from "./lane-clock.ts";

test("time passes by either clock, and does not go back", () => {
  let [monotonic, wall] = [5, 1_700_000_000_000];
  const clock = new LaneClock({ nowMillis: () => wall, nowNanos: () => 0n, monotonicMillis: () => monotonic });
  const at = (passed: number, byWall: number): number => {
    monotonic += passed;
    wall += byWall;
    return clock.now() - 5;
  };
  expect(at(0, 0)).toBe(0);
  expect(at(100, 100)).toBe(100);
  expect(at(100, 160)).toBe(200); // They do not run alike.
  expect(at(10, 60_010)).toBe(60_210); // The machine was suspended.
  expect(at(100, -3_600_000)).toBe(60_310); // Somebody set the clock back.
  expect(at(100, 100)).toBe(60_410);
});
