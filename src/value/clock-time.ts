/** Times of day as text and back: `23:59:59.999`. */
import { type TimeUnit, UNITS_PER_SECOND } from "../column/data-type.ts";

/** Seconds of a day. */
const DAY_SECONDS = 86_400;
const CLOCK = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,18}))?)?$/;

/** `12:30:00.5` as nanoseconds since midnight, digits beyond them cut off; undefined when the text is no time of day. */
export function clockNanosOfText(text: string): number | undefined {
  const match = CLOCK.exec(text.trim());
  if (match === null) return undefined;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return (hour * 3600 + minute * 60 + second) * 1e9 + Number((match[4] ?? "").slice(0, 9).padEnd(9, "0"));
}

/** A time of day in another unit, cut off where that is coarser. */
export function rescaledClock(value: number, from: TimeUnit, to: TimeUnit): number {
  const [have, want] = [UNITS_PER_SECOND[from], UNITS_PER_SECOND[to]];
  return want >= have ? value * (want / have) : Math.floor(value / (have / want));
}

/** The time of day of a timestamp of the same unit. */
export function clockOfTimestamp(value: bigint, unit: TimeUnit): number {
  const day = unitsPerDay(unit);
  return Number(((value % day) + day) % day);
}

/** Units of one day, which no time of day reaches. */
export function unitsPerDay(unit: TimeUnit): bigint {
  return BigInt(DAY_SECONDS * UNITS_PER_SECOND[unit]);
}

/** `23:59:59.999`: a fraction of 0, 3, 6 or 9 digits as needed. */
export function clockText(value: number, unit: TimeUnit): string {
  const perSecond = UNITS_PER_SECOND[unit];
  const seconds = Math.floor(value / perSecond);
  const text = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const rest = value - seconds * perSecond;
  if (rest === 0) return text;
  const digits = String(rest * (1e9 / perSecond)).padStart(9, "0");
  return `${text}.${digits.endsWith("000000") ? digits.slice(0, 3) : digits.endsWith("000") ? digits.slice(0, 6) : digits}`;
}

/** A number of two digits at least. */
export function two(value: number): string {
  return String(value).padStart(2, "0");
}
