import { test } from "bun:test";
import { checkExpression as check, checkOverRows, failsExpression as fails } from "../../../../test/support/expression-check.ts";

const shown = (call: string, want: string): Promise<void> => check(`(${call})::STRING`, want);

test("timestampdiff counts units that are over", async () => {
  await check("timestampdiff(MONTH, '2003-02-01', '2003-05-01')", 3, "Int64");
  await check("timestampdiff(YEAR, '2002-05-01', '2001-01-01')", -1);
  await check("timestampdiff(MINUTE, '2003-02-01', '2003-05-01 12:05:55')", 128_885);
  await check("timestampdiff(MONTH, '2024-01-31', '2024-02-29')", 0);
  await check("timestampdiff(QUARTER, '2024-01-15 12:00:00', '2024-07-15 11:59:59')", 1);
  await check("timestampdiff(SQL_TSI_DAY, '2024-01-01 12:00:00', '2024-01-03 11:00:00')", 1);
  await check("timestampdiff('seconds', '2024-01-01'::DATE, '2024-01-01 00:01:00'::TIMESTAMP)", 60);
  await check("timestampdiff(DAY, NULL, now())", undefined);
  await fails("timestampdiff('fortnight', now(), now())", "3001 'fortnight' is no unit of time; use one of nanosecond");
  await fails("timestampdiff(fortnight, now(), now())", "No field named fortnight");
});

test("date_diff and datediff count units that begin", async () => {
  await check("date_diff('day', '2024-01-01 23:59:00', '2024-01-02 00:01:00')", 1, "Int64");
  await check("date_diff('month', '2024-02-01', '2024-01-31')", -1);
  await check("date_diff(week, '2024-01-07', '2024-01-08')", 1);
  await check("datediff('2007-12-31 23:59:59', '2007-12-30')", 1, "Int64");
  await check("datediff(year, '2023-12-31', '2024-01-01')", 1);
  await checkOverRows("date_diff('hour', v, '2024-01-01')", ["'2023-12-31 22:30:00'", "NULL"], [2, undefined]);
});

test("timestampadd moves a time by units", async () => {
  await shown("timestampadd(MINUTE, 1, '2003-01-02')", "2003-01-02T00:01:00");
  await shown("timestampadd(MONTH, 1, '2024-01-31'::DATE)", "2024-02-29T00:00:00");
  await shown("dateadd(day, -1, '2024-03-01'::TIMESTAMP)", "2024-02-29T00:00:00");
  await check("timestampadd(DAY, NULL, now())", undefined);
  await fails("timestampadd(YEAR, 1000000000, now())", "3001 cannot add 1000000000 years to a time");
  await fails("timestampadd(DAY, 9223372036854775807, now())", "beyond its range");
});

test("age counts years, months and days by the calendar", async () => {
  await shown("age('2001-04-10', '1957-06-13')", "525 mons 27 days");
  await shown("age('1957-06-13', '2001-04-10')", "-525 mons -27 days");
  await shown("age('2024-03-01', '2024-01-31')", "1 mons 1 days");
  await shown("age('2024-03-01 01:00:00', '2024-02-28 02:00:00')", "1 days 23 hours");
  await shown("age('2023-12-31')", "1 days"); // to the day of the fixture's clock
  await check("age(NULL, now())", undefined);
});

test("make_interval takes its parts in order or by name", async () => {
  await shown("make_interval(1, 2, 3, 4, 5, 6, 7.5)", "14 mons 25 days 5 hours 6 mins 7.500000000 secs");
  await shown("make_interval(days => 10, mins => 5)", "10 days 5 mins");
  await shown("make_interval(1, months => 2)", "14 mons");
  await shown("'2024-01-01'::DATE + make_interval(months => 1)", "2024-02-01");
  await fails("make_interval(fortnights => 1)", "2000 Invalid SQL syntax: make_interval() has no arguments of these names");
  await fails("make_interval(days => 1, days => 2)", "has no arguments of these names");
  await fails("year(time => now())", "year() has no arguments of these names");
  await fails("make_interval(2147483647)", "3001 cannot make an interval: it has too many months or days");
});

test("INTERVAL of an amount that is computed is what the literal is", async () => {
  await shown("INTERVAL (1 + 1) DAY", "2 days");
  await shown("INTERVAL (2.5) hour", "2 hours 30 mins");
  await shown("INTERVAL (-1.5e0) months", "-1 mons -15 days");
  await shown("interval_of('-90', 'second')", "-1 mins -30.000000000 secs");
  await check("date_add('2024-01-31'::DATE, INTERVAL (3 - 2) MONTH)::STRING", "2024-02-29");
  await check("INTERVAL (NULL) DAY", undefined);
  await check("'2024-01-01'::TIMESTAMP - INTERVAL (1) week = '2023-12-25'::TIMESTAMP", true);
  await checkOverRows("(INTERVAL v MINUTE)::STRING", ["90", "NULL", "-1"], ["1 hours 30 mins", undefined, "-1 mins"]);
  await fails("INTERVAL (1, 2) DAY", "2000 Invalid SQL syntax: INTERVAL takes one amount and a unit");
  await fails("INTERVAL (1) fortnight", "'fortnight' is no unit of an interval");
  await fails("interval_of('1 day, 2', 'hours')", "cannot make an interval of '1 day, 2' 'hours'");
  await fails("INTERVAL (1e300) YEAR", "3001 cannot make an interval");
});
