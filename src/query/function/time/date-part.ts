/**
 * Parts of times, dates, times of day and intervals, by the names that `date_part` and EXTRACT take. Calendar parts count in UTC.
 * Source: https://datafusion.apache.org/user-guide/sql/scalar_functions.html#date-part
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { isInterval, NANOS_PER_DAY, type Present } from "../value/value.ts";
import { type CivilDate, civilFromDays, daysFromCivil, floorDivide, floorModulo } from "../../../value/civil.ts";
import { rescale } from "../../../value/time-units.ts";

/** Days that a month of an interval counts for in its seconds. */
const DAYS_PER_MONTH = 30;
const SECONDS_PER_DAY = 86_400;

const DAY_PARTS: Readonly<Record<string, (date: CivilDate, days: number) => number>> = {
  year: (date) => date.year,
  isoyear: (_, days) => civilFromDays(thursdayOf(days)).year,
  quarter: (date) => Math.ceil(date.month / 3),
  month: (date) => date.month,
  week: (_, days) => isoWeek(days),
  day: (date) => date.day,
  dow: (_, days) => (((days + 4) % 7) + 7) % 7,
  isodow: (_, days) => (((days + 3) % 7) + 7) % 7,
  doy: (date, days) => days - daysFromCivil(date.year, 1, 1) + 1,
};

/** The day that an ISO week belongs to the year of. */
const thursdayOf = (days: number): number => days - ((((days + 3) % 7) + 7) % 7) + 3;

function isoWeek(days: number): number {
  const thursday = thursdayOf(days);
  return Math.floor((thursday - daysFromCivil(civilFromDays(thursday).year, 1, 1)) / 7) + 1;
}

const CLOCK_PARTS: Readonly<Record<string, (nanosOfDay: bigint) => bigint>> = {
  hour: (nanos) => nanos / 3_600_000_000_000n,
  minute: (nanos) => (nanos / 60_000_000_000n) % 60n,
  second: (nanos) => (nanos / 1_000_000_000n) % 60n,
  millisecond: (nanos) => (nanos / 1_000_000n) % 60_000n,
  microsecond: (nanos) => (nanos / 1000n) % 60_000_000n,
  nanosecond: (nanos) => nanos % 60_000_000_000n,
};

/** Whole numbers of a unit in a duration, towards zero. */
const DURATION_PARTS: Readonly<Record<string, bigint>> = {
  week: 7n * NANOS_PER_DAY,
  day: NANOS_PER_DAY,
  hour: 3_600_000_000_000n,
  minute: 60_000_000_000n,
  second: 1_000_000_000n,
  millisecond: 1_000_000n,
  microsecond: 1000n,
  nanosecond: 1n,
};

const INTERVAL_PARTS: Readonly<Record<string, (months: number, days: number) => number>> = {
  year: (months) => Math.trunc(months / 12),
  month: (months) => months % 12,
  week: (_, days) => Math.trunc(days / 7),
  day: (_, days) => days,
};

/** Other names of parts; those in the plural are found without their last letter. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  y: "year",
  yr: "year",
  qtr: "quarter",
  mon: "month",
  w: "week",
  d: "day",
  h: "hour",
  hr: "hour",
  m: "minute",
  min: "minute",
  s: "second",
  sec: "second",
  ms: "millisecond",
  msec: "millisecond",
  us: "microsecond",
  usec: "microsecond",
  ns: "nanosecond",
  nsec: "nanosecond",
};
const NAMES: ReadonlySet<string> = new Set([...Object.keys(DAY_PARTS), ...Object.keys(CLOCK_PARTS), "epoch"]);

/** The proper name of a part: "Years" → "year". Names that are none stay as they are, in small letters. */
export function partName(written: string): string {
  const name = written.trim().toLowerCase();
  for (const candidate of [name, name.endsWith("s") ? name.slice(0, -1) : name]) {
    if (NAMES.has(candidate)) return candidate;
    const proper = Object.hasOwn(OTHER_NAMES, candidate) ? OTHER_NAMES[candidate] : undefined;
    if (proper !== undefined) return proper;
  }
  return name;
}

/**
 * A part of a timestamp, date, time of day or interval as a whole number; of a duration, how many of the part it has in all. Mondays are 0
 * under `isodow`, Sundays under `dow`.
 *
 * @throws DbError EngineExecuteQuery for a part that the type has not
 */
export function datePart(written: string, value: Present, type: DataType): number {
  const name = partName(written);
  const clock = Object.hasOwn(CLOCK_PARTS, name) ? CLOCK_PARTS[name] : undefined;
  if (isInterval(value)) {
    const part = Object.hasOwn(INTERVAL_PARTS, name) ? INTERVAL_PARTS[name] : undefined;
    if (part !== undefined) return part(value.months, value.days) + 0;
    if (clock !== undefined) return Number(clock(value.nanos));
    throw noPart(written, Object.keys(INTERVAL_PARTS));
  }
  const nanos = nanosOf(value, type);
  if (type.kind === "duration") {
    const unit = Object.hasOwn(DURATION_PARTS, name) ? DURATION_PARTS[name] : undefined;
    if (unit === undefined) throw noPart(written, ["week", "day"]);
    return Number(nanos / unit);
  }
  if (clock !== undefined) return Number(clock(floorModulo(nanos, NANOS_PER_DAY)));
  const day = type.kind !== "time" && Object.hasOwn(DAY_PARTS, name) ? DAY_PARTS[name] : undefined;
  if (day === undefined) throw noPart(written, type.kind === "time" ? [] : Object.keys(DAY_PARTS));
  const days = Number(floorDivide(nanos, NANOS_PER_DAY));
  return day(civilFromDays(days), days);
}

/** Seconds of a time since 1970, of a time of day since midnight, of a duration, and of an interval whose months have 30 days. */
export function epochOf(value: Present, type: DataType): number {
  if (isInterval(value)) return (value.months * DAYS_PER_MONTH + value.days) * SECONDS_PER_DAY + Number(value.nanos) / 1e9;
  if (type.kind === "timestamp" || type.kind === "duration" || type.kind === "time") return Number(value) / UNITS_PER_SECOND[type.unit];
  return Number(nanosOf(value, type)) / 1e9;
}

function nanosOf(value: Present, type: DataType): bigint {
  if (type.kind === "date") return BigInt(value as number) * NANOS_PER_DAY;
  const isCounted = type.kind === "timestamp" || type.kind === "time" || type.kind === "duration";
  return rescale(BigInt(value as number | bigint), isCounted ? type.unit : "nanosecond", "nanosecond");
}

function noPart(written: string, others: readonly string[]): DbError {
  const known = [...others, ...Object.keys(CLOCK_PARTS), "epoch"].join(", ");
  return new DbError(StatusCode.EngineExecuteQuery, `Date part '${written.slice(0, 40)}' not supported: use one of ${known}`);
}
