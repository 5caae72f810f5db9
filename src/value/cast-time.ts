/** Casts to times: everything floors towards minus infinity, and what leaves the type has no counterpart. */
import { type DataType, displayName, UNITS_PER_SECOND } from "../column/data-type.ts";
import { wholeOfDecimal } from "../column/decimal.ts";
import { isInterval, type Present, textOf } from "./any-value.ts";
import { CastFailure, noValueOfText, notHeld, quoted } from "./cast-failure.ts";
import { floorDivide } from "./civil.ts";
import { clockNanosOfText, clockOfTimestamp, rescaledClock, unitsPerDay } from "./clock-time.ts";
import { wholeOfFloat } from "./integer-range.ts";
import { intervalText } from "./interval/interval-text.ts";
import { floatText } from "./number-text.ts";
import { dayOfText, parseTimestamp } from "./parse-time.ts";
import { NANOS_PER_UNIT, rescale } from "./time-units.ts";
import { INT64_MAX, INT64_MIN } from "../column/exact-integer.ts";

type TypeOf<K extends DataType["kind"]> = Extract<DataType, { kind: K }>;

const SECONDS_PER_DAY = 86_400n;

/** Days since 1970-01-01 of a date, a timestamp, a text of either, or a number of days. Columns hold days in 32 bits. */
export function castToDate(value: Present, from: DataType): number | CastFailure {
  if (typeof value === "string") return dayOfText(value) ?? noValueOfText(value, { kind: "date" });
  const perDay = from.kind === "timestamp" ? SECONDS_PER_DAY * BigInt(UNITS_PER_SECOND[from.unit]) : 1n;
  const day = floorDivide(BigInt(value as number | bigint), perDay);
  return day === BigInt.asIntN(32, day) ? Number(day) : notHeld(() => textOf(value), { kind: "date" });
}

/** Units since 1970, which numbers count. @param zone of texts that name none */
export function castToTimestamp(value: Present, from: DataType, to: TypeOf<"timestamp">, zone: string): bigint | CastFailure {
  const time = unitsOf(value, from, to, zone);
  if (time instanceof CastFailure || (time >= INT64_MIN && time <= INT64_MAX)) return time;
  return new CastFailure(() => `Cast error: time ${textOf(value)} is out of range of ${displayName(to)}`);
}

function unitsOf(value: Present, from: DataType, to: TypeOf<"timestamp">, zone: string): bigint | CastFailure {
  if (from.kind === "timestamp") return rescale(BigInt(value as bigint), from.unit, to.unit);
  if (from.kind === "date") return BigInt(value as number) * SECONDS_PER_DAY * BigInt(UNITS_PER_SECOND[to.unit]);
  if (from.kind === "decimal") return wholeOfDecimal(value as number | bigint, from.scale);
  if (typeof value === "string") {
    const nanos = parseTimestamp(value, zone);
    return nanos === undefined ? noTime(value) : rescale(nanos, "nanosecond", to.unit);
  }
  if (typeof value === "bigint") return value;
  const whole = wholeOfFloat(Number(value));
  return whole === undefined ? notHeld(() => floatText(Number(value)), to) : BigInt(whole);
}

function noTime(text: string): CastFailure {
  const hint = "write it like 2024-01-31T12:00:00Z or 2024-01-31 12:00:00";
  return new CastFailure(() => `Parser error: Error parsing timestamp from '${quoted(text)}': error parsing date; ${hint}`);
}

/** Units of a duration, which numbers count; finer durations and intervals are cut off. Months and days have no fixed length. */
export function castToDuration(value: Present, from: DataType, to: TypeOf<"duration">): bigint | CastFailure {
  const nanos = isInterval(value) ? intervalNanosOf(value, to) : durationNanosOf(value, from, to);
  if (nanos instanceof CastFailure) return nanos;
  const result = nanos / NANOS_PER_UNIT[to.unit];
  return result >= INT64_MIN && result <= INT64_MAX ? result : notHeld(() => textOf(value), to);
}

function intervalNanosOf(value: Extract<Present, { months: number }>, to: TypeOf<"duration">): bigint | CastFailure {
  if (value.months === 0 && value.days === 0) return value.nanos;
  return new CastFailure(
    () => `Cast error: Can't cast value ${intervalText(value)} to type ${displayName(to)}: months and days have no fixed length`,
  );
}

function durationNanosOf(value: Present, from: DataType, to: TypeOf<"duration">): bigint | CastFailure {
  if (from.kind === "duration") return BigInt(value as bigint) * NANOS_PER_UNIT[from.unit];
  const perUnit = NANOS_PER_UNIT[to.unit];
  if (from.kind === "decimal") return wholeOfDecimal(value as number | bigint, from.scale) * perUnit;
  const whole = typeof value === "bigint" ? value : wholeOfFloat(Number(value));
  return whole === undefined ? notHeld(() => floatText(Number(value)), to) : BigInt(whole) * perUnit;
}

/** Units since midnight, which numbers count. */
export function castToTime(value: Present, from: DataType, to: TypeOf<"time">): number | CastFailure {
  if (from.kind === "time") return rescaledClock(Number(value), from.unit, to.unit);
  if (from.kind === "timestamp") return rescaledClock(clockOfTimestamp(BigInt(value as bigint), from.unit), from.unit, to.unit);
  if (typeof value === "string") {
    const nanos = clockNanosOfText(value);
    return nanos === undefined ? noValueOfText(value, to) : rescaledClock(nanos, "nanosecond", to.unit);
  }
  const units = Number(value);
  return units >= 0 && units < unitsPerDay(to.unit) ? units : notHeld(() => textOf(value), to);
}
