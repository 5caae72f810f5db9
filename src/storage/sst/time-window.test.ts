import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { floorTo } from "../../value/civil.ts";
import { FILES_PER_GROUP_MAX, groupLength, groupStartOf, windowLengthFor } from "./time-window.ts";

const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];
const DAY = 86_400;

describe("groups and windows", () => {
  test("a group is 64 days in every unit, exact in a double", () => {
    for (const unit of UNITS) {
      expect(groupLength(unit)).toBe(64 * DAY * UNITS_PER_SECOND[unit]);
      expect(Number.isSafeInteger(groupLength(unit))).toBe(true);
    }
  });

  test("hold every 64-bit time, and nest", () => {
    const time = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(
      fc.property(fc.constantFrom(...UNITS), time, time, (unit, at, other) => {
        const group = BigInt(groupLength(unit));
        const start = groupStartOf(at, unit);
        expect(start % group).toBe(0n);
        expect(at >= start && at < start + group).toBe(true);
        const clamped = other < start ? start : other >= start + group ? start + group - 1n : other;
        const [min, max] = at < clamped ? [at, clamped] : [clamped, at];
        const length = BigInt(windowLengthFor(min, max, unit));
        expect(group % length).toBe(0n);
        const windows = (floorTo(max, length) - floorTo(min, length)) / length + 1n;
        expect(windows <= BigInt(FILES_PER_GROUP_MAX)).toBe(true);
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  test("are wider when narrow ones would be too many", () => {
    const day = BigInt(DAY * 1e9);
    const check = (min: bigint, max: bigint, days: number): void => expect(windowLengthFor(min, max, "nanosecond")).toBe(days * DAY * 1e9);
    check(5n, 5n, 1);
    check(0n, 32n * day - 1n, 1);
    check(0n, 32n * day, 8);
    check(-64n * day, -1n, 8);
    check(-day, -1n, 1);
  });
});
