/**
 * Interval texts → months, days and nanoseconds. Three spellings: a list of amounts with units (`1 year 2 months`, `1h30m`, `-3 days`),
 * with an optional clock part (`1 day 02:03:04.5`); ISO 8601 (`P1Y2M3DT4H5M6.7S`); and a bare number, which counts seconds.
 * Fractions flow down: a fraction of a year is months, of a month days (30 to a month), of a week or a day nanoseconds.
 */
import type { IntervalParts } from "../../column/interval-bytes.ts";
import { INT64_MAX } from "../../column/exact-integer.ts";

const NANOS_PER_SECOND = 1_000_000_000n;
const NANOS_PER_DAY = 86_400n * NANOS_PER_SECOND;
const DAYS_PER_MONTH = 30n;
const INT32_MAX = 2n ** 31n - 1n;

/** What one unit is made of: a count of months, of days or of nanoseconds. */
interface Unit {
  readonly part: "months" | "days" | "nanos";
  readonly size: bigint;
}

const UNITS: ReadonlyMap<string, Unit> = new Map(
  (
    [
      ["months", 12_000n, "millennium millenniums millennia mil mils"],
      ["months", 1_200n, "century centuries cent c"],
      ["months", 120n, "decade decades dec decs"],
      ["months", 12n, "year years yr yrs y"],
      ["months", 3n, "quarter quarters"],
      ["months", 1n, "month months mon mons"],
      ["days", 7n, "week weeks w"],
      ["days", 1n, "day days d"],
      ["nanos", 3_600n * NANOS_PER_SECOND, "hour hours hr hrs h"],
      ["nanos", 60n * NANOS_PER_SECOND, "minute minutes min mins m"],
      ["nanos", NANOS_PER_SECOND, "second seconds sec secs s"],
      ["nanos", 1_000_000n, "millisecond milliseconds millis msec msecs ms"],
      ["nanos", 1_000n, "microsecond microseconds micros usec usecs us µs μs"],
      ["nanos", 1n, "nanosecond nanoseconds nanos nsec nsecs ns"],
    ] as const
  ).flatMap(([part, size, names]) => names.split(" ").map((name) => [name, { part, size }] as const)),
);

/** Units of ISO 8601 before and after the `T`. */
const ISO_DATE: Readonly<Record<string, string>> = { Y: "year", M: "month", W: "week", D: "day" };
const ISO_TIME: Readonly<Record<string, string>> = { H: "hour", M: "minute", S: "second" };

const AMOUNT = /([+-]?)(\d+\.?\d*|\.\d+)\s*([a-zµμ]+)|([+-]?)(\d+):(\d{1,2})(?::(\d{1,2}(?:\.\d+)?))?/iy;
const ISO_AMOUNT = /([+-]?)(\d+\.?\d*|\.\d+)([YMWDHS])|(T)/y;

/** Whether a word is a unit of time: `day`, `mins`, `h`. */
export function isIntervalUnit(word: string): boolean {
  return UNITS.has(word.toLowerCase());
}

/** Sums amounts exactly; a fraction is a count over a power of ten. */
class Sum {
  private months = 0n;
  private days = 0n;
  private nanos = 0n;

  /** Adds `digits` (unsigned, with or without a point) of a unit. Returns false for an unknown unit. */
  add(sign: string, digits: string, unitName: string): boolean {
    const unit = UNITS.get(unitName.toLowerCase());
    if (unit === undefined) return false;
    const [whole = "", fraction = ""] = digits.split(".");
    const scale = 10n ** BigInt(fraction.length);
    const scaled = BigInt(whole + fraction || "0") * (sign === "-" ? -1n : 1n);
    this.spread(unit.part, scaled * unit.size, scale, unit.part === "days" ? unit.size : 1n);
    return true;
  }

  /** @param size days that fractions are not cut into */
  private spread(part: Unit["part"], scaled: bigint, scale: bigint, size = 1n): void {
    if (part === "nanos") {
      this.nanos += scaled / scale;
      return;
    }
    if (part === "months") {
      this.months += scaled / scale;
      this.spread("days", (scaled % scale) * DAYS_PER_MONTH, scale);
      return;
    }
    // Of one and a half weeks one is seven days, the half is hours.
    const whole = scaled / (scale * size);
    this.days += whole * size;
    this.nanos += ((scaled - whole * scale * size) * NANOS_PER_DAY) / scale;
  }

  value(): IntervalParts | undefined {
    const fits = (value: bigint, max: bigint): boolean => value <= max && value >= -max - 1n;
    if (!fits(this.months, INT32_MAX) || !fits(this.days, INT32_MAX) || !fits(this.nanos, INT64_MAX)) return undefined;
    return { months: Number(this.months), days: Number(this.days), nanos: this.nanos };
  }
}

/**
 * Reads an interval text.
 *
 * @returns undefined for a text that is no interval, or one beyond 2^31 months or days or 2^63 nanoseconds
 */
export function parseInterval(text: string): IntervalParts | undefined {
  const trimmed = text.trim();
  if (trimmed.length === 0 || trimmed.length > 256) return undefined;
  const iso = /^([+-]?)P(?=.)/i.exec(trimmed);
  if (iso !== null) return parseIso(trimmed.slice(iso[0].length).toUpperCase(), iso[1] ?? "");
  const sum = new Sum();
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(trimmed)) {
    sum.add(trimmed.startsWith("-") ? "-" : "", trimmed.replace(/^[+-]/, ""), "second");
    return sum.value();
  }
  return addAmounts(sum, trimmed) ? sum.value() : undefined;
}

function addAmounts(sum: Sum, text: string): boolean {
  let at = 0;
  while (at < text.length) {
    AMOUNT.lastIndex = at;
    const match = AMOUNT.exec(text);
    if (match === null) return false;
    const [all, sign = "", digits, unit = "", clockSign = "", hours = "0", minutes = "0", seconds = "0"] = match;
    if (digits !== undefined) {
      if (!sum.add(sign, digits, unit)) return false;
    } else {
      if (Number(minutes) > 59 || Number(seconds) >= 60) return false;
      sum.add(clockSign, hours, "hour");
      sum.add(clockSign, minutes, "minute");
      sum.add(clockSign, seconds, "second");
    }
    at += all.length;
    while (text.charAt(at) === " " || text.charAt(at) === "\t") at++;
  }
  return true;
}

function parseIso(text: string, outerSign: string): IntervalParts | undefined {
  const sum = new Sum();
  let at = 0;
  let units = ISO_DATE;
  let amounts = 0;
  while (at < text.length) {
    ISO_AMOUNT.lastIndex = at;
    const match = ISO_AMOUNT.exec(text);
    if (match === null) return undefined;
    const [all, sign = "", digits = "", letter = ""] = match;
    at += all.length;
    if (all === "T") {
      if (units === ISO_TIME || at === text.length) return undefined;
      units = ISO_TIME;
      continue;
    }
    const unit = units[letter];
    if (unit === undefined) return undefined;
    const negative = (sign === "-") !== (outerSign === "-");
    sum.add(negative ? "-" : "", digits, unit);
    amounts++;
  }
  return amounts === 0 ? undefined : sum.value();
}
