import { expect, test } from "bun:test";
import { isIntervalUnit, parseInterval } from "./parse-interval.ts";

const SECOND = 1_000_000_000n;

function check(text: string, months: number, days: number, nanos: bigint): void {
  expect(parseInterval(text), text).toEqual({ months, days, nanos });
}

function checkRejects(text: string): void {
  expect(parseInterval(text), text).toBeUndefined();
}

test("reads amounts with units", () => {
  check("1 day", 0, 1, 0n);
  check("1 year 2 months 3 days 4 hours", 14, 3, 14_400n * SECOND);
  check("1 decade 1 century 1 quarter", 1323, 0, 0n);
  check("2 weeks", 0, 14, 0n);
  check("  5   MINUTES ", 0, 0, 300n * SECOND);
  check("1 millisecond 1 microsecond 1 nanosecond", 0, 0, 1_001_001n);
});

test("reads short units without blanks", () => {
  check("5s", 0, 0, 5n * SECOND);
  check("1h30m", 0, 0, 5400n * SECOND);
  check("1d2h", 0, 1, 7200n * SECOND);
  check("10ms5us3ns", 0, 0, 10_005_003n);
  check("1y1mon1w", 13, 7, 0n);
  check("7µs", 0, 0, 7000n);
});

test("reads signs of each amount", () => {
  check("-1 day", 0, -1, 0n);
  check("1 day -2 hours", 0, 1, -7200n * SECOND);
  check("+3 months", 3, 0, 0n);
});

test("reads a clock part", () => {
  check("1 day 02:03:04.5", 0, 1, 7384n * SECOND + 500_000_000n);
  check("10:30", 0, 0, 37_800n * SECOND);
  check("-00:00:01", 0, 0, -SECOND);
  check("100:00:00", 0, 0, 360_000n * SECOND);
  checkRejects("10:60");
  checkRejects("10:00:60");
});

test("reads ISO 8601", () => {
  check("P3Y3M700DT133H17M36.789S", 39, 700, 479_856_789_000_000n);
  check("P1W", 0, 7, 0n);
  check("PT5M", 0, 0, 300n * SECOND);
  check("-P1DT2H", 0, -1, -7200n * SECOND);
  check("P-1D", 0, -1, 0n);
  check("-P-1D", 0, 1, 0n);
  check("pt1s", 0, 0, SECOND);
  for (const text of ["P", "PT", "P1", "P1H", "PT1D", "P1DT", "PTT1S", "P1D 2", "PP1D"]) checkRejects(text);
});

test("lets fractions flow to smaller parts", () => {
  check("1.5 hours", 0, 0, 5400n * SECOND);
  check("1.5 days", 0, 1, 43_200n * SECOND);
  check("0.5 months", 0, 15, 0n);
  check("1.5 years", 18, 0, 0n);
  check(".5 weeks", 0, 0, 302_400n * SECOND);
  check("1.5 weeks", 0, 7, 302_400n * SECOND);
  check("0.1 seconds", 0, 0, 100_000_000n);
  check("0.0000000001 s", 0, 0, 0n);
  check("-1.5 days", 0, -1, -43_200n * SECOND);
});

test("reads a bare number as seconds", () => {
  check("3", 0, 0, 3n * SECOND);
  check("-1.5", 0, 0, -1_500_000_000n);
});

test("refuses texts that are no interval", () => {
  for (const text of ["", " ", "day", "1 foo", "1 day foo", "1 day,", "--1 day", "1e3 s", "one day", "1 day 2", "x".repeat(300)])
    checkRejects(text);
});

test("refuses what does not fit", () => {
  check("2147483647 months", 2147483647, 0, 0n);
  check("-2147483648 days", 0, -2147483648, 0n);
  checkRejects("2147483648 months");
  checkRejects("300000000 years");
  checkRejects("9223372037 seconds");
  check("9223372036 seconds", 0, 0, 9_223_372_036n * SECOND);
});

test("knows its units in any case", () => {
  for (const word of ["day", "DAYS", "h", "Mins", "ns"]) expect(isIntervalUnit(word)).toBe(true);
  for (const word of ["", "parsec", "dayz"]) expect(isIntervalUnit(word)).toBe(false);
});
