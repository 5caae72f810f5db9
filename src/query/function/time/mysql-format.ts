/**
 * Texts by the formats of MySQL's `str_to_date` and `time_format`, by way of the items that `parse-format.ts` reads and `strftime.ts`
 * prints.
 * Source: https://dev.mysql.com/doc/refman/8.4/en/date-and-time-functions.html#function_date-format
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { parseByFormat, parseClockByFormat } from "./parse-format.ts";
import { formatLocalTime } from "./strftime.ts";

/** MySQL's items and what they are called there. */
const ITEMS: Readonly<Record<string, string>> = {
  Y: "%Y",
  y: "%y",
  M: "%B",
  b: "%b",
  m: "%m",
  c: "%m",
  d: "%d",
  e: "%d",
  j: "%j",
  H: "%H",
  k: "%H",
  h: "%I",
  I: "%I",
  l: "%I",
  i: "%M",
  s: "%S",
  S: "%S",
  p: "%p",
  r: "%I:%M:%S %p",
  T: "%H:%M:%S",
  W: "%A",
  a: "%a",
  "%": "%%",
};

/** Items of a day. */
const DAY_ITEM = /%[YyMbmcdejWa]/;
/** Items of a time of day. */
const CLOCK_ITEM = /%[HkhIlisSpfrT]/;

/** Whether a format names a day and nothing below it. */
export function isDayFormat(format: string): boolean {
  return DAY_ITEM.test(format) && !CLOCK_ITEM.test(format);
}

/** The same format with items of chrono's dialect. A fraction of a second is read with the point before it. */
function translated(format: string): string {
  return format.replaceAll(/\.?%(.)?/gsu, (item, letter: string | undefined) => {
    if (letter === "f" && item.startsWith(".")) return "%.f";
    const known = letter !== undefined && Object.hasOwn(ITEMS, letter) ? ITEMS[letter] : undefined;
    if (known !== undefined) return item.startsWith(".") ? `.${known}` : known;
    throw new DbError(
      StatusCode.EngineExecuteQuery,
      `cannot read a time by '${format.slice(0, 80)}': there is no item ${item.slice(0, 8)}; a fraction is written '.%f'`,
    );
  });
}

/** Items of a time of day that print otherwise than they are read. */
const PRINTED: Readonly<Record<string, string>> = { k: "%-H", l: "%-I", f: "%6f" };

/** A time of day as a format says. @param nanos since midnight @throws DbError EngineExecuteQuery for other items */
export function printMysqlClock(nanos: bigint, format: string): string {
  const chrono = format.replaceAll(/%(.)?/gsu, (item) => {
    const letter = item.slice(1);
    if (item === "%%") return item;
    if (CLOCK_ITEM.test(item)) return PRINTED[letter] ?? ITEMS[letter] ?? item;
    const why = `there is no item ${item.slice(0, 8)} of a time of day; date_format prints days`;
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot print a time by '${format.slice(0, 80)}': ${why}`);
  });
  return formatLocalTime({ nanos, offsetSeconds: 0, zone: "UTC" }, chrono);
}

/**
 * Nanoseconds of a text, in UTC; undefined, which is NULL there, when it is not written like that. A format of a time of day alone counts
 * from 1970-01-01.
 *
 * @throws DbError EngineExecuteQuery for a format that cannot be read by
 */
export function parseMysqlFormat(text: string, format: string): bigint | undefined {
  const chrono = translated(format);
  if (DAY_ITEM.test(format)) return parseByFormat(text.trim(), chrono, "UTC");
  const clock = parseClockByFormat(text.trim(), chrono);
  return clock === undefined ? undefined : BigInt(clock);
}
