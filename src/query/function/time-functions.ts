/** Functions on dates, times and intervals. Calendar functions count in UTC. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import {
  type DataType,
  DATE,
  FLOAT64,
  INT32,
  INT64,
  INTERVAL,
  STRING,
  TIMESTAMP_MICROSECOND,
  TIMESTAMP_MILLISECOND,
  TIMESTAMP_NANOSECOND,
  TIMESTAMP_SECOND,
  type TimeUnit,
  UNITS_PER_SECOND,
} from "../../column/data-type.ts";
import { castValue } from "./cast.ts";
import { alias, type FunctionCall, lenient, type ScalarFunction, strict } from "./scalar-function.ts";
import { constant, isNumeric } from "./signature.ts";
import { binBuckets, bucketIndexOf, bucketStartOf, TRUNC_PRECISIONS, type TimeBuckets, truncBuckets } from "./time/buckets.ts";
import { civilFromDays, daysFromCivil, floorDivide, floorModulo } from "./time/civil.ts";
import { addInterval } from "./time/interval.ts";
import { parseTimestamp } from "./time/parse-time.ts";
import { rescale } from "./time/time-units.ts";
import { isInterval, NANOS_PER_DAY, type Present, textOf, type Value } from "./value.ts";

const stamp = (unit: TimeUnit): DataType => ({ kind: "timestamp", unit });
const unitOf = (type: DataType | undefined): TimeUnit => (type?.kind === "timestamp" ? type.unit : "nanosecond");

/** (text, time): dates and text become timestamps. */
const partAndTime =
  (result: (time: DataType) => DataType): ScalarFunction["resolve"] =>
  (args) => {
    const [part, time] = args;
    if (args.length !== 2 || part === undefined || time === undefined || (part.kind !== "string" && part.kind !== "null")) return undefined;
    const type = timeType(time);
    return type === undefined ? undefined : { args: [STRING, type], result: result(type) };
  };

function timeType(type: DataType): DataType | undefined {
  if (type.kind === "timestamp") return type;
  return type.kind === "date" || type.kind === "string" || type.kind === "null" ? TIMESTAMP_NANOSECOND : undefined;
}

const binType: ScalarFunction["resolve"] = (args) => {
  const [stride, time, origin] = args;
  if (stride === undefined || time === undefined || args.length > 3) return undefined;
  const type = timeType(time);
  if (type === undefined || !["interval", "string"].includes(stride.kind)) return undefined;
  if (origin === undefined) return { args: [INTERVAL, type], result: type };
  if (timeType(origin) === undefined) return undefined;
  return { args: [INTERVAL, type, TIMESTAMP_NANOSECOND], result: origin.kind === "string" ? TIMESTAMP_NANOSECOND : type };
};

/** Buckets of `date_trunc`. @throws DbError PlanQuery for an unknown precision */
export function truncBucketsOf(precision: string, unit: TimeUnit): TimeBuckets {
  const buckets = truncBuckets(precision.toLowerCase(), unit);
  if (buckets !== undefined) return buckets;
  throw new DbError(
    StatusCode.PlanQuery,
    `Unsupported date_trunc granularity '${precision.slice(0, 40)}': use one of ${TRUNC_PRECISIONS.join(", ")}`,
  );
}

function dateTrunc(precision: Present, time: Present, type: DataType): bigint {
  const buckets = truncBucketsOf(textOf(precision), unitOf(type));
  return bucketStartOf(buckets, bucketIndexOf(buckets, BigInt(time as bigint)));
}

/** `date_bin` on one value. Strides that are no whole number of units are counted in nanoseconds. */
function dateBin([stride, time, origin]: readonly Present[], call: FunctionCall): bigint {
  const unit = unitOf(call.type.args[1]);
  const start = origin === undefined ? 0n : BigInt(origin as bigint);
  if (!isInterval(stride as Value)) throw new Error("the planner casts a stride to an interval");
  const interval = stride as Extract<Value, { months: number }>;
  const nanos = rescale(BigInt(time as bigint), unit, "nanosecond");
  const buckets = binBuckets(interval, "nanosecond", start);
  if (buckets === undefined) {
    const why = interval.months !== 0 ? "it must not mix months with days or hours" : "it must be longer than zero";
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot bin by this interval: ${why}`);
  }
  return rescale(bucketStartOf(buckets, bucketIndexOf(buckets, nanos)), "nanosecond", unitOf(call.type.result));
}

const DAY_PARTS: Readonly<Record<string, (date: ReturnType<typeof civilFromDays>, days: number) => number>> = {
  year: (date) => date.year,
  quarter: (date) => Math.ceil(date.month / 3),
  month: (date) => date.month,
  week: (_, days) => isoWeek(days),
  day: (date) => date.day,
  dow: (_, days) => (((days + 4) % 7) + 7) % 7,
  isodow: (_, days) => ((((days + 3) % 7) + 7) % 7) + 1,
  doy: (date, days) => days - daysFromCivil(date.year, 1, 1) + 1,
};

function isoWeek(days: number): number {
  const thursday = days - ((((days + 3) % 7) + 7) % 7) + 3;
  const { year } = civilFromDays(thursday);
  return Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1;
}

const CLOCK_PARTS: Readonly<Record<string, (nanosOfDay: bigint) => bigint>> = {
  hour: (nanos) => nanos / 3_600_000_000_000n,
  minute: (nanos) => (nanos / 60_000_000_000n) % 60n,
  second: (nanos) => (nanos / 1_000_000_000n) % 60n,
  millisecond: (nanos) => (nanos / 1_000_000n) % 60_000n,
  microsecond: (nanos) => (nanos / 1000n) % 60_000_000n,
  nanosecond: (nanos) => nanos % 60_000_000_000n,
};

const PART_NAMES: readonly string[] = [...Object.keys(DAY_PARTS), ...Object.keys(CLOCK_PARTS), "epoch"];

function datePart(part: Present, time: Present, type: DataType): number {
  const name = textOf(part).toLowerCase();
  const nanos = rescale(BigInt(time as bigint), unitOf(type), "nanosecond");
  if (name === "epoch") return Number(time) / UNITS_PER_SECOND[unitOf(type)];
  const days = Number(floorDivide(nanos, NANOS_PER_DAY));
  const day = DAY_PARTS[name];
  if (day !== undefined) return day(civilFromDays(days), days);
  const clock = CLOCK_PARTS[name];
  if (clock !== undefined) return Number(clock(floorModulo(nanos, NANOS_PER_DAY)));
  throw new DbError(StatusCode.EngineExecuteQuery, `Date part '${name.slice(0, 40)}' not supported: use one of ${PART_NAMES.join(", ")}`);
}

/** `to_timestamp*`: numbers count in `numberUnit`, text is parsed, times are rescaled. */
function toTimestamp(name: string, numberUnit: TimeUnit, result: DataType): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = (args) => {
    const [type] = args;
    if (args.length !== 1 || type === undefined) return undefined;
    return isNumeric(type) || ["string", "timestamp", "date", "null"].includes(type.kind) ? { args: [type], result } : undefined;
  };
  return strict(`${name}(value)`, resolve, ([value], call) => {
    const [from = result] = call.type.args;
    if (!isNumeric(from)) return castValue(value, from, result, call.environment);
    const unit = unitOf(result);
    if (typeof value === "number" && !Number.isInteger(value)) {
      if (!Number.isFinite(value))
        throw new DbError(StatusCode.EngineExecuteQuery, `cannot convert ${value} to a timestamp: it is not finite`);
      return rescale(BigInt(Math.round((value * 1e9) / UNITS_PER_SECOND[numberUnit])), "nanosecond", unit);
    }
    return castValue(rescale(BigInt(value as number | bigint), numberUnit, unit), stamp(unit), result, call.environment);
  });
}

const unixType: ScalarFunction["resolve"] = (args) => {
  const [type] = args;
  const good = type !== undefined && args.length === 1 && ["string", "date", "timestamp", "int", "null"].includes(type.kind);
  return good ? { args: [type], result: INT64 } : undefined;
};

function toUnixtime(value: Present, from: DataType, zone: string): Value {
  if (from.kind === "int") return value;
  if (from.kind === "string") {
    const nanos = parseTimestamp(textOf(value), zone);
    return nanos === undefined ? undefined : Number(floorDivide(nanos, 1_000_000_000n));
  }
  if (from.kind === "date") return Number(value) * 86_400;
  return Number(rescale(BigInt(value as bigint), unitOf(from), "second"));
}

function shifted(name: string, sign: 1 | -1): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = (args) => {
    const [time, interval] = args;
    if (time === undefined || interval === undefined || args.length !== 2 || !["interval", "string"].includes(interval.kind))
      return undefined;
    const type = time.kind === "timestamp" || time.kind === "date" ? time : time.kind === "string" ? DATE : undefined;
    return type === undefined ? undefined : { args: [type, INTERVAL], result: type };
  };
  return strict(`${name}(time, interval)`, resolve, ([time, interval], call) => {
    if (!isInterval(interval)) throw new Error("the planner casts the second argument to an interval");
    if (call.type.result.kind !== "date") return addInterval(BigInt(time as bigint), unitOf(call.type.result), interval, sign);
    return Number(floorDivide(addInterval(BigInt(time as number) * 86_400n, "second", interval, sign), 86_400n));
  });
}

function fromUnix(seconds: Present): bigint {
  return BigInt(seconds as number | bigint);
}

const DATE_SOURCES: readonly string[] = ["string", "date", "timestamp", "int", "null"];

const now = lenient("now()", constant(TIMESTAMP_NANOSECOND), (_, call) => call.environment.now, { volatility: "stable" });
const today = lenient("current_date()", constant(DATE), (_, call) => Number(floorDivide(call.environment.now, NANOS_PER_DAY)), {
  volatility: "stable",
});
const trunc = strict(
  "date_trunc(precision, time)",
  partAndTime((time) => time),
  ([part, time], call) => dateTrunc(part as Present, time as Present, call.type.result),
);
const part = strict(
  "date_part(part, time)",
  partAndTime(() => INT32),
  ([name, time], call) => datePart(name as Present, time as Present, call.type.args[1] ?? TIMESTAMP_NANOSECOND),
);
/** Seconds of a time or of a duration. */
const epochPart = strict(
  "date_part_epoch(part, time)",
  (args) =>
    args.length === 2 && args[0] !== undefined && args[1]?.kind === "duration"
      ? { args: [STRING, args[1]], result: FLOAT64 }
      : partAndTime(() => FLOAT64)(args),
  ([name, time], { type }) => {
    const [, from = TIMESTAMP_NANOSECOND] = type.args;
    return from.kind === "duration" ? Number(time) / UNITS_PER_SECOND[from.unit] : datePart(name as Present, time as Present, from);
  },
);

/** The functions of this file. */
export const TIME_FUNCTIONS: readonly ScalarFunction[] = [
  now,
  alias("current_timestamp", now),
  today,
  alias("today", today),
  trunc,
  alias("datetrunc", trunc),
  strict("date_bin(stride, time[, origin])", binType, dateBin),
  part,
  alias("datepart", part),
  epochPart,
  toTimestamp("to_timestamp", "second", TIMESTAMP_NANOSECOND),
  toTimestamp("to_timestamp_seconds", "second", TIMESTAMP_SECOND),
  toTimestamp("to_timestamp_millis", "millisecond", TIMESTAMP_MILLISECOND),
  toTimestamp("to_timestamp_micros", "microsecond", TIMESTAMP_MICROSECOND),
  toTimestamp("to_timestamp_nanos", "nanosecond", TIMESTAMP_NANOSECOND),
  strict(
    "from_unixtime(seconds)",
    (args) => (args.length === 1 && args[0]?.kind === "int" ? { args: [INT64], result: TIMESTAMP_SECOND } : undefined),
    ([seconds]) => fromUnix(seconds as Present),
  ),
  strict("to_unixtime(time)", unixType, ([value], call) =>
    toUnixtime(value as Present, call.type.args[0] ?? STRING, call.environment.timeZone),
  ),
  strict(
    "to_date(value)",
    (args) => (args.length === 1 && DATE_SOURCES.includes(args[0]?.kind ?? "") ? { args: [DATE], result: DATE } : undefined),
    ([date]) => date,
  ),
  shifted("date_add", 1),
  shifted("date_sub", -1),
];
