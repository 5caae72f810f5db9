/** Arithmetic on intervals: months, days and nanoseconds stay apart, since a month has no fixed length. */
import type { TimeUnit } from "../../../column/data-type.ts";
import type { IntervalValue } from "../../sql/ast.ts";
import { NANOS_PER_DAY } from "../value.ts";
import { civilFromDays, daysFromCivil, daysInMonth, floorDivide, floorModulo } from "./civil.ts";
import { NANOS_PER_UNIT, rescale } from "./time-units.ts";

/** `a + sign * b`. */
export function addIntervals(a: IntervalValue, b: IntervalValue, sign: 1 | -1): IntervalValue {
  return { months: a.months + sign * b.months, days: a.days + sign * b.days, nanos: a.nanos + BigInt(sign) * b.nanos };
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
