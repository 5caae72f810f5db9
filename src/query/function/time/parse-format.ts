/**
 * Reads times by a strftime format in chrono's dialect: the counterpart of `strftime.ts`. A format is compiled once to a list of steps,
 * each of which takes what it can at its place and never goes back, so that a text is read in one pass.
 * Source: https://docs.rs/chrono/latest/chrono/format/strftime/index.html
 *
 * Blanks of a format stand for any number of blanks; numbers may have fewer digits than they are printed with. Parts that a format does not
 * name are the first of their kind: January, the first, midnight, UTC. Weeks (`%U %W %V %G %g`) print only.
 *
 * Limits: those of `compiled-formats.ts`.
 */
import { daysFromCivil, daysInMonth } from "../../../value/civil.ts";
import { CompiledFormats } from "./compiled-formats.ts";
import { utcSecondsOf } from "../../../base/text/time-zone.ts";

const formats = new CompiledFormats<Step>({
  purpose: "read a time by",
  usable: "that can be read",
  plain: (text) => (text.match(/\s+|\S+/g) ?? []).map((run) => (/\s/.test(run) ? blanks : literally(run))),
  item: stepOf,
});

/** What has been read. */
interface Fields {
  year?: number;
  century?: number;
  yearOfCentury?: number;
  month?: number;
  day?: number;
  dayOfYear?: number;
  hour?: number;
  hour12?: number;
  afternoon?: boolean;
  minute?: number;
  second?: number;
  nanos?: number;
  /** Digits that `%f` was written with. */
  numberDigits?: number;
  zoneName?: string;
  offset?: number;
  epoch?: number;
}

/** Takes what it can of a text at a place and says where it ends, or -1. */
type Step = (text: string, at: number, fields: Fields) => number;

/**
 * Nanoseconds since the epoch, or undefined when the text is not written like that.
 *
 * @param zone canonical zone for texts that name none
 * @throws DbError EngineExecuteQuery for a format that cannot be read by
 */
export function parseByFormat(text: string, format: string, zone: string): bigint | undefined {
  const fields = fieldsOf(text, format);
  return fields === undefined ? undefined : momentOf(fields, zone);
}

/**
 * Nanoseconds since the epoch of a text in UTC, or undefined when the text is not written like that. Where `parseByFormat` needs a year,
 * this takes 1970; fewer digits than nine of `%f` are a fraction; a name of another zone than UTC is refused, as it would be wrong.
 *
 * @throws DbError EngineExecuteQuery for a format that cannot be read by
 */
export function parseUtcByFormat(text: string, format: string): bigint | undefined {
  const fields = fieldsOf(text, format);
  if (fields === undefined || !UTC_NAMES.includes(fields.zoneName ?? "UTC")) return undefined;
  if (fields.century === undefined && fields.yearOfCentury === undefined) fields.year ??= 1970;
  if (fields.numberDigits !== undefined) fields.nanos = (fields.nanos ?? 0) * 10 ** (9 - fields.numberDigits);
  return momentOf(fields, "UTC");
}

/** @throws DbError EngineExecuteQuery for a format that cannot be read by */
export function checkReadingFormat(format: string): void {
  formats.of(format);
}

const UTC_NAMES: readonly string[] = ["UTC", "Z"];

function momentOf(fields: Fields, zone: string): bigint | undefined {
  const nanos = BigInt(fields.nanos ?? 0);
  if (fields.epoch !== undefined) return BigInt(fields.epoch) * 1_000_000_000n + nanos;
  const days = dayOf(fields);
  const seconds = secondsOf(fields);
  if (days === undefined || seconds === undefined) return undefined;
  const local = days * 86_400 + seconds;
  return BigInt(fields.offset === undefined ? utcSecondsOf(zone, local) : local - fields.offset) * 1_000_000_000n + nanos;
}

/** Nanoseconds since midnight, or undefined when the text is not written like that. @throws DbError EngineExecuteQuery as above */
export function parseClockByFormat(text: string, format: string): number | undefined {
  const fields = fieldsOf(text, format);
  const seconds = fields === undefined ? undefined : secondsOf(fields);
  return seconds === undefined ? undefined : seconds * 1_000_000_000 + (fields?.nanos ?? 0);
}

function fieldsOf(text: string, format: string): Fields | undefined {
  const fields: Fields = {};
  let at = 0;
  for (const step of formats.of(format)) {
    at = step(text, at, fields);
    if (at < 0) return undefined;
  }
  return at === text.length ? fields : undefined;
}

function dayOf({ year, century, yearOfCentury, month = 1, day = 1, dayOfYear }: Fields): number | undefined {
  const short = yearOfCentury ?? 0;
  const full = year ?? (century === undefined ? (short < 70 ? 2000 : 1900) + short : century * 100 + short);
  if (year === undefined && century === undefined && yearOfCentury === undefined) return undefined;
  if (dayOfYear === undefined)
    return month > 12 || month < 1 || day < 1 || day > daysInMonth(full, month) ? undefined : daysFromCivil(full, month, day);
  const first = daysFromCivil(full, 1, 1);
  return dayOfYear < 1 || dayOfYear > daysFromCivil(full + 1, 1, 1) - first ? undefined : first + dayOfYear - 1;
}

function secondsOf({ hour, hour12, afternoon, minute = 0, second = 0 }: Fields): number | undefined {
  if (hour12 !== undefined && (hour12 < 1 || hour12 > 12)) return undefined;
  const full = hour ?? (hour12 === undefined ? 0 : (hour12 % 12) + (afternoon === true ? 12 : 0));
  return full > 23 || minute > 59 || second > 60 ? undefined : full * 3600 + minute * 60 + second;
}

const MONTHS = "january february march april may june july august september october november december".split(" ");
const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
/** Numbers: most digits, where the value goes. */
const NUMBERS: Readonly<Record<string, readonly [width: number, take: TakeNumber]>> = {
  C: [2, (f, value) => (f.century = value)],
  y: [2, (f, value) => (f.yearOfCentury = value)],
  m: [2, (f, value) => (f.month = value)],
  d: [2, (f, value) => (f.day = value)],
  e: [2, (f, value) => (f.day = value)],
  j: [3, (f, value) => (f.dayOfYear = value)],
  H: [2, (f, value) => (f.hour = value)],
  k: [2, (f, value) => (f.hour = value)],
  I: [2, (f, value) => (f.hour12 = value)],
  l: [2, (f, value) => (f.hour12 = value)],
  M: [2, (f, value) => (f.minute = value)],
  S: [2, (f, value) => (f.second = value)],
  f: [9, takeNanos],
  u: [1, () => undefined],
  w: [1, () => undefined],
};

const TEXTS: Readonly<Record<string, Step>> = {
  Y: signed(4, (f, value) => (f.year = value)),
  s: signed(12, (f, value) => (f.epoch = value)),
  B: name(MONTHS, (f, index) => (f.month = index + 1)),
  b: name(MONTHS, (f, index) => (f.month = index + 1)),
  h: name(MONTHS, (f, index) => (f.month = index + 1)),
  A: name(WEEKDAYS, () => undefined),
  a: name(WEEKDAYS, () => undefined),
  p: halfOfDay,
  P: halfOfDay,
  z: offset,
  ":z": offset,
  "::z": offset,
  ":::z": offset,
  "#z": offset,
  Z: zoneName,
  n: blanks,
  t: blanks,
  "%": literally("%"),
};

/** What a number is for. `digits`: how many it was written with. */
type TakeNumber = (fields: Fields, value: number, digits: number) => void;

function takeNanos(fields: Fields, value: number, digits: number): void {
  fields.nanos = value;
  fields.numberDigits = digits;
}

function zoneName(text: string, at: number, fields: Fields): number {
  const end = endOf(/[A-Za-z]+/y, text, at);
  if (end >= 0) fields.zoneName = text.slice(at, end);
  return end;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function blanks(text: string, at: number): number {
  return endOf(/\s*/y, text, at);
}

function literally(part: string): Step {
  return (text, at) => (text.startsWith(part, at) ? at + part.length : -1);
}

function number(width: number, take: TakeNumber): Step {
  const digits = new RegExp(`\\d{1,${width}}`, "y");
  return (text, at, fields) => {
    const start = blanks(text, at);
    const end = endOf(digits, text, start);
    if (end >= 0) take(fields, Number(text.slice(start, end)), end - start);
    return end;
  };
}

/** A number that may have a sign, and with one more digits: years beyond 9999. */
function signed(width: number, take: (fields: Fields, value: number) => void): Step {
  const digits = new RegExp(`[+-]\\d{1,12}|\\d{1,${width}}`, "y");
  return (text, at, fields) => {
    const start = blanks(text, at);
    const end = endOf(digits, text, start);
    if (end >= 0) take(fields, Number(text.slice(start, end)));
    return end;
  };
}

/** A name in full or its first three letters, in letters of any size. */
function name(names: readonly string[], take: (fields: Fields, index: number) => void): Step {
  return (text, at, fields) => {
    const index = names.findIndex((each) => text.slice(at, at + 3).toLowerCase() === each.slice(0, 3));
    const full = names[index];
    if (full === undefined) return -1;
    take(fields, index);
    return at + (text.slice(at, at + full.length).toLowerCase() === full ? full.length : 3);
  };
}

function halfOfDay(text: string, at: number, fields: Fields): number {
  const half = text.slice(at, at + 2).toLowerCase();
  if (half !== "am" && half !== "pm") return -1;
  fields.afternoon = half === "pm";
  return at + 2;
}

function offset(text: string, at: number, fields: Fields): number {
  const start = blanks(text, at);
  const end = endOf(/[zZ]|[+-]\d\d(:?\d\d)?/y, text, start);
  if (end < 0) return -1;
  const digits = text
    .slice(start + 1, end)
    .replace(":", "")
    .padEnd(4, "0");
  if (Number(digits.slice(0, 2)) > 23 || Number(digits.slice(2)) > 59) return -1; // as base/text/time-zone.ts has it
  const seconds = end - start === 1 ? 0 : Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2)) * 60;
  fields.offset = text[start] === "-" ? -seconds : seconds;
  return end;
}

/** A fraction of a second with its point, or with `optional` nothing. `count` digits, or any number up to nine. */
function fraction(count: number | undefined, point: string, optional: boolean): Step {
  const digits = new RegExp(`${point === "" ? "" : "\\."}\\d{${count ?? "1,9"}}`, "y");
  return (text, at, fields) => {
    const end = endOf(digits, text, at);
    if (end < 0) return optional ? at : -1;
    fields.nanos = Number(text.slice(at + point.length, end).padEnd(9, "0"));
    return end;
  };
}

function stepOf(item: string): Step | undefined {
  const known = Object.hasOwn(NUMBERS, item) ? NUMBERS[item] : undefined;
  if (known !== undefined) return number(...known);
  if (item === ".f") return fraction(undefined, ".", true);
  const digits = /^(\.?)([369])f$/.exec(item);
  if (digits !== null) return fraction(Number(digits[2]), digits[1] ?? "", false);
  return Object.hasOwn(TEXTS, item) ? TEXTS[item] : undefined;
}
