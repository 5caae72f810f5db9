/** Dates and times of day as digits, written straight into bytes, two at a time; each function returns where its text ends. */
import { civilFromDays } from "../../../../value/civil.ts";

const DASH = 0x2d;
const COLON = 0x3a;

/** Days whose year has four digits: 0000-01-01 to 9999-12-31. */
export const FOUR_DIGIT_DAY_MIN = -719_528;
export const FOUR_DIGIT_DAY_MAX = 2_932_896;

/** Digits of 0..99 with a zero before one, a byte each, the first the lowest. */
const TWO: Uint16Array = Uint16Array.from({ length: 100 }, (_, n) => 0x3030 | ((n / 10) | 0) | ((n % 10) << 8));

/** `2024-01-31` of a day within FOUR_DIGIT_DAY_MIN and _MAX. */
export function writeDate(view: DataView, at: number, days: number): number {
  const { year, month, day } = civilFromDays(days);
  const century = (year / 100) | 0;
  view.setUint16(at, TWO[century]!, true);
  view.setUint16(at + 2, TWO[year - century * 100]!, true);
  view.setUint8(at + 4, DASH);
  view.setUint16(at + 5, TWO[month]!, true);
  view.setUint8(at + 7, DASH);
  view.setUint16(at + 8, TWO[day]!, true);
  return at + 10;
}

/** `23:59:59` of seconds of a day. */
export function writeClock(view: DataView, at: number, seconds: number): number {
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  view.setUint16(at, TWO[hours]!, true);
  view.setUint8(at + 2, COLON);
  view.setUint16(at + 3, TWO[minutes - hours * 60]!, true);
  view.setUint8(at + 5, COLON);
  view.setUint16(at + 6, TWO[seconds - minutes * 60]!, true);
  return at + 8;
}
