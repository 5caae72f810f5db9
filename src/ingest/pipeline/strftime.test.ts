import { expect, test } from "bun:test";
import { compileTimeFormat } from "./strftime.ts";
import { timeZoneOf } from "./time-zone.ts";

/** The moment in RFC 3339 with milliseconds, or nanoseconds where `want` has them; undefined for none. */
function check(format: string, text: string, want: string | undefined, zone = "UTC"): void {
  const compiled = compileTimeFormat(format);
  if (compiled === undefined) throw new Error(`${format} is no format`);
  const nanos = compiled.parse(text, timeZoneOf(zone))?.value;
  const shown = nanos === undefined ? undefined : new Date(Number(nanos / 1_000_000n)).toISOString();
  expect([format, text, shown]).toEqual([format, text, want]);
}

test("formats of logs are read", () => {
  check("%Y-%m-%d %H:%M:%S%.3f", "2024-05-25 20:16:37.217", "2024-05-25T20:16:37.217Z");
  check("%d/%b/%Y:%H:%M:%S %z", "25/May/2024:20:16:37 +0800", "2024-05-25T12:16:37.000Z");
  check("%d/%b/%Y:%H:%M:%S %z", "25/may/2024:20:16:37 -01:30", "2024-05-25T21:46:37.000Z");
  check("%Y-%m-%dT%H:%M:%S%.3fZ", "2024-05-25T20:16:37.217Z", "2024-05-25T20:16:37.217Z");
  check("%a %b %e %T %Y", "Sat May 25 20:16:37 2024", "2024-05-25T20:16:37.000Z");
  check("%I:%M %p %m/%d/%y", "08:16 pm 05/25/24", "2024-05-25T20:16:00.000Z");
  check("%s", "1716668197", "2024-05-25T20:16:37.000Z");
  check("%+", "2024-05-25T20:16:37.5+02:00", "2024-05-25T18:16:37.500Z");
  check("%G-W%V-%u %H:%M", "2024-W21-6 20:16", "2024-05-25T20:16:00.000Z");
  check("%Y %j %R", "2024 146 20:16", "2024-05-25T20:16:00.000Z");
  check("%F", "2024-05-25", "2024-05-25T00:00:00.000Z");
});

test("numbers may lack leading zeros and have blanks before them", () => {
  check("%Y-%m-%d %H:%M", "2014-5-17 4:5", "2014-05-17T04:05:00.000Z");
  check("%Y-%m-%d   %H:%M", "2014- 5-17 04:05", "2014-05-17T04:05:00.000Z");
});

test("fractions are exact", () => {
  const parse = (format: string, text: string): bigint | undefined => compileTimeFormat(format)?.parse(text, timeZoneOf("UTC"))?.value;
  expect(parse("%s", "0")).toBe(0n);
  expect(parse("%FT%T%.9f", "1970-01-01T00:00:00.123456789")).toBe(123_456_789n);
  expect(parse("%FT%T%.f", "1970-01-01T00:00:00.1234567891")).toBe(123_456_789n);
  expect(parse("%FT%T%.f", "1970-01-01T00:00:00")).toBe(0n);
  expect(parse("%FT%T.%f", "1970-01-01T00:00:00.12")).toBe(12n);
  expect(parse("%FT%T%.f", "1969-12-31T23:59:59.5")).toBe(-500_000_000n);
});

test("what does not fit is no time", () => {
  const rejects: readonly (readonly [string, string])[] = [
    ["%Y-%m-%d %H:%M:%S%.3f", "2024-05-25 20:16:37"],
    ["%Y-%m-%d %H:%M:%S%.3f", "2024-05-25 20:16:37.21"],
    ["%Y-%m-%d %H:%M:%S%.3f", "2024-05-25 20:16:37.2171"],
    ["%Y-%m-%d %H:%M", "2024-05-25 20:16 "],
    ["%Y-%m-%d %H:%M", "2024-02-30 20:16"],
    ["%Y-%m-%d %H:%M", "2024-13-01 20:16"],
    ["%Y-%m-%d %H:%M", "2024-12-01 24:16"],
    ["%Y-%m-%d %H:%M", "9024-12-01 20:16"],
    ["%a %F", "Mon 2024-05-25"],
    ["%d/%b/%Y", "25/Mai/2024"],
    ["%F %T %z", "2024-05-25 20:16:37 0800"],
    ["%H:%M", "20:16"],
    ["%F", ""],
  ];
  for (const [format, text] of rejects) check(format, text, undefined);
  expect(compileTimeFormat("%Q")).toBeUndefined();
  expect(compileTimeFormat("100%")).toBeUndefined();
});

test("a local time is that of its zone; one that is not there or is there twice is none", () => {
  const format = "%Y-%m-%d %H:%M";
  check(format, "2024-05-25 20:16", "2024-05-25T12:16:00.000Z", "Asia/Shanghai");
  check(format, "2024-01-01 00:00", "2024-01-01T05:00:00.000Z", "America/New_York");
  check(format, "2024-07-01 00:00", "2024-07-01T04:00:00.000Z", "America/New_York");
  check(format, "2024-03-10 02:30", undefined, "America/New_York");
  check(format, "2024-11-03 01:30", undefined, "America/New_York");
  check(format, "2024-03-10 03:00", "2024-03-10T07:00:00.000Z", "America/New_York");
  expect(() => timeZoneOf("Mars/Base")).toThrow("timezone Mars/Base is unknown");
});
