/** Functions on dates, times and intervals. Calendar functions count in UTC. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
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
} from "../../../column/data-type.ts";
import { unitsPerDay } from "../../../value/clock-time.ts";
import { arithmetic } from "../number/arithmetic.ts";
import { castValue } from "../../../value/cast.ts";
import { alias, type FunctionCall, type FunctionType, lenient, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { constant, isNumeric, typed } from "../signature/signature.ts";
import { datePart, epochOf } from "../time/date-part.ts";
import { binBuckets, bucketIndexOf, bucketStartOf, TRUNC_PRECISIONS, type TimeBuckets, truncBuckets } from "../time/buckets.ts";
import { floorDivide } from "../../../value/civil.ts";
import { parseByFormat } from "../time/parse-format.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";
import { binnedInZone, truncatedInZone } from "../time/zone-buckets.ts";
import { NANOS_PER_UNIT, rescale } from "../../../value/time-units.ts";
import { exactInteger, isInterval, NANOS_PER_DAY, type Present, textOf, type Value } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";
import { zoneOf } from "./zone-functions.ts";

const stamp = (unit: TimeUnit): DataType => ({ kind: "timestamp", unit });
const unitOf = (type: DataType | undefined): TimeUnit => (type?.kind === "timestamp" || type?.kind === "time" ? type.unit : "nanosecond");

/** (text, time): dates and text become timestamps; times of day stay. */
const partAndTime =
  (result: (time: DataType) => DataType): ScalarFunction["resolve"] =>
  (args) => {
    const [part, time] = args;
    if (args.length !== 2 || part === undefined || time === undefined || (part.kind !== "string" && part.kind !== "null")) return undefined;
    const type = time.kind === "time" ? time : timeType(time);
    return type === undefined ? undefined : { args: [STRING, type], result: result(type) };
  };

/** (text, time): as they are, but text becomes a timestamp. */
function partOf([part, time, ...rest]: readonly DataType[], kinds: readonly string[], result: DataType): FunctionType | undefined {
  if (rest.length > 0 || (part?.kind !== "string" && part?.kind !== "null") || time === undefined) return undefined;
  if (kinds.includes(time.kind)) return { args: [STRING, time], result };
  return time.kind === "string" || time.kind === "null" ? { args: [STRING, TIMESTAMP_NANOSECOND], result } : undefined;
}

/** What has parts. */
const PARTED: readonly string[] = ["timestamp", "date", "time", "interval", "duration"];

/** @throws DbError EngineExecuteQuery for nanoseconds of a part that is no constant, and so has the type of the other parts */
function checkedPart(name: string, value: number): number {
  if (value === (value | 0)) return value;
  const message = `cannot give date_part('${name.slice(0, 40)}') = ${value} in 32 bits; name the part as a constant`;
  throw new DbError(StatusCode.EngineExecuteQuery, message);
}

function timeType(type: DataType): DataType | undefined {
  if (type.kind === "timestamp") return type;
  return type.kind === "date" || type.kind === "string" || type.kind === "null" ? TIMESTAMP_NANOSECOND : undefined;
}

/** (precision, time[, zone]): only moments have a zone, so that times of day take none. */
const truncType: ScalarFunction["resolve"] = ([part, time, zone, ...rest]) => {
  if (zone === undefined) return partAndTime((type) => type)(time === undefined ? [] : [part ?? STRING, time]);
  const type = time === undefined ? undefined : timeType(time);
  if (rest.length > 0 || type === undefined || ![part, zone].every((each) => each?.kind === "string" || each?.kind === "null"))
    return undefined;
  return { args: [STRING, type, STRING], result: type };
};

/** (stride, time[, origin[, zone]]). */
const binType: ScalarFunction["resolve"] = (args) => {
  if (args.length === 4) {
    const given = binType(args.slice(0, 3));
    const isZone = args[3]?.kind === "string" || args[3]?.kind === "null";
    return given === undefined || !isZone ? undefined : { ...given, args: [...given.args, STRING] };
  }
  const [stride, time, origin] = args;
  if (stride === undefined || time === undefined || args.length > 3) return undefined;
  const type = time.kind === "time" && origin === undefined ? time : timeType(time);
  if (type === undefined || !["interval", "string", "null"].includes(stride.kind)) return undefined;
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

/** @throws DbError PlanQuery for an unknown precision, EngineExecuteQuery for one that a clock has not, InvalidArguments for a zone */
function dateTrunc([precision = "", time = 0, zone]: readonly Present[], type: DataType): number | bigint {
  if (type.kind === "time") return clockTrunc(textOf(precision), Number(time), type.unit);
  const buckets = truncBucketsOf(textOf(precision), unitOf(type));
  if (zone !== undefined) return truncatedInZone(buckets, BigInt(time as bigint), zoneOf(zone));
  return bucketStartOf(buckets, bucketIndexOf(buckets, BigInt(time as bigint)));
}

function clockTrunc(precision: string, clock: number, unit: TimeUnit): number {
  const buckets = truncBucketsOf(precision, unit);
  const isBelowDay = buckets.kind === "fixed" && buckets.width < unitsPerDay(unit);
  if (isBelowDay) return Number(bucketStartOf(buckets, bucketIndexOf(buckets, BigInt(clock))));
  const why = `a time of day has no ${precision.slice(0, 40).toLowerCase()}; use hour or a finer one`;
  throw new DbError(StatusCode.EngineExecuteQuery, `cannot truncate a time: ${why}`);
}

/** `date_bin` on one value. Strides that are no whole number of units are counted in nanoseconds. */
function dateBin([stride, time, origin, zone]: readonly Present[], call: FunctionCall): number | bigint {
  const unit = unitOf(call.type.args[1]);
  const first = origin === undefined ? 0n : BigInt(origin as bigint);
  if (!isInterval(stride as Value)) throw new Error("the planner casts a stride to an interval");
  const interval = stride as Extract<Value, { months: number }>;
  const nanos = rescale(BigInt(time as number | bigint), unit, "nanosecond");
  const start = rescale(
    binned(interval, nanos, first, zone === undefined ? undefined : zoneOf(zone)),
    "nanosecond",
    unitOf(call.type.result),
  );
  return call.type.result.kind === "time" ? Math.max(Number(start), 0) : start;
}

/** The start of the bin of a time, in nanoseconds. @throws DbError EngineExecuteQuery for a stride that is none */
export function binned(stride: Extract<Value, { months: number }>, nanos: bigint, origin: bigint, zone: string | undefined): bigint {
  const start = zone === undefined ? binnedInUtc(stride, nanos, origin) : binnedInZone(stride, nanos, origin, zone);
  if (start !== undefined) return start;
  const why = stride.months !== 0 ? "it must not mix months with days or hours" : "it must be longer than zero";
  throw new DbError(StatusCode.EngineExecuteQuery, `cannot bin by this interval: ${why}`);
}

function binnedInUtc(stride: Extract<Value, { months: number }>, nanos: bigint, origin: bigint): bigint | undefined {
  const buckets = binBuckets(stride, "nanosecond", origin);
  return buckets && bucketStartOf(buckets, bucketIndexOf(buckets, nanos));
}

/** A value and formats to read it by when it is text. */
function timeAndFormats(kinds: readonly string[], result: DataType): ScalarFunction["resolve"] {
  return ([type, ...formats]) => {
    if (type === undefined || !formats.every((format) => format.kind === "string" || format.kind === "null")) return undefined;
    if (formats.length > 0 && type.kind !== "string" && type.kind !== "null") return undefined;
    return kinds.includes(type.kind) ? { args: [type, ...formats.map(() => STRING)], result } : undefined;
  };
}

/** Nanoseconds of a text by the first format that it is written in. @throws DbError EngineExecuteQuery when it is in none */
function readByFormats([text, ...formats]: readonly Present[], zone: string): bigint {
  for (const format of formats) {
    const nanos = parseByFormat(textOf(text), textOf(format), zone);
    if (nanos !== undefined) return nanos;
  }
  const tried = formats.map((format) => `'${textOf(format).slice(0, 80)}'`).join(", ");
  throw executionError(`Error parsing timestamp from '${textOf(text).slice(0, 80)}' using format ${tried}`);
}

/** `to_timestamp*`: numbers count in `numberUnit`, text is parsed, times are rescaled. */
function toTimestamp(name: string, numberUnit: TimeUnit, result: DataType): ScalarFunction {
  const resolve = timeAndFormats(["int", "float", "decimal", "string", "timestamp", "date", "null"], result);
  return strict(`${name}(value[, format, …])`, resolve, (args, call) => {
    const { environment } = call;
    const unit = unitOf(result);
    const read = args.length > 1 ? readByFormats(args, environment.timeZone) : undefined;
    if (read !== undefined) return castValue(rescale(read, "nanosecond", unit), result, result, environment);
    const [written = result] = call.type.args;
    const [given] = args;
    const [value, from] = written.kind === "decimal" ? [castValue(given, written, FLOAT64, environment), FLOAT64] : [given, written];
    if (!isNumeric(from)) return castValue(value, from, result, environment);
    if (typeof value === "number" && !Number.isInteger(value)) {
      if (!Number.isFinite(value))
        throw new DbError(StatusCode.EngineExecuteQuery, `cannot convert ${value} to a timestamp: it is not finite`);
      // Digits that the unit has not are cut off; to the nearest nanosecond first, since 1.1 s is a little less than 1,100,000,000 ns.
      const nanos = BigInt(numberUnit === "nanosecond" ? Math.trunc(value) : Math.round((value * 1e9) / UNITS_PER_SECOND[numberUnit]));
      return nanos / NANOS_PER_UNIT[unit];
    }
    return castValue(rescale(BigInt(value as number | bigint), numberUnit, unit), stamp(unit), result, environment);
  });
}

const dayOrText: ScalarFunction["resolve"] = (args) => {
  const [type] = args;
  if (args.length === 1 && type?.kind === "float") return { args: [FLOAT64], result: DATE };
  return timeAndFormats(["string", "date", "timestamp", "int", "null"], DATE)(args);
};

/** `to_date`: days of a time, or of a text by the first format that it is written in. */
const toDate = strict("to_date(value[, format, …])", dayOrText, (args, call) => {
  if (args.length > 1) return castValue(floorDivide(readByFormats(args, "UTC"), NANOS_PER_DAY), INT64, DATE, call.environment);
  const [type = DATE] = call.type.args;
  // Days as a number: those that are not whole have begun.
  if (type.kind === "float") return castValue(castValue(args[0], type, INT64, call.environment), INT64, DATE, call.environment);
  return castValue(args[0], type, DATE, call.environment);
});

const unixType: ScalarFunction["resolve"] = (args) => {
  const [type] = args;
  const good = type !== undefined && args.length === 1 && ["string", "date", "timestamp", "int", "null"].includes(type.kind);
  return good ? { args: [type], result: INT64 } : undefined;
};

/** `to_unixtime(time)`, or without an argument the moment of the statement: the name that MySQL has for both. */
const unixTimestampType: ScalarFunction["resolve"] = (args) => (args.length === 0 ? { args: [], result: INT64 } : unixType(args));

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
    if (time === undefined || interval === undefined || args.length !== 2 || !["interval", "string", "null"].includes(interval.kind))
      return undefined;
    const type = time.kind === "timestamp" || time.kind === "date" ? time : ["string", "null"].includes(time.kind) ? DATE : undefined;
    return type === undefined ? undefined : { args: [type, INTERVAL], result: type };
  };
  return strict(`${name}(time, interval)`, resolve, ([time, interval], call) => {
    if (!isInterval(interval)) throw new Error("the planner casts the second argument to an interval");
    return arithmetic(sign === 1 ? "+" : "-", time as Present, interval, call.type.result);
  });
}

/** (seconds[, zone]). */
const unixSecondsAndZone: ScalarFunction["resolve"] = ([seconds, zone, ...rest]) => {
  if (!["int", "null"].includes(seconds?.kind ?? "") || rest.length > 0) return undefined;
  if (zone === undefined) return { args: [INT64], result: TIMESTAMP_SECOND };
  return zone.kind === "string" || zone.kind === "null" ? { args: [INT64, STRING], result: TIMESTAMP_SECOND } : undefined;
};

function fromUnix(seconds: Present): bigint {
  return BigInt(seconds as number | bigint);
}

/** The digits that MySQL's clients ask for mean nothing: a time has nine. */
const now = lenient("now([digits])", typed(["integer"], TIMESTAMP_NANOSECOND, 0), (_, call) => call.environment.now, {
  volatility: "stable",
});
const today = lenient("current_date()", constant(DATE), (_, call) => Number(floorDivide(call.environment.now, NANOS_PER_DAY)), {
  volatility: "stable",
});
const trunc = strict("date_trunc(precision, time[, zone])", truncType, (args, call) => dateTrunc(args, call.type.result));
const part = strict(
  "date_part(part, time)",
  (args) => partOf(args, PARTED, INT32),
  ([name, time], call) => checkedPart(textOf(name), datePart(textOf(name), time as Present, call.type.args[1] ?? TIMESTAMP_NANOSECOND)),
);
/** Nanoseconds of a minute need more than 32 bits. */
const nanosPart = strict(
  "date_part_nanosecond_op(part, time)",
  (args) => partOf(args, PARTED, INT64),
  ([name, time], call) => datePart(textOf(name), time as Present, call.type.args[1] ?? TIMESTAMP_NANOSECOND),
);
/** Seconds, which a part of a second may follow. */
const epochPart = strict(
  "date_part_epoch(part, time)",
  (args) => partOf(args, PARTED, FLOAT64),
  ([, time], { type }) => epochOf(time as Present, type.args[1] ?? TIMESTAMP_NANOSECOND),
);

/** The functions of this file. */
export const TIME_FUNCTIONS: readonly ScalarFunction[] = [
  now,
  alias("current_timestamp", now),
  today,
  alias("today", today),
  trunc,
  alias("datetrunc", trunc),
  strict("date_bin(stride, time[, origin[, zone]])", binType, dateBin),
  part,
  alias("datepart", part),
  nanosPart,
  epochPart,
  toTimestamp("to_timestamp", "second", TIMESTAMP_NANOSECOND),
  toTimestamp("to_timestamp_seconds", "second", TIMESTAMP_SECOND),
  toTimestamp("to_timestamp_millis", "millisecond", TIMESTAMP_MILLISECOND),
  toTimestamp("to_timestamp_micros", "microsecond", TIMESTAMP_MICROSECOND),
  toTimestamp("to_timestamp_nanos", "nanosecond", TIMESTAMP_NANOSECOND),
  strict("from_unixtime(seconds[, zone])", unixSecondsAndZone, ([seconds, zone]) => {
    if (zone !== undefined) zoneOf(zone); // A timestamp has no zone: the moment is the same in all that there are.
    return fromUnix(seconds as Present);
  }),
  strict("to_unixtime(time)", unixType, ([value], call) =>
    toUnixtime(value as Present, call.type.args[0] ?? STRING, call.environment.timeZone),
  ),
  lenient(
    "unix_timestamp([time])",
    unixTimestampType,
    ([value], call) => {
      const [from] = call.type.args;
      if (from === undefined) return exactInteger(call.environment.now / 1_000_000_000n);
      return value === undefined ? undefined : toUnixtime(value, from, call.environment.timeZone);
    },
    { volatility: "stable" },
  ),
  toDate,
  shifted("date_add", 1),
  shifted("date_sub", -1),
];
