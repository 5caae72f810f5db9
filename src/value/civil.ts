/**
 * Calendar arithmetic of the proleptic Gregorian calendar on plain numbers.
 * Method: years start in March, so that the leap day is the last day of a year; 400 years are 146,097 days.
 */

/** A day of the calendar. `month` and `day` count from 1. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Days since 1970-01-01 of a date. A `month` outside 1..12 counts over into other years. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const total = year * 12 + (month - 1);
  const shifted = total - 2; // months since March of year 0
  const y = Math.floor(shifted / 12);
  const m = shifted - y * 12;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * m + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

/** The date of a day number since 1970-01-01. */
export function civilFromDays(days: number): CivilDate {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const m = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * m + 2) / 5) + 1;
  const month = m < 10 ? m + 3 : m - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Days of a month, 28..31. */
export function daysInMonth(year: number, month: number): number {
  return daysFromCivil(year, month + 1, 1) - daysFromCivil(year, month, 1);
}

/** The largest multiple of `step` that is not above `time`, also for negative times. */
export function floorTo(time: bigint, step: bigint): bigint {
  const rest = time % step;
  return rest < 0n ? time - rest - step : time - rest;
}

/** `floor(a / b)` of integers, `b > 0`. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** `a - b * floor(a / b)`, 0 <= result < b. */
export function floorModulo(a: bigint, b: bigint): bigint {
  const rest = a % b;
  return rest < 0n ? rest + b : rest;
}

/** A time since 1970 in whole seconds, towards the past, and what is left of its units: 0 <= fraction < perSecond. */
export function secondsAndFraction(value: bigint, perSecond: number): { readonly seconds: number; readonly fraction: number } {
  const units = BigInt(perSecond);
  const fraction = floorModulo(value, units);
  return { seconds: Number((value - fraction) / units), fraction: Number(fraction) };
}
