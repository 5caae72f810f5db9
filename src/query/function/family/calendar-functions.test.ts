import { describe, expect, test } from "bun:test";
import { checkExpression as check, checkOverRows, failsExpression as fails } from "../../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";
import { formatLocalTime } from "../time/strftime.ts";

describe("date_format and to_char", () => {
  test("print every item", async () => {
    const time = "'2024-02-29T15:04:05.006007008Z'::TIMESTAMP(9)";
    await check(`date_format(${time}, '%Y-%m-%d %H:%M:%S:%3f')`, "2024-02-29 15:04:05:006", "String");
    await check(`to_char(${time}, '%C %y %q %b %B %h %e %j %a %A %u %w')`, "20 24 1 Feb February Feb 29 060 Thu Thursday 4 4");
    await check(`to_char(${time}, '%G-W%V %g %U %W')`, "2024-W09 24 08 09");
    await check(`to_char(${time}, '%I %l %p %P %k %f %.f %.3f %9f')`, "03  3 PM pm 15 006007008 .006007008 .006 006007008");
    await check(`to_char(${time}, '%D|%F|%T|%R|%r|%v')`, "02/29/24|2024-02-29|15:04:05|15:04|03:04:05 PM|29-Feb-2024");
    await check(`to_char(${time}, '%-m/%_m/%0e %s %z %:z %% %+')`, "2/ 2/29 1709219045 +0000 +00:00 % 2024-02-29T15:04:05.006007008+00:00");
    await check("to_char('2024-01-05'::DATE, '%d.%m.%Y')", "05.01.2024");
    await check("to_char(make_time(7, 8, 9), '%H-%M-%S')", "07-08-09");
    await check("date_format('1960-01-01T00:00:00.5Z', '%F %T%.3f')", "1960-01-01 00:00:00.500");
    await checkOverRows("date_format(v, '%Y')", ["'2024-01-01'::TIMESTAMP", "NULL"], ["2024", undefined]);
  });
  test("the first follows the session's zone, the second does not", async () => {
    const fixture = new QueryFixture();
    await fixture.sql("SET TIME_ZONE = 'Asia/Shanghai'");
    const { rows } = await fixture.both(
      "SELECT date_format(t, '%F %H %z'), to_char(t, '%F %H') FROM (SELECT '2024-01-01T20:00:00Z'::TIMESTAMP AS t)",
    );
    expect(rows).toEqual([["2024-01-02 04 +0800", "2024-01-01 20"]]);
  });
  test("refuse items that are none", async () => {
    await fails("to_char(now(), '%Q')", "3001 cannot format a time by '%Q': there is no item %Q");
    await fails("to_char(now(), 'a%')", "it ends inside an item");
    await fails("to_char(1, '%Y')", "3000 Failed to plan SQL");
  });
  test("print the ISO week of every day as the calendar has it", () => {
    const day = 86_400_000_000_000n;
    const week = (days: number): string => formatLocalTime({ nanos: BigInt(days) * day, offsetSeconds: 0, zone: "UTC" }, "%G-%V-%u");
    expect([0, -1, 18_628, 18_631, 19_722].map(week)).toEqual(["1970-01-4", "1970-01-3", "2020-53-5", "2021-01-1", "2023-52-7"]);
  });
});

describe("date_part", () => {
  test("knows other names of parts", async () => {
    const time = "'2024-12-30T15:04:05.006007008Z'::TIMESTAMP(9)";
    for (const name of ["year", "years", "YEAR", "yr", "y"]) await check(`date_part('${name}', ${time})`, 2024, "Int32");
    await check(`date_part('mons', ${time})`, 12);
    await check(`date_part('ms', ${time})`, 5006);
    await check(`extract(hours FROM ${time})`, 15);
    await check(`date_part('isoyear', ${time})`, 2025);
    await check("date_part('year', make_date(1500, 1, 1))", 1500);
  });
  test("gives nanoseconds in 64 bits", async () => {
    await check("date_part('nanosecond', '1970-01-01T00:00:59.999999999Z'::TIMESTAMP(9))", 59_999_999_999, "Int64");
    await check("datepart('ns', '1970-01-01T00:00:01Z'::TIMESTAMP)", 1_000_000_000, "Int64");
    await checkOverRows("date_part(v, '1970-01-01T00:00:01Z'::TIMESTAMP)", ["'second'", "NULL"], [1, undefined]);
    await fails(
      "date_part(p, '1970-01-01T00:00:09Z'::TIMESTAMP) FROM (VALUES ('ns')) AS t(p)",
      "3001 cannot give date_part('ns') = 9000000000",
    );
  });
  test("takes times of day and intervals apart", async () => {
    await check("date_part('minute', make_time(7, 8, 9))", 8);
    await check("date_part('epoch', make_time(1, 0, 1))", 3601, "Float64");
    await check("date_part('year', INTERVAL '14 months')", 1);
    await check("date_part('month', INTERVAL '-14 months')", -2);
    await check("date_part('day', INTERVAL '40 days 30 hours')", 40);
    await check("date_part('hour', INTERVAL '40 days 30 hours')", 30);
    await check("extract(epoch FROM INTERVAL '1 month 1 day 1.5 seconds')", 2_678_401.5);
  });
  test("refuses parts that there are not", async () => {
    await fails("date_part('year', make_time(7, 8, 9))", "3001 Date part 'year' not supported: use one of hour");
    await fails("date_part('dow', INTERVAL '1 day')", "3001 Date part 'dow' not supported: use one of year");
    await fails("date_part('constructor', now())", "3001 Date part 'constructor' not supported");
    await fails("date_part(1, now())", "3000");
    await fails("date_part('year', 1)", "3000");
  });
});

describe("formats", () => {
  test("say how a text is read; the first that goes is taken", async () => {
    await check("to_date('2024/01/15', '%Y/%m/%d')::STRING", "2024-01-15");
    await check("to_date('15-01-2024', '%Y', '%d-%m-%Y')::STRING", "2024-01-15");
    await check("to_timestamp('05-17-2023 01:14 PM', '%m-%d-%Y %I:%M %p')::STRING", "2023-05-17T13:14:00");
    await check("to_timestamp_millis('2023-05-17', '%Y-%m-%d')", 1_684_281_600_000n, "TimestampMillisecond");
    await check("to_timestamp_seconds('1926632005', '%s')", 1_926_632_005n, "TimestampSecond");
    await check("to_time('1:02:03 pm', '%r')::STRING", "13:02:03");
    await check("to_timestamp(NULL, '%Y')", undefined);
    await check("to_timestamp('2024', NULL)", undefined);
  });
  test("are read in the session's zone unless they name one", async () => {
    const fixture = new QueryFixture();
    await fixture.sql("SET TIME_ZONE = '+08:00'");
    const { rows } = await fixture.both(
      "SELECT to_timestamp_seconds('1970-01-01 08', '%F %H'), to_timestamp_seconds('1970-01-01 +0000', '%F %z')",
    );
    expect(rows).toEqual([[0n, 0n]]);
  });
  test("refuse what is not written like that", async () => {
    await fails("to_date('x', '%Y')", "3001 Execution error: Error parsing timestamp from 'x' using format '%Y'");
    await fails("to_time('25', '%H')", "3001 Execution error: Error parsing time from '25' using format '%H'");
    await fails("to_timestamp('x', '%Q')", "3001 cannot read a time by '%Q': there is no item %Q");
    await fails("to_timestamp(1, '%Y')", "3000");
  });
  test("beside a number that is a decimal are not needed", async () => {
    await check("to_timestamp_millis(1500.0::DECIMAL(10, 1))", 1500n);
    await check("to_timestamp(1.5::DECIMAL(10, 2))", 1_500_000_000n);
  });
});

test("NULL as an argument gives NULL of the type that the others make", async () => {
  await check("date_bin(NULL, '2024-01-01'::TIMESTAMP)", undefined, "TimestampMillisecond");
  await check("date_add('2024-01-01'::DATE, NULL)", undefined, "Date");
  await check("date_sub(NULL, '1 day')", undefined, "Date");
  await check("from_unixtime(NULL)", undefined, "TimestampSecond");
});

describe("dates and times of parts", () => {
  test("are those of the calendar", async () => {
    await check("make_date(2024, 2, 29)", 19_782, "Date");
    await check("make_time(23, 59, 58)", 86_398, "TimeSecond");
    await check("to_time('12:30:00')::STRING", "12:30:00");
    await check("to_date('2024-02-29T10:00:00Z')", 19_782, "Date");
    await check("to_date(0)::STRING", "1970-01-01");
    await check("current_time()", 0, "TimeNanosecond");
    await check("to_local_time('2024-01-01T00:00:00Z'::TIMESTAMP)::STRING", "2024-01-01T00:00:00");
    await check("date_part('epoch', '2024-01-02'::TIMESTAMP - '2024-01-01'::TIMESTAMP)", 86_400, "Float64");
    await check("make_date(2024, NULL, 1)", undefined);
  });
  test("refuse what the calendar has not", async () => {
    await fails("make_date(2023, 2, 29)", "3001 cannot make a date: there is no day 2023-2-29");
    await fails("make_date(2023, 13, 1)", "there is no day 2023-13-1");
    await fails("make_time(24, 0, 0)", "there is no time of day 24:0:0");
    await fails("'12024-01-01'::DATE", "3001");
    await fails("TIMESTAMP '294247-01-10 04:00:54'", "Error parsing timestamp from '294247-01-10 04:00:54'");
  });
});
