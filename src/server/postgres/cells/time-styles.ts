/** Dates, timestamps and intervals as `DateStyle` and `IntervalStyle` want them (contract query.md 4.2). */
import type { IntervalParts } from "../../../column/interval-bytes.ts";
import type { SessionSettings } from "../../../query/session-settings.ts";
import { civilFromDays } from "../../../value/civil.ts";

const DAY_SECONDS = 86_400;
const NANOS_PER_SECOND = 1_000_000_000n;
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const two = (value: number): string => String(value).padStart(2, "0");

interface ShownDate {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly monthName: string;
  readonly dayName: string;
  /** ` BC` for years before the first. */
  readonly era: string;
}

function shownDate(days: number): ShownDate {
  const { year, month, day } = civilFromDays(days);
  const isBefore = year <= 0;
  return {
    year: String(isBefore ? 1 - year : year).padStart(4, "0"),
    month: two(month),
    day: two(day),
    monthName: MONTHS[month - 1] ?? "",
    dayName: DAYS[(((days + 4) % 7) + 7) % 7] ?? "",
    era: isBefore ? " BC" : "",
  };
}

type DateStyle = Pick<SessionSettings, "dateStyle" | "dateOrder">;

function dateWithoutEra({ year, month, day }: ShownDate, { dateStyle, dateOrder }: DateStyle): string {
  const isDayFirst = dateOrder === "DMY";
  switch (dateStyle) {
    case "ISO":
      return `${year}-${month}-${day}`;
    case "SQL":
      return isDayFirst ? `${day}/${month}/${year}` : `${month}/${day}/${year}`;
    case "Postgres":
      return isDayFirst ? `${day}-${month}-${year}` : `${month}-${day}-${year}`;
    case "German":
      return `${day}.${month}.${year}`;
  }
}

/** A date. @param days since 1970-01-01 */
export function dateText(days: number, style: DateStyle): string {
  const date = shownDate(days);
  return dateWithoutEra(date, style) + date.era;
}

/** A timestamp, always with six digits of a fraction. @param seconds since 1970 */
export function stampText(seconds: number, micros: number, style: DateStyle): string {
  const days = Math.floor(seconds / DAY_SECONDS);
  const date = shownDate(days);
  const time = `${clockText(seconds - days * DAY_SECONDS)}.${String(micros).padStart(6, "0")}`;
  if (style.dateStyle !== "Postgres") return `${dateWithoutEra(date, style)} ${time}${date.era}`;
  const { dayName, monthName, day, year, era } = date;
  const dayAndMonth = style.dateOrder === "DMY" ? `${day} ${monthName}` : `${monthName} ${day}`;
  return `${dayName} ${dayAndMonth} ${time} ${year}${era}`;
}

function clockText(seconds: number): string {
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

interface ShownInterval {
  readonly years: number;
  readonly months: number;
  readonly days: number;
  readonly isNegativeTime: boolean;
  readonly hours: bigint;
  readonly minutes: bigint;
  readonly seconds: bigint;
  /** With its point; empty for none. */
  readonly fraction: string;
}

function shownInterval({ months, days, nanos }: IntervalParts): ShownInterval {
  const isNegativeTime = nanos < 0n;
  const size = isNegativeTime ? -nanos : nanos;
  const whole = size / NANOS_PER_SECOND;
  const micros = (size % NANOS_PER_SECOND) / 1000n;
  const fraction = micros === 0n ? "" : `.${String(micros).padStart(6, "0").replace(/0+$/, "")}`;
  return {
    years: Math.trunc(months / 12),
    months: months % 12,
    days,
    isNegativeTime,
    hours: whole / 3600n,
    minutes: (whole / 60n) % 60n,
    seconds: whole % 60n,
    fraction,
  };
}

/** An interval; what is finer than a microsecond is cut off. */
export function intervalStyled(interval: IntervalParts, style: SessionSettings["intervalStyle"]): string {
  const shown = shownInterval(interval);
  switch (style) {
    case "iso_8601":
      return isoInterval(shown);
    case "sql_standard":
      return sqlInterval(shown);
    case "postgres":
      return postgresInterval(shown);
    case "postgres_verbose":
      return verboseInterval(shown);
  }
}

const hasTime = ({ hours, minutes, seconds, fraction }: ShownInterval): boolean =>
  hours !== 0n || minutes !== 0n || seconds !== 0n || fraction !== "";

function isoInterval(shown: ShownInterval): string {
  const { years, months, days, hours, minutes, seconds, fraction, isNegativeTime } = shown;
  const sign = isNegativeTime ? "-" : "";
  const date = `${years === 0 ? "" : `${years}Y`}${months === 0 ? "" : `${months}M`}${days === 0 ? "" : `${days}D`}`;
  const parts = [hours === 0n ? "" : `${sign}${hours}H`, minutes === 0n ? "" : `${sign}${minutes}M`];
  if (seconds !== 0n || fraction !== "") parts.push(`${sign}${seconds}${fraction}S`);
  const time = parts.join("");
  return date === "" && time === "" ? "PT0S" : `P${date}${time === "" ? "" : `T${time}`}`;
}

const clockOf = ({ hours, minutes, seconds, fraction }: ShownInterval, hourDigits: number): string =>
  `${String(hours).padStart(hourDigits, "0")}:${String(minutes).padStart(2, "0")}:${String(seconds).padStart(2, "0")}${fraction}`;

function sqlInterval(shown: ShownInterval): string {
  const { years, months, days, isNegativeTime } = shown;
  const hasYears = years !== 0 || months !== 0;
  if (!hasYears && days === 0 && !hasTime(shown)) return "0";
  const isNegative = years < 0 || months < 0 || days < 0 || isNegativeTime;
  const isMixed = isNegative && (years > 0 || months > 0 || days > 0 || (!isNegativeTime && hasTime(shown)));
  const kinds = [hasYears, days !== 0, hasTime(shown)].filter(Boolean).length;
  if (isMixed || (hasYears && kinds > 1)) {
    const yearSign = years < 0 || months < 0 ? "-" : "+";
    const daySign = days < 0 ? "-" : "+";
    const timeSign = isNegativeTime ? "-" : "+";
    return `${yearSign}${Math.abs(years)}-${Math.abs(months)} ${daySign}${Math.abs(days)} ${timeSign}${clockOf(shown, 1)}`;
  }
  const sign = isNegative ? "-" : "";
  if (hasYears) return `${sign}${Math.abs(years)}-${Math.abs(months)}`;
  return `${sign}${days === 0 ? "" : `${Math.abs(days)} `}${clockOf(shown, 1)}`;
}

function postgresInterval(shown: ShownInterval): string {
  const { years, months, days, isNegativeTime } = shown;
  const parts: string[] = [];
  let isAfterNegative = false;
  const add = (amount: number, one: string): void => {
    if (amount === 0) return;
    parts.push(`${isAfterNegative && amount > 0 ? "+" : ""}${amount} ${one}${amount === 1 ? "" : "s"}`);
    isAfterNegative = amount < 0;
  };
  add(years, "year");
  add(months, "mon");
  add(days, "day");
  if (hasTime(shown) || parts.length === 0) parts.push(`${isNegativeTime ? "-" : isAfterNegative ? "+" : ""}${clockOf(shown, 2)}`);
  return parts.join(" ");
}

function verboseInterval(shown: ShownInterval): string {
  const { years, months, days, hours, minutes, seconds, fraction, isNegativeTime } = shown;
  const timeSign = isNegativeTime ? -1n : 1n;
  const amounts: readonly (readonly [bigint, string, string])[] = [
    [BigInt(years), "year", ""],
    [BigInt(months), "mon", ""],
    [BigInt(days), "day", ""],
    [timeSign * hours, "hour", ""],
    [timeSign * minutes, "min", ""],
    [timeSign * seconds, "sec", fraction],
  ];
  const isZero = ([amount, , rest]: (typeof amounts)[number]): boolean => amount === 0n && rest === "";
  const first = amounts.find((each) => !isZero(each));
  if (first === undefined) return "@ 0";
  const isPast = first[0] < 0n || (first[0] === 0n && isNegativeTime);
  const words = amounts
    .filter((each) => !isZero(each))
    .map(([amount, one, rest]) => {
      const shownAmount = isPast ? -amount : amount;
      const sign = shownAmount === 0n && rest !== "" && isNegativeTime !== isPast ? "-" : "";
      return `${sign}${shownAmount}${rest} ${one}${(shownAmount === 1n || shownAmount === -1n) && rest === "" ? "" : "s"}`;
    });
  return `@ ${words.join(" ")}${isPast ? " ago" : ""}`;
}
