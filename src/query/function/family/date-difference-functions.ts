/**
 * How far two times are apart, and times moved by units.
 *
 *   timestampdiff(unit, a, b)   whole units from a to b, as MySQL            date_diff(unit, a, b)   units that begin on the way, as DuckDB
 *   datediff(a, b)              days, as MySQL                               age(a, b)               by the calendar, as PostgreSQL
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, FLOAT64, INT32, INT64, INTERVAL, STRING, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import type { IntervalValue } from "../../sql/syntax/ast.ts";
import { alias, type FunctionCall, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isString } from "../signature/signature.ts";
import { bucketIndexOf, PRECISION_NANOS, truncBuckets } from "../time/buckets.ts";
import { civilFromDays, daysInMonth, floorDivide, floorModulo } from "../../../value/civil.ts";
import { isMomentType, momentNanos } from "../time/clock-nanos.ts";
import { addInterval } from "../time/interval.ts";
import { isIntervalUnit, parseInterval } from "../../../value/interval/parse-interval.ts";
import { rescale } from "../../../value/time-units.ts";
import { toText } from "../../../value/value-text.ts";
import { exactInteger, NANOS_PER_DAY, type Present, textOf } from "../value/value.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";

const fail = (message: string): DbError => new DbError(StatusCode.EngineExecuteQuery, message);

const UNIT_MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12, decade: 120 };

/** Words that say a unit where MySQL and others want it without quotes. */
export function isUnitWord(word: string): boolean {
  return unitNamed(word) !== undefined;
}

/** "SQL_TSI_DAY", "days", "dd" → "day". */
function unitNamed(text: string): string | undefined {
  const word = text
    .trim()
    .toLowerCase()
    .replace(/^sql_tsi_/, "");
  const short: Readonly<Record<string, string>> = {
    frac_second: "nanosecond",
    yyyy: "year",
    yy: "year",
    mm: "month",
    dd: "day",
    hh: "hour",
    ss: "second",
  };
  for (const name of [word, word.replace(/s$/, ""), (Object.hasOwn(short, word) && short[word]) || ""])
    if (Object.hasOwn(PRECISION_NANOS, name) || Object.hasOwn(UNIT_MONTHS, name)) return name;
  return undefined;
}

/** @throws DbError EngineExecuteQuery for what is no unit */
function unitOf(value: Present | undefined): string {
  const unit = unitNamed(textOf(value ?? ""));
  if (unit !== undefined) return unit;
  const known = [...Object.keys(PRECISION_NANOS), ...Object.keys(UNIT_MONTHS)].join(", ");
  throw fail(`'${textOf(value ?? "").slice(0, 40)}' is no unit of time; use one of ${known}`);
}

/** Months from `a` to `b` that are over, towards zero. */
function wholeMonths(a: bigint, b: bigint): number {
  if (b < a) return -wholeMonths(b, a);
  const [from, to] = [a, b].map((nanos) => civilFromDays(Number(floorDivide(nanos, NANOS_PER_DAY))));
  if (from === undefined || to === undefined) return 0;
  const months = (to.year - from.year) * 12 + to.month - from.month;
  const isShort = to.day < from.day || (to.day === from.day && floorModulo(b, NANOS_PER_DAY) < floorModulo(a, NANOS_PER_DAY));
  return isShort ? months - 1 : months;
}

function wholeUnits(unit: string, a: bigint, b: bigint): number | bigint {
  const months = UNIT_MONTHS[unit];
  return months === undefined ? exactInteger((b - a) / (PRECISION_NANOS[unit] ?? 1n)) : Math.trunc(wholeMonths(a, b) / months) + 0;
}

/** Units that begin after `a` and not after `b`; negative when `b` is before `a`. */
function begunUnits(unit: string, a: bigint, b: bigint): number | bigint {
  const buckets = truncBuckets(unit, "nanosecond");
  if (buckets === undefined) throw fail(`'${unit}' is no unit of time`);
  return exactInteger(bucketIndexOf(buckets, b) - bucketIndexOf(buckets, a));
}

const unitAndTimes: ScalarFunction["resolve"] = ([unit, a, b, ...rest]) => {
  if (rest.length > 0 || a === undefined || b === undefined || !isString(unit) || !isMomentType(a) || !isMomentType(b)) return undefined;
  return { args: [STRING, a, b], result: INT64 };
};

const apart =
  (count: (unit: string, a: bigint, b: bigint) => number | bigint): ScalarFunction["evaluate"] =>
  ([unit, a, b], { type: { args } }) =>
    a === undefined || b === undefined ? undefined : count(unitOf(unit), momentNanos(a, args[1]), momentNanos(b, args[2]));

/** `datediff(a, b)` counts days from b to a, `datediff(unit, a, b)` is `date_diff`. */
const daysOrUnits: ScalarFunction["resolve"] = (args) => {
  if (args.length !== 2) return unitAndTimes(args);
  return args.every(isMomentType) ? { args, result: INT64 } : undefined;
};

function dateDiff(given: readonly Present[], call: FunctionCall): ReturnType<ScalarFunction["evaluate"]> {
  if (given.length === 3) return apart(begunUnits)(given, call);
  const [a = 0, b = 0] = given;
  return begunUnits("day", momentNanos(b, call.type.args[1]), momentNanos(a, call.type.args[0]));
}

/** (unit, count, time): dates and texts become timestamps, since a unit may be less than a day. */
const unitCountTime: ScalarFunction["resolve"] = ([unit, count, time, ...rest]) => {
  if (rest.length > 0 || !isString(unit) || !(count?.kind === "int" || count?.kind === "null") || !isMomentType(time)) return undefined;
  const type = time?.kind === "timestamp" ? time : TIMESTAMP_NANOSECOND;
  return { args: [STRING, INT64, time ?? type], result: type };
};

function moved(written: Present, count: Present, time: Present, { type: { args, result } }: FunctionCall): bigint {
  const unit = unitOf(written);
  const months = UNIT_MONTHS[unit];
  const by = BigInt(count as number | bigint);
  const monthsBy = by * BigInt(months ?? 0);
  if (monthsBy !== BigInt.asIntN(32, monthsBy)) throw fail(`cannot add ${by} ${unit}s to a time: that is beyond its range`);
  const interval = { months: Number(monthsBy), days: 0, nanos: months === undefined ? by * (PRECISION_NANOS[unit] ?? 1n) : 0n };
  const nanos = addInterval(momentNanos(time, args[2]), "nanosecond", interval, 1);
  const value = rescale(nanos, "nanosecond", result.kind === "timestamp" ? result.unit : "nanosecond");
  if (value >= INT64_MIN && value <= INT64_MAX) return value;
  throw fail(`cannot add ${by} ${unit}s to a time: that is beyond its range`);
}

/** From the earlier to the later by calendar: months first, then the days of a month that began, then the time of day. */
function ageBetween(a: bigint, b: bigint): IntervalValue {
  if (a < b) {
    const { months, days, nanos } = ageBetween(b, a);
    return { months: 0 - months, days: 0 - days, nanos: -nanos };
  }
  const [late, early] = [a, b].map((nanos) => civilFromDays(Number(floorDivide(nanos, NANOS_PER_DAY))));
  if (late === undefined || early === undefined) throw new Error("two times have two days");
  let nanos = floorModulo(a, NANOS_PER_DAY) - floorModulo(b, NANOS_PER_DAY);
  let days = late.day - early.day;
  let months = (late.year - early.year) * 12 + late.month - early.month;
  if (nanos < 0n) [nanos, days] = [nanos + NANOS_PER_DAY, days - 1];
  if (days < 0) [days, months] = [days + daysInMonth(early.year, early.month), months - 1];
  return { months, days, nanos };
}

const oneOrTwoMoments: ScalarFunction["resolve"] = (args) =>
  args.length >= 1 && args.length <= 2 && args.every(isMomentType) ? { args, result: INTERVAL } : undefined;

const seven: ScalarFunction["resolve"] = (args) => {
  const isGood = args.length <= 7 && args.every((type) => ["int", "float", "decimal", "null"].includes(type.kind));
  return isGood ? { args: args.map((_, i) => (i < 6 ? INT32 : FLOAT64)), result: INTERVAL } : undefined;
};

function makeInterval(given: readonly Present[]): IntervalValue {
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = given.map(Number);
  if (!Number.isFinite(seconds) || Math.abs(seconds) > 9e9) throw fail(`cannot make an interval of ${seconds} seconds`);
  const made = { months: years * 12 + months, days: weeks * 7 + days };
  if (made.months !== (made.months | 0) || made.days !== (made.days | 0))
    throw fail("cannot make an interval: it has too many months or days");
  const whole = BigInt(hours) * 3_600_000_000_000n + BigInt(minutes) * 60_000_000_000n;
  const nanos = whole + BigInt(Math.trunc(seconds)) * 1_000_000_000n + BigInt(Math.round((seconds % 1) * 1e9));
  if (nanos < INT64_MIN || nanos > INT64_MAX) throw fail("cannot make an interval: it is too long");
  return { ...made, nanos };
}

const amountAndUnit: ScalarFunction["resolve"] = ([amount, unit, ...rest]) => {
  if (rest.length > 0 || !isString(unit) || amount === undefined) return undefined;
  if (amount.kind === "null") return { args: [FLOAT64, STRING], result: INTERVAL }; // a parameter too
  if (amount.kind === "int") return { args: [INT64, STRING], result: INTERVAL };
  return ["float", "decimal", "string"].includes(amount.kind) ? { args: [amount, STRING], result: INTERVAL } : undefined;
};

const AMOUNT = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)\s*$/;

/** Digits of a float beyond which parts of a nanosecond lie, and from where on it is written with an exponent. */
const FRACTION_DIGITS = 12;
const PLAIN_MIN = 1e-6;

/** `INTERVAL (2 * 3) HOUR`: what `INTERVAL '6 hour'` is, fractions included. */
function intervalOf(amount: Present, unit: string, type: DataType): IntervalValue {
  const isTiny = typeof amount === "number" && type.kind === "float" && Math.abs(amount) < PLAIN_MIN;
  const text = isTiny ? amount.toFixed(FRACTION_DIGITS) : toText(amount, type);
  const made = AMOUNT.test(text) && isIntervalUnit(unit) ? parseInterval(`${text.trim()} ${unit}`) : undefined;
  if (made === undefined) throw fail(`cannot make an interval of '${text.slice(0, 40)}' '${unit.slice(0, 40)}': write a number and a unit`);
  return made;
}

const dateDiffOf = strict(
  "date_diff(unit, from, to)",
  unitAndTimes,
  apart(begunUnits) as (args: readonly Present[], call: FunctionCall) => Present,
);
const addOf = strict("timestampadd(unit, count, time)", unitCountTime, ([unit = "", count = 0, time = 0], call) =>
  moved(unit, count, time, call),
);

/** Functions whose first argument is a unit, which may be a bare word. */
export const UNIT_FIRST: ReadonlySet<string> = new Set(["timestampdiff", "timestampadd", "date_diff", "datediff", "dateadd"]);

/** The functions of this file. */
export const DATE_DIFFERENCE_FUNCTIONS: readonly ScalarFunction[] = [
  strict("timestampdiff(unit, from, to)", unitAndTimes, apart(wholeUnits) as (args: readonly Present[], call: FunctionCall) => Present),
  dateDiffOf,
  strict("datediff(to, from) or datediff(unit, from, to)", daysOrUnits, dateDiff),
  addOf,
  alias("dateadd", addOf),
  strict(
    "age(time[, from])",
    oneOrTwoMoments,
    ([a = 0, b], { type: { args }, environment }) => {
      if (b !== undefined) return ageBetween(momentNanos(a, args[0]), momentNanos(b, args[1]));
      return ageBetween(floorDivide(environment.now, NANOS_PER_DAY) * NANOS_PER_DAY, momentNanos(a, args[0]));
    },
    { volatility: "stable" },
  ),
  strict("interval_of(amount, unit)", amountAndUnit, ([amount = 0, unit = ""], { type }) =>
    intervalOf(amount, textOf(unit), type.args[0] ?? INT64),
  ),
  strict("make_interval([years[, months[, weeks[, days[, hours[, mins[, secs]]]]]]])", seven, makeInterval),
];
