/** Dates and times of day as digits, written straight into bytes; each function returns where its text ends. */
import { civilFromDays } from "../../../../value/civil.ts";

const ZERO = 0x30;
const DASH = 0x2d;
const COLON = 0x3a;
const DOT = 0x2e;

/** Days whose year has four digits: 0000-01-01 to 9999-12-31. */
export const FOUR_DIGIT_DAY_MIN = -719_528;
export const FOUR_DIGIT_DAY_MAX = 2_932_896;

function writeTwo(bytes: Uint8Array, at: number, value: number): number {
  const tens = (value / 10) | 0;
  bytes[at] = ZERO + tens;
  bytes[at + 1] = ZERO + value - tens * 10;
  return at + 2;
}

/** `2024-01-31` of a day within FOUR_DIGIT_DAY_MIN and _MAX. */
export function writeDate(bytes: Uint8Array, at: number, days: number): number {
  const { year, month, day } = civilFromDays(days);
  let next = writeTwo(bytes, at, (year / 100) | 0);
  next = writeTwo(bytes, next, year % 100);
  bytes[next] = DASH;
  next = writeTwo(bytes, next + 1, month);
  bytes[next] = DASH;
  return writeTwo(bytes, next + 1, day);
}

/** `23:59:59` of seconds of a day. */
export function writeClock(bytes: Uint8Array, at: number, seconds: number): number {
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  let next = writeTwo(bytes, at, hours);
  bytes[next] = COLON;
  next = writeTwo(bytes, next + 1, minutes - hours * 60);
  bytes[next] = COLON;
  return writeTwo(bytes, next + 1, seconds - minutes * 60);
}

/** `.` and the `digits` digits of a fraction. */
export function writeFraction(bytes: Uint8Array, at: number, fraction: number, digits: number): number {
  bytes[at] = DOT;
  let rest = fraction;
  for (let i = at + digits; i > at; i--) {
    const tens = (rest / 10) | 0;
    bytes[i] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return at + digits + 1;
}
