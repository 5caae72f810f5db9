/**
 * Prints times by a strftime format in chrono's dialect. A format is compiled once to a list of items. Flags between `%` and the letter:
 * `-` no padding, `_` blanks, `0` zeros. Source: https://docs.rs/chrono/latest/chrono/format/strftime/index.html
 *
 * Limits: those of `compiled-formats.ts`.
 */
import { civilFromDays, daysFromCivil, floorDivide, floorModulo } from "../../../value/civil.ts";
import { CompiledFormats } from "./compiled-formats.ts";

/** A moment as a zone's clock shows it. */
export interface LocalTime {
  /** Nanoseconds since 1970-01-01T00:00:00 of the local clock. */
  readonly nanos: bigint;
  /** Seconds ahead of UTC. */
  readonly offsetSeconds: number;
  readonly zone: string;
}

const formats = new CompiledFormats<Item>({
  purpose: "format a time by",
  usable: "",
  plain: (text) => [() => text],
  item: itemOf,
});

/** Prints one item. */
type Item = (time: Fields) => string;

/** A local time taken apart. */
interface Fields extends LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Days since 1970-01-01. */
  readonly days: number;
  readonly seconds: number;
  readonly fraction: number;
}

/** @throws DbError EngineExecuteQuery for a format with items that chrono does not know, or one that is too long */
export function checkPrintingFormat(format: string): void {
  formats.of(format);
}

/** A time as a format says. @throws DbError EngineExecuteQuery for items that chrono does not know */
export function formatLocalTime(time: LocalTime, format: string): string {
  const seconds = floorDivide(time.nanos, 1_000_000_000n);
  const days = Number(floorDivide(seconds, 86_400n));
  const { year, month, day } = civilFromDays(days);
  const fraction = Number(floorModulo(time.nanos, 1_000_000_000n));
  const { nanos, offsetSeconds, zone } = time;
  const fields: Fields = { nanos, offsetSeconds, zone, year, month, day, days, seconds: Number(floorModulo(seconds, 86_400n)), fraction };
  let text = "";
  for (const item of formats.of(format)) text += item(fields);
  return text;
}

/** Names in English, of months from January on and of days from Monday on. */
export const MONTHS: readonly string[] = "January February March April May June July August September October November December".split(" ");
export const WEEKDAYS: readonly string[] = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
const weekday = (time: Fields): number => (((time.days + 3) % 7) + 7) % 7;
const dayOfYear = (time: Fields): number => time.days - daysFromCivil(time.year, 1, 1);
const hour = (time: Fields): number => Math.floor(time.seconds / 3600);
const hour12 = (time: Fields): number => hour(time) % 12 || 12;
const isoYear = (time: Fields): number => civilFromDays(time.days - weekday(time) + 3).year;
const isoWeek = (time: Fields): number => Math.floor((time.days - weekday(time) + 3 - daysFromCivil(isoYear(time), 1, 1)) / 7) + 1;

/** Numbers: width, what fills it, value. */
const NUMBERS: Readonly<Record<string, readonly [width: number, fill: " " | "0", value: (time: Fields) => number]>> = {
  Y: [4, "0", (t) => t.year],
  C: [2, "0", (t) => Math.floor(t.year / 100)],
  y: [2, "0", (t) => ((t.year % 100) + 100) % 100],
  q: [1, "0", (t) => Math.ceil(t.month / 3)],
  m: [2, "0", (t) => t.month],
  d: [2, "0", (t) => t.day],
  e: [2, " ", (t) => t.day],
  j: [3, "0", (t) => dayOfYear(t) + 1],
  w: [1, "0", (t) => (weekday(t) + 1) % 7],
  u: [1, "0", (t) => weekday(t) + 1],
  U: [2, "0", (t) => Math.floor((dayOfYear(t) + 7 - ((weekday(t) + 1) % 7)) / 7)],
  W: [2, "0", (t) => Math.floor((dayOfYear(t) + 7 - weekday(t)) / 7)],
  G: [4, "0", isoYear],
  g: [2, "0", (t) => ((isoYear(t) % 100) + 100) % 100],
  V: [2, "0", isoWeek],
  H: [2, "0", hour],
  k: [2, " ", hour],
  I: [2, "0", hour12],
  l: [2, " ", hour12],
  M: [2, "0", (t) => Math.floor(t.seconds / 60) % 60],
  S: [2, "0", (t) => t.seconds % 60],
  f: [9, "0", (t) => t.fraction],
};

const nameOf = (names: readonly string[], at: number): string => names[at] ?? "";

const TEXTS: Readonly<Record<string, Item>> = {
  B: (t) => nameOf(MONTHS, t.month - 1),
  b: (t) => nameOf(MONTHS, t.month - 1).slice(0, 3),
  h: (t) => nameOf(MONTHS, t.month - 1).slice(0, 3),
  A: (t) => nameOf(WEEKDAYS, weekday(t)),
  a: (t) => nameOf(WEEKDAYS, weekday(t)).slice(0, 3),
  p: (t) => (hour(t) < 12 ? "AM" : "PM"),
  P: (t) => (hour(t) < 12 ? "am" : "pm"),
  s: (t) => String(floorDivide(t.nanos, 1_000_000_000n) - BigInt(t.offsetSeconds)),
  Z: (t) => t.zone,
  z: (t) => offsetText(t.offsetSeconds, "", false),
  ":z": (t) => offsetText(t.offsetSeconds, ":", false),
  "::z": (t) => offsetText(t.offsetSeconds, ":", true),
  ":::z": (t) => offsetText(t.offsetSeconds, "", false).slice(0, 3),
  "#z": (t) => offsetText(t.offsetSeconds, "", false),
  ".f": (t) => (t.fraction === 0 ? "" : `.${digitsOf(t, t.fraction % 1_000_000 === 0 ? 3 : t.fraction % 1000 === 0 ? 6 : 9)}`),
  n: () => "\n",
  t: () => "\t",
  "%": () => "%",
};

const digitsOf = (time: Fields, count: number): string => String(time.fraction).padStart(9, "0").slice(0, count);

function offsetText(seconds: number, between: string, withSeconds: boolean): string {
  const total = Math.abs(seconds);
  const parts = [Math.floor(total / 3600), Math.floor(total / 60) % 60, ...(withSeconds ? [total % 60] : [])];
  return (seconds < 0 ? "-" : "+") + parts.map((part) => String(part).padStart(2, "0")).join(between);
}

function itemOf(name: string, flag: string): Item | undefined {
  const number = Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : undefined;
  if (number !== undefined) {
    const [width, fill, value] = number;
    const padding = flag === "_" ? " " : flag === "0" ? "0" : fill;
    return (time) => padded(value(time), flag === "-" ? 0 : width, padding);
  }
  const digits = /^(\.?)([369])f$/.exec(name);
  if (digits !== null) return (time) => `${digits[1]}${digitsOf(time, Number(digits[2]))}`;
  return Object.hasOwn(TEXTS, name) ? TEXTS[name] : undefined;
}

/** Years beyond four digits carry their sign. */
function padded(value: number, width: number, fill: string): string {
  const sign = value < 0 ? "-" : width === 4 && value > 9999 ? "+" : "";
  return sign + String(Math.abs(value)).padStart(width, fill);
}
