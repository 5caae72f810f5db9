import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { civilFromDays, daysFromCivil } from "./civil.ts";
import { durationParts, formatTimestamp } from "./format-time.ts";
import { intervalText } from "./interval/interval-text.ts";
import { parseInterval } from "./interval/parse-interval.ts";
import { dayOfText, parseDate, parseTimestamp } from "./parse-time.ts";

const SECOND = 1_000_000_000n;

test("days and dates turn into each other like the runtime's calendar", () => {
  fc.assert(
    fc.property(fc.integer({ min: -10_000_000, max: 10_000_000 }), (days) => {
      const { year, month, day } = civilFromDays(days);
      const wanted = new Date(days * 86_400_000);
      expect([year, month, day]).toEqual([wanted.getUTCFullYear(), wanted.getUTCMonth() + 1, wanted.getUTCDate()]);
      expect(daysFromCivil(year, month, day)).toBe(days);
    }),
    { seed: 1 },
  );
});

describe("timestamps as text", () => {
  function check(text: string, zone: string, want: bigint | undefined): void {
    expect([text, zone, parseTimestamp(text, zone)]).toEqual([text, zone, want]);
  }

  test("are read in their own zone or the session's", () => {
    check("1970-01-01T00:00:01Z", "+08:00", SECOND);
    check("1970-01-01 08:00:00", "+08:00", 0n);
    check("1970-01-01 08:00:00", "Asia/Shanghai", 0n);
    check("1970-01-01T00:00:00-07:30", "UTC", 27_000n * SECOND);
    check("  1970-01-02 ", "UTC", 86_400n * SECOND);
    check("1970-01-01 00:00:00.123456789", "UTC", 123_456_789n);
    check("2024-02-29 12:30", "UTC", 1_709_209_800n * SECOND);
  });

  test("read the same in the form that programs write, which has a way of its own, as with a blank behind, which has not", () => {
    const two = fc.constantFrom("00", "01", "02", "09", "12", "13", "23", "24", "28", "29", "30", "31", "32", "59", "60", "61", "1x", ":0");
    const parts = fc.record({
      year: fc.constantFrom("0000", "0001", "1900", "1970", "2000", "2023", "2024", "9999", "+202", "20 4"),
      clock: fc.tuple(two, two, two, two, two),
      marks: fc.constantFrom("-- ::.", "--T::.", "--t::.", "--  ::.", "-/ ::.", "-- .:.", "-- ::,", "--_::."),
      fraction: fc.constantFrom("", "5", "500", "123456", "123456789", "1234567891", "12x", "-1", "1Z"),
    });
    const [UNLIKELY, ZONES] = [1, ["UTC", "+08:00", "America/New_York"]];
    let read = 0;
    fc.assert(
      fc.property(parts, fc.nat({ max: 9 }), ({ year, clock: [month, day, hour, minute, second], marks, fraction }, luck) => {
        const usual = luck > UNLIKELY; // Of all parts free, few texts would be times.
        const [a, b, c, d, e, point] = usual ? "-- ::." : marks.split("");
        const fields = usual ? ["02", "28", "23", "59", "59"] : [month, day, hour, minute, second];
        const clock = `${fields[2]}${d}${fields[3]}${e}${fields[4]}${fraction === "" ? "" : `${point}${fraction}`}`;
        const text = `${year}${a}${fields[0]}${b}${fields[1]}${c}${clock}`;
        for (const zone of ZONES) {
          const time = parseTimestamp(text, zone);
          expect([text, zone, time]).toEqual([text, zone, parseTimestamp(`${text} `, zone)]);
          if (time !== undefined) read += 1;
        }
      }),
      { seed: 11, numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(1000);
  });

  test("are refused when they are none", () => {
    for (const text of [
      "",
      "blabla",
      "2024-13-01",
      "2023-02-29",
      "2024-01-01 25:00:00",
      "2024-01-01T00:00:00+99:00",
      "12:00:00",
      "2024-01-01x",
    ])
      check(text, "UTC", undefined);
    expect(parseDate("2024-02-30")).toBeUndefined();
  });

  test("print with as many digits as needed", () => {
    expect(formatTimestamp(1n, "millisecond")).toBe("1970-01-01T00:00:00.001");
    expect(formatTimestamp(-1n, "nanosecond")).toBe("1969-12-31T23:59:59.999999999");
    expect(formatTimestamp(1_704_067_200n, "second")).toBe("2024-01-01T00:00:00");
    expect(durationParts(90_061_500n, "millisecond")).toBe("1 days 1 hours 1 mins 1.500 secs");
    expect(durationParts(-90_061n, "second")).toBe("-1 days -1 hours -1 mins -1 secs");
    expect(durationParts(-1n, "nanosecond")).toBe("0 days 0 hours 0 mins -0.000000001 secs");
  });

  test("have years of any size and sign, and read back", () => {
    const check = (seconds: bigint, text: string): void => {
      expect([formatTimestamp(seconds, "second"), parseTimestamp(text, "UTC")]).toEqual([text, seconds * SECOND]);
    };
    check(-62_135_596_800n, "0001-01-01T00:00:00");
    check(-60_589_296_001n, "0049-12-31T23:59:59");
    check(-59_011_459_201n, "0099-12-31T23:59:59");
    check(-62_135_596_801n, "0000-12-31T23:59:59");
    check(-62_198_755_200n, "-0001-01-01T00:00:00");
    check(-74_784_816_000n, "-0400-03-01T00:00:00");
    check(253_402_300_800n, "+10000-01-01T00:00:00");
    check(9_223_372_036_854n, "+294247-01-10T04:00:54"); // beyond the dates of the runtime
  });

  test("give their day, in UTC", () => {
    expect(["2024-01-31", "20240131", "2024-01-31 23:59:59", "2024-02-01T00:30:00+01:00", "x"].map(dayOfText)).toEqual([
      19_753,
      19_753,
      19_753,
      19_753,
      undefined,
    ]);
  });
});

describe("intervals", () => {
  test("are read in several spellings", () => {
    const check = (text: string, want: readonly [number, number, bigint] | undefined): void => {
      const got = parseInterval(text);
      expect([text, got && [got.months, got.days, got.nanos]]).toEqual([text, want as never]);
    };
    check("1 year 2 months 3 days 4 hours", [14, 3, 14_400n * SECOND]);
    check("5s", [0, 0, 5n * SECOND]);
    check("1h30m", [0, 0, 5400n * SECOND]);
    check("P3Y3M700DT133H17M36.789S", [39, 700, 133n * 3600n * SECOND + 17n * 60n * SECOND + 36_789_000_000n]);
    check("-1 day", [0, -1, 0n]);
    check("1 parsec", undefined);
    check("", undefined);
  });

  test("print part by part", () => {
    expect(intervalText({ months: 14, days: 3, nanos: 14_706_000_100_000n })).toBe("14 mons 3 days 4 hours 5 mins 6.000100000 secs");
  });
});
