import { describe, expect, test } from "bun:test";
import { checkExpression as check, checkOverRows, failsExpression as fails } from "../../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

const TIME = "'2024-02-29T10:11:12.345678Z'::TIMESTAMP(6)";
const shown = (call: string, want: string): Promise<void> => check(`(${call})::STRING`, want);

test("parts have their own names, of timestamps, dates, texts and times of day", async () => {
  const parts: readonly (readonly [string, number])[] = [
    ["year", 2024],
    ["quarter", 1],
    ["month", 2],
    ["day", 29],
    ["dayofmonth", 29],
    ["dayofyear", 60],
    ["dayofweek", 5],
    ["weekday", 3],
    ["weekofyear", 9],
    ["hour", 10],
    ["minute", 11],
    ["second", 12],
    ["microsecond", 345_678],
    ["time_to_sec", 36_672],
  ];
  for (const [name, value] of parts) {
    await check(`${name}(${TIME})`, value, "Int32");
    await check(`${name}('2024-02-29 10:11:12.345678')`, value);
    await check(`${name}(NULL)`, undefined);
  }
  await check("hour('10:11:12')", 10);
  await check("minute(make_time(7, 8, 9))", 8);
  await check(`year('2024-02-29'::DATE)`, 2024);
  await check("monthname('2024-02-29')", "February", "String");
  await check("dayname('2024-02-29')", "Thursday", "String");
  await checkOverRows("year(v)", ["'2024-02-29'", "NULL", "'0050-01-01'"], [2024, undefined, 50]);
  await fails("year('soon')", "3001 cannot read 'soon' as a time");
  await fails("year(5)", "3000 Failed to plan SQL");
  await fails("dayofweek('10:11:12')", "cannot read '10:11:12' as a time");
});

test("weeks count by MySQL's modes", async () => {
  const weeks = async (day: string, ...want: readonly number[]): Promise<void> => {
    for (const [mode, week] of want.entries()) await check(`week('${day}', ${mode})`, week, "Int32");
  };
  await weeks("2008-02-20", 7, 8, 7, 8, 8, 7, 8, 7);
  await weeks("2000-01-01", 0, 0, 52, 52, 0, 0, 52, 52);
  await weeks("2008-12-31", 52, 53, 52, 1, 53, 52, 53, 52);
  await check("week('2008-02-20')", 7);
  await check("yearweek('1987-01-01')", 198_652, "Int32");
  await check("yearweek('1987-01-01', 3)", 198_701);
  await fails("week('2008-02-20', 8)", "3001 week: the mode is 0 to 7, not 8");
});

test("dates and times are made and taken apart", async () => {
  await shown(`date(${TIME})`, "2024-02-29");
  await shown("date('2024-02-29 23:59:59')", "2024-02-29");
  await shown(`time(${TIME})`, "10:11:12.345678");
  await shown("timestamp('2024-02-29')", "2024-02-29T00:00:00");
  await shown("last_day('2023-02-03')", "2023-02-28");
  await shown("makedate(2011, 32)", "2011-02-01");
  await check("makedate(2011, 0)", undefined, "Date");
  await check("to_days('2007-10-07')", 733_321, "Int64");
  await shown("from_days(730669)", "2000-07-03");
  await shown("sec_to_time(2378)", "00:39:38");
  await fails("sec_to_time(86400)", "3001 cannot make a time of 86400 seconds");
  await check("time_format('15:04:05.678', '%H:%i:%s.%f %k %h %l %p %r %T 100%%')", "15:04:05.678000 15 03 3 PM 03:04:05 PM 15:04:05 100%");
  await check("time_format('2024-02-29 00:00:09'::TIMESTAMP, '%h %l %S')", "12 12 09");
  await check("time_format(NULL, '%H')", undefined);
  await fails("time_format('00:00:00', '%Y')", "3001 cannot print a time by '%Y': there is no item %Y of a time of day");
  await fails("time_format('00:00:00', '%')", "there is no item %");
  await shown("adddate('2008-01-02', 31)", "2008-02-02");
  await shown("subdate('2008-03-31', INTERVAL '1 month')", "2008-02-29");
  await shown("convert_tz('2004-07-01 12:00:00', 'GMT', 'Europe/Berlin')", "2004-07-01T14:00:00");
  await shown("convert_tz('2004-01-01 12:00:00', '+00:00', '+10:00')", "2004-01-01T22:00:00");
  await fails("convert_tz(now(), 'here', 'UTC')", "1004 Invalid timezone string here");
});

test("now has the names that clients use, one moment a statement", async () => {
  const fixture = new QueryFixture();
  const { rows } = await fixture.both(
    "SELECT curdate() = current_date(), utc_date() = curdate(), utc_timestamp() = now(), utc_timestamp(6) = now(), sysdate() = now(), " +
      "localtimestamp = now(), localtime() = now(), curtime() = current_time(), utc_time() = curtime()",
  );
  expect(rows[0]).toEqual(Array.from({ length: 9 }, () => true));
});

describe("str_to_date", () => {
  test("reads by MySQL's items; NULL where the text is not written like that", async () => {
    await shown("str_to_date('01,5,2013', '%d,%m,%Y')", "2013-05-01");
    await check("str_to_date('01,5,2013', '%d,%m,%Y')", 15_826, "Date");
    await shown("str_to_date('May 1, 2013', '%M %d,%Y')", "2013-05-01");
    await shown("str_to_date('2024-01-02 03:04:05.678', '%Y-%m-%d %H:%i:%s.%f')", "2024-01-02T03:04:05.678");
    await shown("str_to_date('2024-01-02 03:04:05 PM', '%Y-%m-%d %r')", "2024-01-02T15:04:05");
    await shown("str_to_date('11:22', '%H:%i')", "1970-01-01T11:22:00");
    await check("str_to_date('abc', '%Y-%m-%d')", undefined, "Date");
    await check("str_to_date('2023-02-29', '%Y-%m-%d')", undefined);
    await check("str_to_date(NULL, '%Y')", undefined);
    await checkOverRows("str_to_date(v, '%Y-%m-%d')::STRING", ["'2024-01-02'", "'x'", "NULL"], ["2024-01-02", undefined, undefined]);
  });
  test("refuses items that are none", async () => {
    await fails("str_to_date('1', '%Q')", "3001 cannot read a time by '%Q': there is no item %Q");
    await fails("str_to_date('1', 'a%')", "cannot read a time by 'a%'");
  });
});
