import { describe, expect, test } from "bun:test";
import { offsetSecondsAt, parseTimeZone, timeZoneNamed, utcSecondsOf } from "./time-zone.ts";

/** Seconds since the epoch of an ISO 8601 text in UTC; years beyond four digits have a sign. */
const at = (text: string): number => Date.parse(`${text}Z`) / 1000;

test("zones have one name each, and unknown ones none", () => {
  const names = ["utc", "+8:00", "-07:00", "asia/shanghai", "+24:00", "+1:60", "Mars/Olympus", ""];
  const want = ["UTC", "+08:00", "-07:00", "Asia/Shanghai", undefined, undefined, undefined, undefined];
  expect(names.map(parseTimeZone)).toEqual(want);
  expect(() => timeZoneNamed("Mars/Olympus")).toThrow("Invalid timezone string Mars/Olympus");
});

test("an offset is any of less than a day, either way", () => {
  expect(["+23:00", "-14:00", "+14:30", "-23:59", "+23:59"].map((zone) => offsetSecondsAt(parseTimeZone(zone) ?? "", 0) / 60)).toEqual([
    23 * 60,
    -14 * 60,
    14 * 60 + 30,
    -(24 * 60 - 1),
    24 * 60 - 1,
  ]);
});

describe("a named zone", () => {
  test("maps clock changes to one moment", () => {
    const zone = "Europe/Berlin";
    expect(utcSecondsOf(zone, at("2024-07-01T12:00:00"))).toBe(at("2024-07-01T10:00:00"));
    expect(utcSecondsOf(zone, at("2024-10-27T02:30:00"))).toBe(at("2024-10-27T00:30:00"));
    expect(utcSecondsOf(zone, at("2024-03-31T02:30:00"))).toBe(at("2024-03-31T01:30:00"));
  });

  test("changes at the second at which it changes", () => {
    const change = at("2024-03-31T01:00:00");
    expect([change - 1, change].map((second) => offsetSecondsAt("Europe/Berlin", second))).toEqual([3600, 7200]);
    const local = at("1893-03-31T23:06:32"); // local mean time ended here
    expect([local - 1, local].map((second) => offsetSecondsAt("Europe/Berlin", second))).toEqual([3208, 3600]);
    expect(offsetSecondsAt("Pacific/Apia", at("2011-12-30T09:59:59"))).toBe(-10 * 3600);
    expect(offsetSecondsAt("Pacific/Apia", at("2011-12-30T10:00:00"))).toBe(14 * 3600);
  });

  test("has its local mean time in years 1 to 99 and before Christ", () => {
    for (const moment of [
      "0050-06-01T00:00:00",
      "0001-01-01T00:00:00",
      "0099-12-31T23:59:59",
      "0000-03-01T00:00:00",
      "-000400-01-01T00:00:00",
    ]) {
      expect([moment, offsetSecondsAt("Europe/Berlin", at(moment))]).toEqual([moment, 3208]);
      expect([moment, utcSecondsOf("Europe/Berlin", at(moment))]).toEqual([moment, at(moment) - 3208]);
    }
  });

  test("stays as it is beyond the dates of the runtime", () => {
    expect(offsetSecondsAt("Europe/Berlin", -1e15)).toBe(3208);
    expect([3600, 7200]).toContain(offsetSecondsAt("Europe/Berlin", 1e15));
  });
});
