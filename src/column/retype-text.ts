/**
 * Texts of values and back, for `retype.ts`: the same texts that `CAST` writes and reads under the time zone UTC.
 * Dates go through the runtime's calendar, which ends 271,821 years around 1970; beyond it there is no text.
 */
import { type TimeUnit, UNITS_PER_SECOND } from "./data-type.ts";

const DAY_MILLIS = 86_400_000;
const TRUE: ReadonlySet<string> = new Set(["true", "t", "yes", "y", "on", "1"]);
const FALSE: ReadonlySet<string> = new Set(["false", "f", "no", "n", "off", "0"]);
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/;
const SPECIAL = /^([+-]?)inf(?:inity)?$/;
const DAY = /^(\d{4}|[+-]\d{4,6})-(\d{1,2})-(\d{1,2})$/;
const CLOCK = String.raw`(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,18}))?)?`;
const ZONE = String.raw`(?:([+-])(\d{1,2}):?(\d{2})?|z|Z|utc|UTC)?`;
const TIME = new RegExp(String.raw`^((?:\d{4}|[+-]\d{4,6})-\d{1,2}-\d{1,2})(?:[Tt ]\s*${CLOCK}\s*${ZONE})?$`);

/** The truth that a word stands for, or undefined. */
export function booleanOfText(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : undefined;
}

/** The number that a text stands for, or undefined. */
export function floatOfText(text: string): number | undefined {
  const lower = text.trim().toLowerCase();
  if (lower === "nan") return Number.NaN;
  const special = SPECIAL.exec(lower);
  if (special !== null) return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return FLOAT.test(lower) ? Number(lower) : undefined;
}

/** Shortest digits that read back, always with a point or an exponent. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const size = Math.abs(value);
  if (size < 1e-5 || size >= 1e16) return value.toExponential().replace("e+", "e");
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** `2024-01-31`, or undefined beyond the calendar. */
export function dateText(days: number): string | undefined {
  const date = new Date(days * DAY_MILLIS);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year)) return undefined;
  const sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  return `${sign}${String(Math.abs(year)).padStart(4, "0")}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
}

/** `1970-01-01T00:00:00.001`: a fraction of 0, 3, 6 or 9 digits as needed; undefined beyond the calendar. */
export function timestampText(value: bigint, unit: TimeUnit): string | undefined {
  const perSecond = BigInt(UNITS_PER_SECOND[unit]);
  const rest = ((value % perSecond) + perSecond) % perSecond;
  const seconds = Number((value - rest) / perSecond);
  const days = Math.floor(seconds / 86_400);
  const day = dateText(days);
  if (day === undefined) return undefined;
  const second = seconds - days * 86_400;
  const nanos = String(rest * (1_000_000_000n / perSecond)).padStart(9, "0");
  const fraction =
    rest === 0n ? "" : `.${nanos.endsWith("000000") ? nanos.slice(0, 3) : nanos.endsWith("000") ? nanos.slice(0, 6) : nanos}`;
  return `${day}T${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}${fraction}`;
}

/** Days since 1970-01-01 of a date, or of the day of a timestamp; undefined when the text is neither. */
export function dateOfText(text: string): number | undefined {
  const days = dayOf(text.trim());
  if (days !== undefined) return days;
  const nanos = timestampOfText(text);
  return nanos === undefined ? undefined : Math.floor(Number(nanos / 1_000_000_000n - (nanos % 1_000_000_000n < 0n ? 1n : 0n)) / 86_400);
}

function dayOf(text: string): number | undefined {
  const match = DAY.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? date.getTime() / DAY_MILLIS : undefined;
}

/** Nanoseconds since the epoch; undefined when the text is no timestamp. A text without a zone is in UTC. */
export function timestampOfText(text: string): bigint | undefined {
  const match = TIME.exec(text.trim());
  const days = dayOf(match?.[1] ?? "");
  if (match === null || days === undefined) return undefined;
  const [hour, minute, second] = [Number(match[2] ?? 0), Number(match[3] ?? 0), Number(match[4] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const offset = offsetSeconds(match[6], match[7], match[8]);
  if (offset === undefined) return undefined;
  const fraction = BigInt((match[5] ?? "").slice(0, 9).padEnd(9, "0"));
  return BigInt(days * 86_400 + hour * 3600 + minute * 60 + second - offset) * 1_000_000_000n + fraction;
}

/** Seconds east of Greenwich, from -13:59 to +14:00; undefined when there is no such zone. */
function offsetSeconds(sign: string | undefined, hours = "0", minutes = "0"): number | undefined {
  const total = Number(hours) * 60 + Number(minutes);
  if (Number(minutes) > 59 || total > 14 * 60 || (sign === "-" && total > 13 * 60 + 59)) return undefined;
  return (sign === "-" ? -total : total) * 60;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
