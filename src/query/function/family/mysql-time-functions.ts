/**
 * Functions on times that MySQL's clients and tools send: parts under their own names, the time now, texts by MySQL's formats. Parts count
 * in UTC, as `date_part` does.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { clockNanosOfText } from "../../../value/clock-time.ts";
import {
  type DataType,
  DATE,
  FLOAT64,
  INT32,
  INT64,
  INTERVAL,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MICROSECOND,
  TIMESTAMP_NANOSECOND,
} from "../../../column/data-type.ts";
import { arithmetic } from "../number/arithmetic.ts";
import { alias, type FunctionCall, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { civilFromDays, daysFromCivil, daysInMonth, floorDivide, floorModulo } from "../../../value/civil.ts";
import { isMomentType, momentNanos } from "../time/clock-nanos.ts";
import { parseMysqlFormat, printMysqlClock } from "../time/mysql-format.ts";
import { rescale } from "../../../value/time-units.ts";
import { localTimeOf, momentOf } from "../time/zone-buckets.ts";
import { isInterval, NANOS_PER_DAY, type Present, textOf } from "../value/value.ts";
import { zoneOf } from "./zone-functions.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";
import { MONTHS, WEEKDAYS } from "../time/strftime.ts";

const fail = (message: string): DbError => new DbError(StatusCode.EngineExecuteQuery, message);

const oneMoment =
  (result: DataType): ScalarFunction["resolve"] =>
  (args) =>
    args.length === 1 && isMomentType(args[0]) ? { args, result } : undefined;

/** A function of the day of a time. */
function ofDay(name: string, result: DataType, read: (days: number) => number | string): ScalarFunction {
  return strict(`${name}(time)`, oneMoment(result), ([time = 0], { type }) =>
    read(Number(floorDivide(momentNanos(time, type.args[0]), NANOS_PER_DAY))),
  );
}

const clockType: ScalarFunction["resolve"] = (args) =>
  args.length === 1 && (isMomentType(args[0]) || args[0]?.kind === "time") ? { args, result: INT32 } : undefined;

/** A function of the time of day of a time. */
function ofClock(name: string, read: (nanosOfDay: bigint) => bigint): ScalarFunction {
  return strict(`${name}(time)`, clockType, ([time = 0], { type }) => Number(read(clockOf(time, type.args[0]))));
}

/** Nanoseconds since midnight; a text may be a time of day alone. */
function clockOf(time: Present, type: DataType | undefined): bigint {
  if (type?.kind === "time") return rescale(BigInt(time as number), type.unit, "nanosecond");
  const clock = typeof time === "string" ? clockNanosOfText(time) : undefined;
  return clock === undefined ? floorModulo(momentNanos(time, type), NANOS_PER_DAY) : BigInt(clock);
}

const date = (days: number): ReturnType<typeof civilFromDays> => civilFromDays(days);
const yearDay = (days: number): number => days - daysFromCivil(date(days).year, 1, 1) + 1;
/** Monday is 0. */
const weekday = (days: number): number => (((days + 3) % 7) + 7) % 7;

/**
 * Week and its year by MySQL's modes. Bit 0: weeks begin on Monday, not Sunday. Bit 1: days before the first week are of the last one of
 * the year before, not of week 0. The first week is the first whole one in modes 0, 2, 5 and 7, else the first with four days in the year.
 */
function weekOf(days: number, mode: number): { readonly year: number; readonly week: number } {
  const isMonday = (mode & 1) === 1;
  const hasYear = (mode & 2) === 2;
  const isFull = isMonday ? (mode & 4) === 4 : (mode & 4) === 0;
  const { year } = date(days);
  const first = firstWeek(year, isMonday, isFull);
  if (days < first) {
    if (!hasYear) return { year, week: 0 };
    return { year: year - 1, week: Math.floor((days - firstWeek(year - 1, isMonday, isFull)) / 7) + 1 };
  }
  if (hasYear && days >= firstWeek(year + 1, isMonday, isFull)) return { year: year + 1, week: 1 };
  return { year, week: Math.floor((days - first) / 7) + 1 };
}

/** The day on which the first week of a year begins. */
function firstWeek(year: number, isMonday: boolean, isFull: boolean): number {
  const first = daysFromCivil(year, 1, 1);
  const into = isMonday ? weekday(first) : (weekday(first) + 1) % 7;
  if (into === 0) return first;
  return isFull || into > 3 ? first + 7 - into : first - into;
}

const dayAndMode: ScalarFunction["resolve"] = ([time, mode, ...rest]) => {
  if (rest.length > 0 || time === undefined || !isMomentType(time)) return undefined;
  if (mode === undefined) return { args: [time], result: INT32 };
  return mode.kind === "int" || mode.kind === "null" ? { args: [time, INT64], result: INT32 } : undefined;
};

function weekFunction(name: string, read: (week: ReturnType<typeof weekOf>) => number, least: number): ScalarFunction {
  return strict(`${name}(time[, mode])`, dayAndMode, ([time = 0, mode = 0], { type }) => {
    if (!(Number(mode) >= 0 && Number(mode) <= 7)) throw fail(`${name}: the mode is 0 to 7, not ${textOf(mode)}`);
    return read(weekOf(Number(floorDivide(momentNanos(time, type.args[0]), NANOS_PER_DAY)), Number(mode) | least));
  });
}

/** No arguments, or the digits of a second, which MySQL takes and nothing hangs on here. */
const nowType =
  (result: DataType): ScalarFunction["resolve"] =>
  (args) =>
    args.length === 0 || (args.length === 1 && args[0]?.kind === "int") ? { args, result } : undefined;

function now(name: string, result: DataType, read: (nanos: bigint) => number | bigint): ScalarFunction {
  return lenient(`${name}([digits])`, nowType(result), (_, { environment }) => read(environment.now), { volatility: "stable" });
}

const today = (nanos: bigint): number => Number(floorDivide(nanos, NANOS_PER_DAY));
const clock = (nanos: bigint): number => Number(floorModulo(nanos, NANOS_PER_DAY));

/** `adddate(time, interval)`, `adddate(time, days)`. */
function movedDate(name: string, sign: "+" | "-"): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = ([time, by, ...rest]) => {
    if (rest.length > 0 || !isMomentType(time) || by === undefined) return undefined;
    const type = time?.kind === "timestamp" ? time : DATE;
    if (by.kind === "int" || by.kind === "null") return { args: [type, INT64], result: type };
    return by.kind === "interval" || by.kind === "string" ? { args: [type, INTERVAL], result: type } : undefined;
  };
  return strict(`${name}(time, days | interval)`, resolve, ([time = 0, by = 0], { type }) => {
    const days = Number(by);
    if (!isInterval(by) && days !== (days | 0)) throw fail(`cannot move a date by ${textOf(by)} days`);
    return arithmetic(sign, time, isInterval(by) ? by : { months: 0, days, nanos: 0n }, type.result);
  });
}

const twoWholes: ScalarFunction["resolve"] = (args) =>
  args.length === 2 && args.every((type) => type.kind === "int" || type.kind === "null")
    ? { args: [INT64, INT64], result: DATE }
    : undefined;

function makeDate(year: number, day: number): number | undefined {
  return day < 1 || year < 0 || year > 9999 ? undefined : daysFromCivil(year, 1, 1) + day - 1;
}

/** Days of MySQL's calendar: 0000-00-00 is day 0. */
const DAYS_TO_1970 = 719_528;

const zoneChange: ScalarFunction["resolve"] = ([time, from, to, ...rest]) => {
  const isText = (type: DataType | undefined): boolean => type?.kind === "string" || type?.kind === "null";
  if (rest.length > 0 || time === undefined || !isMomentType(time) || !isText(from) || !isText(to)) return undefined;
  const type = time.kind === "timestamp" ? time : TIMESTAMP_NANOSECOND;
  return { args: [time, STRING, STRING], result: type };
};

/** What a clock in zone `to` shows when one in zone `from` shows a time. */
function convertZone([time = 0, from = "", to = ""]: readonly Present[], { type }: FunctionCall): bigint {
  const moment = momentOf(momentNanos(time, type.args[0]), "nanosecond", zoneOf(from));
  const shown = localTimeOf(moment, "nanosecond", zoneOf(to));
  return inRange(rescale(shown, "nanosecond", type.result.kind === "timestamp" ? type.result.unit : "nanosecond"));
}

function inRange(time: bigint): bigint {
  if (time >= INT64_MIN && time <= INT64_MAX) return time;
  throw fail(`Arithmetic overflow: ${time} is no 64-bit time`);
}

const dayofmonth = ofDay("day", INT32, (days) => date(days).day);
const secToTime: ScalarFunction["resolve"] = (args) =>
  args.length === 1 && ["int", "float", "decimal", "null"].includes(args[0]?.kind ?? "")
    ? { args: [FLOAT64], result: TIME_NANOSECOND }
    : undefined;

const clockAndFormat: ScalarFunction["resolve"] = ([time, format, ...rest]) => {
  if (rest.length > 0 || time === undefined || clockType([time]) === undefined) return undefined;
  return format?.kind === "string" || format?.kind === "null" ? { args: [time, STRING], result: STRING } : undefined;
};

/** The functions of this file. */
export const MYSQL_TIME_FUNCTIONS: readonly ScalarFunction[] = [
  ofDay("year", INT32, (days) => date(days).year),
  ofDay("quarter", INT32, (days) => Math.ceil(date(days).month / 3)),
  ofDay("month", INT32, (days) => date(days).month),
  dayofmonth,
  alias("dayofmonth", dayofmonth),
  ofDay("dayofyear", INT32, yearDay),
  ofDay("dayofweek", INT32, (days) => ((weekday(days) + 1) % 7) + 1),
  ofDay("weekday", INT32, weekday),
  ofDay("weekofyear", INT32, (days) => weekOf(days, 3).week),
  ofDay("monthname", STRING, (days) => MONTHS[date(days).month - 1] ?? ""),
  ofDay("dayname", STRING, (days) => WEEKDAYS[weekday(days)] ?? ""),
  ofDay("to_days", INT64, (days) => days + DAYS_TO_1970),
  ofDay("date", DATE, (days) => days),
  ofDay(
    "last_day",
    DATE,
    (days) => daysFromCivil(date(days).year, date(days).month, 1) + daysInMonth(date(days).year, date(days).month) - 1,
  ),
  weekFunction("week", ({ week }) => week, 0),
  weekFunction("yearweek", ({ year, week }) => year * 100 + week, 2),
  ofClock("hour", (nanos) => nanos / 3_600_000_000_000n),
  ofClock("minute", (nanos) => (nanos / 60_000_000_000n) % 60n),
  ofClock("second", (nanos) => (nanos / 1_000_000_000n) % 60n),
  ofClock("microsecond", (nanos) => (nanos / 1000n) % 1_000_000n),
  ofClock("time_to_sec", (nanos) => nanos / 1_000_000_000n),
  strict(
    "time(time)",
    (args) => (clockType(args) === undefined ? undefined : { args, result: TIME_NANOSECOND }),
    ([time = 0], { type }) => Number(clockOf(time, type.args[0])),
  ),
  strict("time_format(time, format)", clockAndFormat, ([time = 0, format = ""], { type }) =>
    printMysqlClock(clockOf(time, type.args[0]), textOf(format)),
  ),
  strict("timestamp(time)", oneMoment(TIMESTAMP_NANOSECOND), ([time = 0], { type }) => inRange(momentNanos(time, type.args[0]))),
  strict("sec_to_time(seconds)", secToTime, ([seconds]) => {
    const nanos = Math.round(Number(seconds) * 1e9);
    if (nanos >= 0 && nanos < Number(NANOS_PER_DAY)) return nanos;
    throw fail(`cannot make a time of ${Number(seconds)} seconds: a day has 86400`);
  }),
  strict(
    "from_days(days)",
    (args) => (args.length === 1 && args[0]?.kind === "int" ? { args: [INT64], result: DATE } : undefined),
    ([days]) => {
      const day = Number(days) - DAYS_TO_1970;
      if (day === (day | 0)) return day;
      throw fail(`cannot make a date of day ${textOf(days ?? "")}`);
    },
  ),
  strict("makedate(year, day_of_year)", twoWholes, ([year, day]) => makeDate(Number(year), Number(day))),
  movedDate("adddate", "+"),
  movedDate("subdate", "-"),
  strict("convert_tz(time, from, to)", zoneChange, convertZone),
  strict(
    "str_to_date(text, format)",
    (args) =>
      args.length === 2 && args.every((type) => type.kind === "string" || type.kind === "null")
        ? { args: [STRING, STRING], result: TIMESTAMP_MICROSECOND }
        : undefined,
    ([text, format]) => {
      const nanos = parseMysqlFormat(textOf(text ?? ""), textOf(format ?? ""));
      return nanos === undefined ? undefined : inRange(rescale(nanos, "nanosecond", "microsecond"));
    },
  ),
  ...["curdate", "utc_date"].map((name) => now(name, DATE, today)),
  ...["curtime", "utc_time"].map((name) => now(name, TIME_NANOSECOND, clock)),
  ...[
    "utc_timestamp",
    "sysdate",
    "localtimestamp",
    "localtime",
    "statement_timestamp",
    "transaction_timestamp",
    "clock_timestamp",
    "getdate",
  ].map((name) => now(name, TIMESTAMP_NANOSECOND, (nanos) => nanos)),
];
