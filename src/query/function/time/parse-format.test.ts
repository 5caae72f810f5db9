import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseByFormat, parseClockByFormat, parseUtcByFormat } from "./parse-format.ts";
import { formatLocalTime } from "./strftime.ts";

function check(text: string, format: string, want: string | undefined): void {
  const nanos = parseByFormat(text, format, "UTC");
  const shown = nanos === undefined ? undefined : formatLocalTime({ nanos, offsetSeconds: 0, zone: "UTC" }, "%Y-%m-%d %H:%M:%S%.f");
  expect([text, format, shown]).toEqual([text, format, want]);
}

describe("formats read", () => {
  test("dates and times of every item", () => {
    check("2024-02-29T15:04:05.006Z", "%Y-%m-%dT%H:%M:%S%.f%z", "2024-02-29 15:04:05.006");
    check("24 3 5", "%y %m %d", "2024-03-05 00:00:00");
    check("69/70", "%y/%j", "2069-03-11 00:00:00");
    check("70", "%y", "1970-01-01 00:00:00");
    check("19 99", "%C %y", "1999-01-01 00:00:00");
    check("Thursday, 29 FEBRUARY 2024", "%A, %d %B %Y", "2024-02-29 00:00:00");
    check("thu feb 29 24", "%a %b %e %y", "2024-02-29 00:00:00");
    check("May 1 2024", "%B %d %Y", "2024-05-01 00:00:00");
    check("2024-060", "%Y-%j", "2024-02-29 00:00:00");
    check("12:30 am 2024", "%I:%M %p %Y", "2024-01-01 00:30:00");
    check("12:30 PM 2024", "%l:%M %P %Y", "2024-01-01 12:30:00");
    check("-1", "%s", "1969-12-31 23:59:59");
    check("2024-01-01 00:00:00 +02:30", "%F %T %:z", "2023-12-31 21:30:00");
    check("2024-01-01 00:00 -07", "%F %R %#z", "2024-01-01 07:00:00");
    check("2024-01-01 00:00:00 CEST", "%F %T %Z", "2024-01-01 00:00:00");
    check("20240101000000123", "%Y%m%d%H%M%S%3f", "2024-01-01 00:00:00.123");
    check("2024 100%", "%Y 100%%", "2024-01-01 00:00:00");
    check("+12024-01-01", "%Y-%m-%d", "+12024-01-01 00:00:00");
  });
  test("any number of blanks for blanks", () => {
    check("2024   01", "%Y %m", "2024-01-01 00:00:00");
    check("202401", "%Y %m", "2024-01-01 00:00:00");
    check("2024\t01\n", "%Y%n%m%t", "2024-01-01 00:00:00");
  });
  test("not what is written otherwise", () => {
    for (const [text, format] of [
      ["2024-13-01", "%F"],
      ["2023-02-29", "%F"],
      ["2023-366", "%Y-%j"],
      ["2024-01-01x", "%F"],
      ["2024-01", "%F"],
      ["2024-01-01 24:00:00", "%F %T"],
      ["2024 13 pm", "%Y %I %p"],
      ["2024 0 pm", "%Y %I %p"],
      ["Mam 2024", "%B %Y"],
      ["12:00", "%H:%M"],
      ["", "%Y"],
      ["2024 00:00:00.1", "%Y %T%.3f"],
    ] as const)
      check(text, format, undefined);
  });
  test("times of day without a day", () => {
    expect(parseClockByFormat("12.30", "%H.%M")).toBe(45_000_000_000_000);
    expect(parseClockByFormat("23:59:59.5", "%T%.f")).toBe(86_399_500_000_000);
    expect(parseClockByFormat("25", "%H")).toBeUndefined();
  });
});

test("in UTC: what is not named is as of 1970, few digits of %f are a fraction, and other zones are refused", () => {
  expect(parseUtcByFormat("02-03", "%m-%d")).toBe(33n * 86_400_000_000_000n);
  expect(parseUtcByFormat("00:00:01", "%T")).toBe(1_000_000_000n);
  expect(parseUtcByFormat("1.5", "%S.%f")).toBe(1_500_000_000n);
  expect(parseUtcByFormat("1.000000005", "%S.%f")).toBe(1_000_000_005n);
  expect(parseUtcByFormat("1971 UTC", "%Y %Z")).toBe(365n * 86_400_000_000_000n);
  expect(parseUtcByFormat("1971 CET", "%Y %Z")).toBeUndefined();
});

test("formats that cannot be read by are refused", () => {
  expect(() => parseByFormat("x", "%Q", "UTC")).toThrow("there is no item %Q that can be read");
  expect(() => parseByFormat("x", "%V", "UTC")).toThrow("there is no item %V that can be read");
  expect(() => parseByFormat("x", "a%", "UTC")).toThrow("it ends inside an item");
  expect(() => parseByFormat("x", "y".repeat(5000), "UTC")).toThrow("it has more than 4096 characters");
});

test("what a format prints it reads", () => {
  const formats = ["%Y-%m-%dT%H:%M:%S%.f%:z", "%c %z", "%D %r %z", "%s", "%A, %e %B %Y %k:%M:%S %z", "%Y%j%H%M%S%z"];
  fc.assert(
    fc.property(
      fc.integer({ min: 100_000, max: 2_100_000_000 }),
      fc.constantFrom(...formats),
      fc.integer({ min: -12, max: 12 }),
      (second, format, hours) => {
        const offsetSeconds = hours * 3600;
        const nanos = BigInt(second) * 1_000_000_000n;
        const text = formatLocalTime({ nanos: nanos + BigInt(offsetSeconds) * 1_000_000_000n, offsetSeconds, zone: "UTC" }, format);
        expect([text, parseByFormat(text, format, "Asia/Shanghai")]).toEqual([text, nanos]);
      },
    ),
    { seed: 11, numRuns: 300 },
  );
});

test("a long text of blanks is read in one pass", () => {
  expect(parseByFormat(" ".repeat(100_000), "%n%t ".repeat(800), "UTC")).toBeUndefined();
});
