/** Arithmetic on intervals: months, days and nanoseconds stay apart, since a month has no fixed length. */
import { INTERVAL, type TimeUnit } from "../../../column/data-type.ts";
import { intervalText } from "../../../value/interval/interval-text.ts";
import type { IntervalValue } from "../../sql/syntax/ast.ts";
import { overflow } from "../value/integer.ts";
import { NANOS_PER_DAY } from "../value/value.ts";
import { civilFromDays, daysFromCivil, daysInMonth, floorDivide, floorModulo } from "../../../value/civil.ts";
import { NANOS_PER_UNIT, rescale } from "../../../value/time-units.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";

/** `a + sign * b`. @throws DbError EngineExecuteQuery beyond 32 bits of months or days and 64 bits of nanoseconds */
export function addIntervals(a: IntervalValue, b: IntervalValue, sign: 1 | -1): IntervalValue {
  const sum = { months: a.months + sign * b.months, days: a.days + sign * b.days, nanos: a.nanos + BigInt(sign) * b.nanos };
  const fits = sum.months === (sum.months | 0) && sum.days === (sum.days | 0) && sum.nanos >= INT64_MIN && sum.nanos <= INT64_MAX;
  if (fits) return { ...sum, months: sum.months + 0, days: sum.days + 0 };
  throw overflow(`${intervalText(a)} ${sign === 1 ? "+" : "-"} ${intervalText(b)}`, INTERVAL);
}

/** A day number moved by months; the day of the month is cut to the length of the new month (Jan 31 + 1 month = Feb 28). */
function addMonthsToDays(days: number, months: number): number {
  if (months === 0) return days;
  const { year, month, day } = civilFromDays(days);
  const total = year * 12 + (month - 1) + months;
  const newYear = Math.floor(total / 12);
  const newMonth = total - newYear * 12 + 1;
  return daysFromCivil(newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)));
}

/** `time + sign * interval`, in UTC: first the months, then the days, then the rest. May leave the 64-bit range. */
export function addInterval(time: bigint, unit: TimeUnit, interval: IntervalValue, sign: 1 | -1): bigint {
  let result = time;
  if (interval.months !== 0) {
    const day = NANOS_PER_DAY / NANOS_PER_UNIT[unit];
    const days = addMonthsToDays(Number(floorDivide(time, day)), sign * interval.months);
    result = BigInt(days) * day + floorModulo(time, day);
  }
  const nanos = BigInt(sign) * (BigInt(interval.days) * NANOS_PER_DAY + interval.nanos);
  if (nanos === 0n) return result;
  if (nanos % NANOS_PER_UNIT[unit] === 0n) return result + nanos / NANOS_PER_UNIT[unit];
  return rescale(rescale(result, unit, "nanosecond") + nanos, "nanosecond", unit);
}
