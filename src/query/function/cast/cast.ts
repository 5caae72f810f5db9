/**
 * `CAST`: a value of one type as a value of another. Names nothing it cannot do: what has no entry here is refused when planned.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, displayName, INT64, isNested, type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { clockNanosOfText, clockOfTimestamp, clockText, rescaledClock, unitsPerDay } from "../../../column/clock-time.ts";
import {
  decimalOfDecimal,
  decimalOfFloat,
  decimalOfInteger,
  decimalOfText,
  type DecimalResult,
  decimalText,
  type DecimalType,
  floatOfDecimal,
  rescaledDecimal,
  wholeOfDecimal,
} from "../../../column/decimal.ts";
import { embeddingOfText, embeddingText } from "../../../column/embedding.ts";
import { shortestFloat32 } from "../../../column/float32.ts";
import { canonicalJson } from "../../../column/json-text.ts";
import { tooLarge } from "../value/decimal.ts";
import type { Environment } from "../signature/environment.ts";
import { formatFloat } from "../value/format-number.ts";
import { fits, type IntegerType } from "../value/integer.ts";
import { canCastNested, castNested } from "./nested-cast.ts";
import { nestedText } from "./nested-text.ts";
import { floorDivide } from "../time/civil.ts";
import { durationParts, formatDate, formatInterval, formatTimestamp } from "../time/format-time.ts";
import { parseInterval } from "../../sql/grammar/interval.ts";
import { parseDate, parseTimestamp } from "../time/parse-time.ts";
import { INT64_MAX, INT64_MIN, NANOS_PER_UNIT, rescale } from "../time/time-units.ts";
import { exactInteger, isInterval, type Present, textOf, type Value } from "../value/value.ts";

const SECONDS_PER_DAY = 86_400n;
const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/** Whether `CAST(from AS to)` has a meaning at all. */
export function canCast(from: DataType, to: DataType): boolean {
  if (from.kind === "null") return true;
  if (isNested(from) || isNested(to)) return canCastNested(from, to, canCast);
  if (from.kind === to.kind) return true;
  const targets = CASTS[from.kind];
  return targets !== undefined && targets.includes(to.kind);
}

const CASTS: Readonly<Partial<Record<DataType["kind"], readonly DataType["kind"][]>>> = {
  boolean: ["int", "float", "string"],
  int: ["boolean", "float", "string", "timestamp", "duration", "date", "time", "decimal"],
  float: ["boolean", "int", "string", "timestamp", "duration", "decimal"],
  decimal: ["int", "float", "string", "timestamp", "duration"],
  string: ["boolean", "int", "float", "binary", "date", "timestamp", "time", "interval", "decimal", "json", "vector"],
  binary: ["string", "vector"],
  date: ["string", "timestamp", "int"],
  timestamp: ["string", "date", "time", "int", "float", "decimal"],
  time: ["string", "int"],
  json: ["string"],
  vector: ["string", "binary"],
  duration: ["string", "int", "float", "decimal", "interval"],
  interval: ["string", "duration"],
};

/**
 * `value` of type `from` as type `to`; NULL stays NULL.
 *
 * @throws DbError EngineExecuteQuery when the value has no counterpart
 */
export function castValue(value: Value, from: DataType, to: DataType, environment: Pick<Environment, "timeZone">): Value {
  if (value === undefined) return undefined;
  switch (to.kind) {
    case "boolean":
      return toBoolean(value);
    case "int":
      return toInteger(value, from, to);
    case "float":
      return toFloat(from.kind === "decimal" ? floatOfDecimal(value as number | bigint, from.scale) : value, to.bits);
    case "string":
      return toText(value, from);
    case "binary":
      return typeof value === "string" ? encoder.encode(value) : value;
    case "date":
      return toDate(value, from);
    case "timestamp":
      return toTimestamp(value, from, to, environment.timeZone);
    case "time":
      return toClockTime(value, from, to);
    case "decimal":
      return toDecimal(value, from, to);
    case "json":
      return to.structured === true ? checkedObject(toJson(textOf(value))) : toJson(textOf(value));
    case "vector":
      return toEmbedding(value, to.dimension);
    case "duration":
      return toDuration(value, from, to);
    case "interval":
      return from.kind === "duration"
        ? { months: 0, days: 0, nanos: BigInt(value as bigint) * NANOS_PER_UNIT[from.unit] }
        : toInterval(value);
    case "list":
    case "struct":
    case "map":
      return castNested(value, from, to, (part, partFrom, partTo) => castValue(part, partFrom, partTo, environment));
    default:
      return value;
  }
}

function castError(why: string): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, `Cast error: ${why}`);
}

function cannotParse(text: string, type: DataType): DbError {
  return castError(`Cannot cast string '${text.slice(0, 80)}' to value of ${displayName(type)} type`);
}

function toBoolean(value: Present): boolean {
  if (typeof value === "boolean") return value;
  if (typeof value === "number" || typeof value === "bigint") return Number(value) !== 0;
  const text = textOf(value).trim().toLowerCase();
  if (["true", "t", "yes", "y", "on", "1"].includes(text)) return true;
  if (["false", "f", "no", "n", "off", "0"].includes(text)) return false;
  throw cannotParse(textOf(value), { kind: "boolean" });
}

function toInteger(value: Present, from: DataType, to: IntegerType): number | bigint {
  let integer: number | bigint;
  if (from.kind === "decimal") {
    integer = exactInteger(wholeOfDecimal(value as number | bigint, from.scale));
    if (!fits(integer, to)) throw castError(`value of ${integer} is out of range ${displayName(to)}`);
  } else if (typeof value === "string") {
    const text = value.trim();
    if (!/^[+-]?\d+$/.test(text)) throw cannotParse(value, to);
    integer = exactInteger(BigInt(text));
  } else if (typeof value === "bigint") integer = exactInteger(value);
  else if (typeof value === "boolean") integer = value ? 1 : 0;
  else {
    const whole = Math.trunc(Number(value)) + 0;
    if (!Number.isFinite(whole)) throw castError(`Can't cast value ${formatFloat(Number(value))} to type ${displayName(to)}`);
    integer = Number.isSafeInteger(whole) ? whole : exactInteger(BigInt(whole));
  }
  if (!fits(integer, to)) {
    if (typeof value === "string") throw cannotParse(value, to);
    throw castError(`Can't cast value ${from.kind === "float" ? formatFloat(Number(value)) : integer} to type ${displayName(to)}`);
  }
  return integer;
}

function toFloat(value: Present, bits: 32 | 64): number {
  let number: number;
  if (typeof value === "string") {
    const text = value.trim().toLowerCase();
    const special = SPECIAL_FLOATS[text];
    number = special ?? (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN);
    if (special === undefined && Number.isNaN(number)) throw cannotParse(value, { kind: "float", bits });
  } else number = Number(value);
  return bits === 32 ? Math.fround(number) : number;
}

const SPECIAL_FLOATS: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  "+inf": Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  "-infinity": Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
};

/** A value as `CAST(… AS STRING)` gives it. @throws DbError EngineExecuteQuery for binary that is no text */
export function toText(value: Present, from: DataType): string {
  if (typeof value === "string") return value;
  if (isInterval(value)) return formatInterval(value);
  if (value instanceof Uint8Array && isNested(from)) return nestedText(from, value, toText);
  if (value instanceof Uint8Array) return from.kind === "vector" ? embeddingText(value) : textOfBytes(value);
  switch (from.kind) {
    case "decimal":
      return decimalText(value as number | bigint, from.scale);
    case "time":
      return clockText(Number(value), from.unit);
    case "float":
      return formatFloat(from.bits === 32 ? shortestFloat32(Number(value)) : Number(value));
    case "date":
      return formatDate(Number(value));
    case "timestamp":
      return formatTimestamp(BigInt(value), from.unit);
    case "duration":
      return durationParts(BigInt(value), from.unit);
    default:
      return String(value);
  }
}

function textOfBytes(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    const message = "Invalid argument error: Encountered non UTF-8 data: the binary value is not text; use encode(x, 'hex')";
    throw new DbError(StatusCode.EngineExecuteQuery, message, { cause });
  }
}

function toDate(value: Present, from: DataType): number {
  if (typeof value !== "string") {
    const perDay = from.kind === "timestamp" ? SECONDS_PER_DAY * BigInt(UNITS_PER_SECOND[from.unit]) : 1n;
    const day = floorDivide(BigInt(value as number | bigint), perDay);
    // Columns hold days in 32 bits.
    if (day !== BigInt.asIntN(32, day)) throw castError(`Can't cast value ${textOf(value)} to type ${displayName({ kind: "date" })}`);
    return Number(day);
  }
  const days = parseDate(value) ?? dateOfTimestamp(value);
  if (days === undefined) throw cannotParse(value, { kind: "date" });
  return days;
}

function dateOfTimestamp(text: string): number | undefined {
  const nanos = parseTimestamp(text, "UTC");
  return nanos === undefined ? undefined : Number(floorDivide(nanos, SECONDS_PER_DAY * 1_000_000_000n));
}

function toTimestamp(value: Present, from: DataType, to: Extract<DataType, { kind: "timestamp" }>, zone: string): bigint {
  let time: bigint;
  if (from.kind === "timestamp") time = rescale(BigInt(value as bigint), from.unit, to.unit);
  else if (from.kind === "date") time = BigInt(value as number) * SECONDS_PER_DAY * BigInt(UNITS_PER_SECOND[to.unit]);
  else if (typeof value === "string") {
    const nanos = parseTimestamp(value, zone);
    if (nanos === undefined) {
      const hint = "write it like 2024-01-31T12:00:00Z or 2024-01-31 12:00:00";
      throw new DbError(
        StatusCode.EngineExecuteQuery,
        `Parser error: Error parsing timestamp from '${value.slice(0, 80)}': error parsing date; ${hint}`,
      );
    }
    time = rescale(nanos, "nanosecond", to.unit);
  } else if (from.kind === "decimal") time = wholeOfDecimal(value as number | bigint, from.scale);
  else {
    if (typeof value === "number" && !Number.isFinite(value))
      throw castError(`Can't cast value ${formatFloat(value)} to type ${displayName(to)}`);
    time = typeof value === "bigint" ? value : BigInt(Math.trunc(Number(value)));
  }
  if (time < INT64_MIN || time > INT64_MAX) throw castError(`time ${textOf(value)} is out of range of ${displayName(to)}`);
  return time;
}

/** Numbers count units; finer durations and intervals are cut off. @throws DbError EngineExecuteQuery for months and days */
function toDuration(value: Present, from: DataType, to: Extract<DataType, { kind: "duration" }>): bigint {
  let nanosOrUnits: bigint;
  let unit: TimeUnit = to.unit;
  if (isInterval(value)) {
    if (value.months !== 0 || value.days !== 0)
      throw castError(`Can't cast value ${formatInterval(value)} to type ${displayName(to)}: months and days have no fixed length`);
    [nanosOrUnits, unit] = [value.nanos, "nanosecond"];
  } else if (from.kind === "duration") [nanosOrUnits, unit] = [BigInt(value as bigint), from.unit];
  else nanosOrUnits = BigInt(toInteger(value, from, INT64 as IntegerType));
  const [have, want] = [NANOS_PER_UNIT[unit], NANOS_PER_UNIT[to.unit]];
  const result = (nanosOrUnits * have) / want;
  if (result >= INT64_MIN && result <= INT64_MAX) return result;
  throw castError(`Can't cast value ${textOf(value)} to type ${displayName(to)}`);
}

function toClockTime(value: Present, from: DataType, to: Extract<DataType, { kind: "time" }>): number {
  switch (from.kind) {
    case "time":
      return rescaledClock(Number(value), from.unit, to.unit);
    case "timestamp":
      return rescaledClock(clockOfTimestamp(BigInt(value as bigint), from.unit), from.unit, to.unit);
    case "string": {
      const nanos = clockNanosOfText(textOf(value));
      if (nanos === undefined) throw cannotParse(textOf(value), to);
      return rescaledClock(nanos, "nanosecond", to.unit);
    }
    default:
      if (!(Number(value) >= 0 && Number(value) < unitsPerDay(to.unit)))
        throw castError(`Can't cast value ${textOf(value)} to type ${displayName(to)}`);
      return Number(value);
  }
}

function toDecimal(value: Present, from: DataType, to: DecimalType): number | bigint {
  const result = decimalOf(value, from, to);
  if (result.ok) return result.value;
  if (typeof value === "string" && result.why === "syntax") throw cannotParse(value, to);
  if (from.kind === "float" && !Number.isFinite(value))
    throw castError(`Cannot cast to Decimal128(${to.precision}, ${to.scale}). Overflowing on ${formatFloat(Number(value))}`);
  throw tooLarge(rangeText(value, from, to), to);
}

function decimalOf(value: Present, from: DataType, to: DecimalType): DecimalResult {
  if (from.kind === "decimal") return decimalOfDecimal(value as number | bigint, from.scale, to);
  if (typeof value === "string") return decimalOfText(value, to);
  return from.kind === "float"
    ? decimalOfFloat(from.bits === 32 ? shortestFloat32(Number(value)) : Number(value), to)
    : decimalOfInteger(value as number | bigint, to);
}

/** A value that has too many digits, with those after the point that the type has. */
function rangeText(value: Present, from: DataType, to: DecimalType): string {
  if (from.kind === "decimal") return decimalText(rescaledDecimal(value as number | bigint, from.scale, to.scale), to.scale);
  if (typeof value === "string") return value.trim().slice(0, 80);
  if (from.kind === "float" && !Number.isInteger(value)) return formatFloat(Number(value));
  return decimalText(rescaledDecimal(BigInt(value as number | bigint), 0, to.scale), to.scale);
}

/** @throws DbError EngineExecuteQuery where the text is no JSON */
export function toJson(text: string): string {
  const json = canonicalJson(text);
  if (json.ok) return json.text;
  const message = `Execution error: cannot parse '${text.slice(0, 80)}': ${json.why}, pos ${json.position}`;
  throw new DbError(StatusCode.EngineExecuteQuery, message);
}

/** A document of type JSON2. @throws DbError Unsupported for what is no object, InvalidArguments for an empty one (query.md 1.3) */
function checkedObject(json: string): string {
  if (!json.startsWith("{")) throw new DbError(StatusCode.Unsupported, "Non-object json is not supported currently");
  if (json !== "{}") return json;
  const why = "empty json object is not supported, consider adding a dummy field";
  throw new DbError(StatusCode.InvalidArguments, `Invalid InsertRequest, reason: ${why}`);
}

/** The bytes of a vector; `dimension` undefined: of any. @throws DbError InvalidArguments where the value is none */
export function toEmbedding(value: Present, dimension: number | undefined): Uint8Array {
  if (value instanceof Uint8Array) {
    if (value.length % 4 === 0 && (dimension === undefined || value.length === dimension * 4)) return value;
    throw new DbError(
      StatusCode.InvalidArguments,
      `Invalid Vector: ${value.length} bytes are no Vector(${dimension ?? "n"}): wrong dimension`,
    );
  }
  const text = textOf(value);
  const parsed = embeddingOfText(text, dimension);
  if (parsed.ok) return parsed.bytes;
  throw new DbError(StatusCode.InvalidArguments, `Invalid Vector: Failed to parse ${text.slice(0, 80)} to Vector value: ${parsed.why}`);
}

function toInterval(value: Present): Value {
  if (typeof value !== "string") return value;
  const interval = parseInterval(value);
  if (interval === undefined) throw cannotParse(value, { kind: "interval" });
  return interval;
}
