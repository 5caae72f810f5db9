/**
 * strftime patterns of TIMESTAMP_FORMAT, DATE_FORMAT and TIME_FORMAT: times in UTC → text, and text → times.
 *
 * `%Y %y %m %d %e %j %H %I %M %S %p %b %B %a %A %f %3f %6f %9f %.f %.3f %.6f %.9f %z %:z %Z %s %F %D %T %R %n %t %%`
 */
import { offsetSecondsOfText } from "../../base/time-zone.ts";
import { civilFromDays, daysFromCivil, daysInMonth, floorDivide, floorModulo } from "../../value/civil.ts";

const NANOS_PER_SECOND = 1_000_000_000n;
const MONTHS: readonly string[] = "January February March April May June July August September October November December".split(" ");
const DAYS: readonly string[] = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** Shorthands for several items. */
const SHORT: Readonly<Record<string, string>> = { F: "%Y-%m-%d", D: "%m/%d/%y", T: "%H:%M:%S", R: "%H:%M" };

/** A moment taken apart. */
interface Parts {
  readonly days: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly second: number;
  readonly nanos: bigint;
  readonly epochSeconds: bigint;
}

/** What was read of a text. */
type Fields = Map<string, string>;

const padded = (value: number | bigint, width: number): string => String(value).padStart(width, "0");
const hourOf = ({ second }: Parts): number => Math.floor(second / 3600);

/** How an item is written, and what its text looks like. */
interface Item {
  readonly write: (parts: Parts) => string;
  readonly read: string;
}

const ITEMS: Readonly<Record<string, Item>> = {
  Y: { write: ({ year }) => (year < 0 ? `-${padded(-year, 4)}` : padded(year, 4)), read: "[+-]?\\d{4,6}" },
  y: { write: ({ year }) => padded(((year % 100) + 100) % 100, 2), read: "\\d{2}" },
  m: { write: ({ month }) => padded(month, 2), read: "\\d{1,2}" },
  d: { write: ({ day }) => padded(day, 2), read: "\\d{1,2}" },
  e: { write: ({ day }) => String(day).padStart(2, " "), read: "\\s?\\d{1,2}" },
  j: { write: ({ days, year }) => padded(days - daysFromCivil(year, 1, 1) + 1, 3), read: "\\d{1,3}" },
  H: { write: (parts) => padded(hourOf(parts), 2), read: "\\d{1,2}" },
  I: { write: (parts) => padded(hourOf(parts) % 12 === 0 ? 12 : hourOf(parts) % 12, 2), read: "\\d{1,2}" },
  M: { write: ({ second }) => padded(Math.floor(second / 60) % 60, 2), read: "\\d{1,2}" },
  S: { write: ({ second }) => padded(second % 60, 2), read: "\\d{1,2}" },
  p: { write: (parts) => (hourOf(parts) < 12 ? "AM" : "PM"), read: "[AaPp][Mm]" },
  b: { write: ({ month }) => (MONTHS[month - 1] ?? "").slice(0, 3), read: "[A-Za-z]{3}" },
  B: { write: ({ month }) => MONTHS[month - 1] ?? "", read: "[A-Za-z]+" },
  a: { write: ({ days }) => weekday(days).slice(0, 3), read: "[A-Za-z]{3}" },
  A: { write: ({ days }) => weekday(days), read: "[A-Za-z]+" },
  z: { write: () => "+0000", read: "[+-]\\d{4}" },
  ":z": { write: () => "+00:00", read: "[+-]\\d{2}:\\d{2}" },
  Z: { write: () => "UTC", read: "UTC|Z" },
  s: { write: ({ epochSeconds }) => String(epochSeconds), read: "-?\\d{1,12}" },
  f: { write: ({ nanos }) => padded(nanos, 9), read: "\\d{1,9}" },
  "3f": { write: ({ nanos }) => padded(nanos / 1_000_000n, 3), read: "\\d{3}" },
  "6f": { write: ({ nanos }) => padded(nanos / 1000n, 6), read: "\\d{6}" },
  "9f": { write: ({ nanos }) => padded(nanos, 9), read: "\\d{9}" },
  ".f": { write: ({ nanos }) => fraction(nanos), read: "(?:\\.\\d{1,9})?" },
  ".3f": { write: ({ nanos }) => `.${padded(nanos / 1_000_000n, 3)}`, read: "\\.\\d{3}" },
  ".6f": { write: ({ nanos }) => `.${padded(nanos / 1000n, 6)}`, read: "\\.\\d{6}" },
  ".9f": { write: ({ nanos }) => `.${padded(nanos, 9)}`, read: "\\.\\d{9}" },
};

function weekday(days: number): string {
  return DAYS[(((days + 4) % 7) + 7) % 7] ?? "";
}

function fraction(nanos: bigint): string {
  if (nanos === 0n) return "";
  const digits = padded(nanos, 9);
  return `.${digits.endsWith("000000") ? digits.slice(0, 3) : digits.endsWith("000") ? digits.slice(0, 6) : digits}`;
}

/** A pattern, taken apart once. */
export class TimePattern {
  private readonly pieces: readonly (string | Item)[];
  private readonly names: readonly string[];
  private readonly regex: RegExp;

  private constructor(pieces: readonly (string | Item)[], names: readonly string[], regex: RegExp) {
    this.pieces = pieces;
    this.names = names;
    this.regex = regex;
  }

  /** The pattern of a text, or what is wrong with it. At most 256 characters. */
  static of(text: string): TimePattern | string {
    if (text === "" || text.length > 256) return "it must have 1 to 256 characters";
    const whole = text.replace(/%([FDTR])/g, (_, name: string) => SHORT[name] ?? "");
    const pieces: (string | Item)[] = [];
    const names: string[] = [];
    let regex = "";
    for (let at = 0; at < whole.length; ) {
      const match = /^%(\.[369]?f|[369]f|:z|[A-Za-z%])/.exec(whole.slice(at, at + 4));
      if (whole[at] === "%" && match === null) return `behind '%' must stand a letter, at character ${at + 1}`;
      const name = match?.[1];
      const literal = name === undefined ? whole[at] : { "%": "%", n: "\n", t: "\t" }[name];
      at += match?.[0].length ?? 1;
      if (literal !== undefined) {
        pieces.push(literal);
        regex += literal.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
        continue;
      }
      const item = ITEMS[name ?? ""];
      if (item === undefined) return `there is no %${name}`;
      pieces.push(item);
      names.push(name ?? "");
      regex += `(${item.read})`;
    }
    return new TimePattern(pieces, names, new RegExp(`^${regex}$`));
  }

  /** The text of a moment, nanoseconds since the epoch. */
  format(nanos: bigint): string {
    const epochSeconds = floorDivide(nanos, NANOS_PER_SECOND);
    const days = Number(floorDivide(epochSeconds, 86_400n));
    const { year, month, day } = civilFromDays(days);
    const parts: Parts = {
      days,
      year,
      month,
      day,
      second: Number(floorModulo(epochSeconds, 86_400n)),
      nanos: floorModulo(nanos, NANOS_PER_SECOND),
      epochSeconds,
    };
    let text = "";
    for (const piece of this.pieces) text += typeof piece === "string" ? piece : piece.write(parts);
    return text;
  }

  /** The moment of a text, nanoseconds since the epoch; undefined when it is not of the pattern. What a pattern lacks is as of 1970. */
  parse(text: string): bigint | undefined {
    const match = this.regex.exec(text.trim());
    if (match === null) return undefined;
    const fields: Fields = new Map(this.names.map((name, i) => [name, match[i + 1] ?? ""]));
    const nanos = nanosOf(fields);
    const epoch = fields.get("s");
    if (epoch !== undefined) return BigInt(epoch) * NANOS_PER_SECOND + nanos;
    const days = daysOf(fields);
    const seconds = secondsOf(fields);
    const offset = offsetOf(fields);
    if (days === undefined || seconds === undefined || offset === undefined) return undefined;
    return BigInt(days * 86_400 + seconds - offset) * NANOS_PER_SECOND + nanos;
  }
}

function daysOf(fields: Fields): number | undefined {
  const short = fields.get("y");
  const year = Number(fields.get("Y") ?? (short === undefined ? 1970 : Number(short) + (Number(short) < 70 ? 2000 : 1900)));
  const dayOfYear = fields.get("j");
  if (dayOfYear !== undefined) {
    const length = daysFromCivil(year + 1, 1, 1) - daysFromCivil(year, 1, 1);
    return Number(dayOfYear) >= 1 && Number(dayOfYear) <= length ? daysFromCivil(year, 1, 1) + Number(dayOfYear) - 1 : undefined;
  }
  const named = (fields.get("B") ?? fields.get("b"))?.toLowerCase();
  const month = named === undefined ? Number(fields.get("m") ?? 1) : monthNamed(named, fields.has("B"));
  const day = Number(fields.get("d") ?? fields.get("e") ?? 1);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return daysFromCivil(year, month, day);
}

function monthNamed(name: string, isWhole: boolean): number {
  return MONTHS.findIndex((month) => (isWhole ? month : month.slice(0, 3)).toLowerCase() === name) + 1;
}

function secondsOf(fields: Fields): number | undefined {
  const half = fields.get("p")?.toUpperCase();
  const twelve = fields.get("I");
  let hour = Number(fields.get("H") ?? 0);
  if (twelve !== undefined) {
    if (Number(twelve) < 1 || Number(twelve) > 12) return undefined;
    hour = (Number(twelve) % 12) + (half === "PM" ? 12 : 0);
  }
  const [minute, second] = [Number(fields.get("M") ?? 0), Number(fields.get("S") ?? 0)];
  return hour > 23 || minute > 59 || second > 60 ? undefined : hour * 3600 + minute * 60 + second;
}

function nanosOf(fields: Fields): bigint {
  const name = [...fields.keys()].find((key) => key.endsWith("f"));
  const digits = name === undefined ? "" : (fields.get(name) ?? "").replace(".", "");
  // `%f` is a number of nanoseconds when it is written with nine digits, a fraction when with fewer.
  return BigInt(digits.padEnd(9, "0"));
}

/** Seconds ahead of UTC; undefined for an offset that is none. */
function offsetOf(fields: Fields): number | undefined {
  const text = fields.get("z") ?? fields.get(":z");
  return text === undefined ? 0 : offsetSecondsOfText(text);
}
