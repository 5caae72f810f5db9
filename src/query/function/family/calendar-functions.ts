/** Functions that make dates and times of parts, and that print them by a format. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, DATE, INT32, STRING, TIME_NANOSECOND, TIMESTAMP_NANOSECOND, type TimeUnit } from "../../../column/data-type.ts";
import { lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { constant } from "../signature/signature.ts";
import { daysFromCivil, daysInMonth, floorDivide, floorModulo } from "../../../value/civil.ts";
import { durationParts } from "../../../value/format-time.ts";
import { parseClockByFormat } from "../time/parse-format.ts";
import { formatLocalTime } from "../time/strftime.ts";
import { rescale } from "../../../value/time-units.ts";
import { offsetSecondsAt } from "../../../base/text/time-zone.ts";
import { NANOS_PER_DAY, type Present, textOf } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";

const NANOS_PER_SECOND = 1_000_000_000n;

/** (time, text): text that stands for a time becomes a timestamp. */
const timeAndFormat: ScalarFunction["resolve"] = ([time, format, ...rest]) => {
  if (rest.length > 0 || (format?.kind !== "string" && format?.kind !== "null")) return undefined;
  const type = time?.kind === "string" || time?.kind === "null" ? TIMESTAMP_NANOSECOND : time;
  if (type === undefined || !["timestamp", "date", "time", "duration"].includes(type.kind)) return undefined;
  return { args: [type, STRING], result: STRING };
};

/** A value as nanoseconds of a clock that knows no zone. */
function nanosOf(value: Present, type: DataType): bigint {
  if (type.kind === "date") return BigInt(value as number) * NANOS_PER_DAY;
  return rescale(BigInt(value as number | bigint), unitOf(type), "nanosecond");
}

const unitOf = (type: DataType): TimeUnit => (type.kind === "timestamp" || type.kind === "time" ? type.unit : "nanosecond");

/** Prints a value; only timestamps are moments that a zone moves. */
function printed(value: Present, type: DataType, format: string, zone: string): string {
  if (type.kind === "duration") return durationParts(BigInt(value as bigint), type.unit); // which no format is for
  if (type.kind === "time" && /%[-_0]?[^HIklMSfpPTRXrnt%.:369]/.test(format)) {
    const why = "a time of day has no date and no zone; use items such as %H:%M:%S";
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot format a time by '${format.slice(0, 80)}': ${why}`);
  }
  const nanos = nanosOf(value, type);
  const offsetSeconds = type.kind === "timestamp" ? offsetSecondsAt(zone, Number(floorDivide(nanos, NANOS_PER_SECOND))) : 0;
  return formatLocalTime({ nanos: nanos + BigInt(offsetSeconds) * NANOS_PER_SECOND, offsetSeconds, zone }, format);
}

const wholes =
  (count: number, result: DataType): ScalarFunction["resolve"] =>
  (args) =>
    args.length === count && args.every((type) => ["int", "string", "null"].includes(type.kind))
      ? { args: args.map(() => INT32), result }
      : undefined;

function makeDate(year: number, month: number, day: number): number {
  const good = month >= 1 && month <= 12 && day >= 1 && Math.abs(year) <= 262_142 && day <= daysInMonth(year, month);
  if (good) return daysFromCivil(year, month, day);
  throw new DbError(StatusCode.EngineExecuteQuery, `cannot make a date: there is no day ${year}-${month}-${day}`);
}

function makeTime(hour: number, minute: number, second: number): number {
  const good = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
  if (good) return hour * 3600 + minute * 60 + second;
  throw new DbError(StatusCode.EngineExecuteQuery, `cannot make a time: there is no time of day ${hour}:${minute}:${second}`);
}

const toLocal: ScalarFunction["resolve"] = (args) => {
  const [time] = args;
  if (args.length !== 1 || time === undefined) return undefined;
  if (time.kind === "timestamp") return { args, result: time };
  return time.kind === "string" || time.kind === "null" ? { args: [TIMESTAMP_NANOSECOND], result: TIMESTAMP_NANOSECOND } : undefined;
};

/** `to_time(text[, format, …])`: times stay as they are, timestamps lose their day. */
const toTime: ScalarFunction["resolve"] = ([time, ...formats]) => {
  if (!formats.every((format) => format.kind === "string" || format.kind === "null")) return undefined;
  if (formats.length > 0) {
    const good = time?.kind === "string" || time?.kind === "null";
    return good ? { args: [STRING, ...formats.map(() => STRING)], result: TIME_NANOSECOND } : undefined;
  }
  const good = ["string", "time", "timestamp", "null"].includes(time?.kind ?? "");
  return good ? { args: [TIME_NANOSECOND], result: TIME_NANOSECOND } : undefined;
};

/** Nanoseconds of a time of day by the first format that it is written in. @throws DbError EngineExecuteQuery when it is in none */
function clockByFormats([text, ...formats]: readonly Present[]): number {
  for (const format of formats) {
    const nanos = parseClockByFormat(textOf(text), textOf(format));
    if (nanos !== undefined) return nanos;
  }
  const tried = formats.map((format) => `'${textOf(format).slice(0, 80)}'`).join(", ");
  throw executionError(`Error parsing time from '${textOf(text).slice(0, 80)}' using format ${tried}`);
}

/** The functions of this file. */
export const CALENDAR_FUNCTIONS: readonly ScalarFunction[] = [
  strict("date_format(time, format)", timeAndFormat, ([time, format], { type, environment }) =>
    printed(time as Present, type.args[0] ?? TIMESTAMP_NANOSECOND, textOf(format), environment.timeZone),
  ),
  strict("to_char(time, format)", timeAndFormat, ([time, format], { type }) =>
    printed(time as Present, type.args[0] ?? TIMESTAMP_NANOSECOND, textOf(format), "+00:00"),
  ),
  strict("make_date(year, month, day)", wholes(3, DATE), ([year, month, day]) => makeDate(Number(year), Number(month), Number(day))),
  strict("make_time(hour, minute, second)", wholes(3, { kind: "time", unit: "second" }), ([hour, minute, second]) =>
    makeTime(Number(hour), Number(minute), Number(second)),
  ),
  strict("to_time(text[, format, …])", toTime, (args) => (args.length > 1 ? clockByFormats(args) : args[0])),
  strict("to_local_time(time)", toLocal, ([time]) => time),
  lenient("current_time()", constant(TIME_NANOSECOND), (_, { environment }) => Number(floorModulo(environment.now, NANOS_PER_DAY)), {
    volatility: "stable",
  }),
];
