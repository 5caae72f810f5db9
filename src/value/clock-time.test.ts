import { expect, test } from "bun:test";
import fc from "fast-check";
import { clockNanosOfText, clockOfTimestamp, clockText, rescaledClock, unitsPerDay } from "./clock-time.ts";

test("reads times of day", () => {
  const check = (text: string, want: number | undefined): void => expect([text, clockNanosOfText(text)]).toEqual([text, want]);
  check("00:00:00", 0);
  check(" 23:59:59.999999999 ", 86_399_999_999_999);
  check("7:05", 25_500_000_000_000);
  check("12:30:00,5", 45_000_500_000_000);
  check("12:30:00.1234567899", 45_000_123_456_789);
  for (const text of ["", "24:00:00", "12:60", "12:00:60", "12", "12:00:00.", "-1:00", "12:00:00Z", "noon"]) check(text, undefined);
});

test("prints a fraction of three, six or nine digits", () => {
  expect(clockText(0, "second")).toBe("00:00:00");
  expect(clockText(86_399, "second")).toBe("23:59:59");
  expect(clockText(45_000_500, "millisecond")).toBe("12:30:00.500");
  expect(clockText(45_000_000_001, "microsecond")).toBe("12:30:00.000001");
  expect(clockText(45_000_000_000_001, "nanosecond")).toBe("12:30:00.000000001");
});

test("texts come back in every unit, and units cut off", () => {
  for (const unit of ["second", "millisecond", "microsecond", "nanosecond"] as const) {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number(unitsPerDay(unit)) - 1 }), (value) => {
        const nanos = clockNanosOfText(clockText(value, unit));
        expect(rescaledClock(nanos ?? -1, "nanosecond", unit)).toBe(value);
        expect(rescaledClock(rescaledClock(value, unit, "second"), "second", unit)).toBeLessThanOrEqual(value);
      }),
      { seed: 24, numRuns: 100 },
    );
  }
});

test("the time of day of instants before 1970 counts forward", () => {
  expect(clockOfTimestamp(-1n, "second")).toBe(86_399);
  expect(clockOfTimestamp(-(2n ** 63n), "nanosecond")).toBe(Number((-(2n ** 63n) % 86_400_000_000_000n) + 86_400_000_000_000n));
});
