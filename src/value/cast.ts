/**
 * A value of one type as a value of another: `CAST`, ALTER TABLE … MODIFY COLUMN, values of INSERT and of files, parameters. The rules are
 * in README.md. Names nothing it cannot do: what has no entry here is refused when planned.
 */
import { type DataType, displayName, isNested } from "../column/data-type.ts";
import { floatOfDecimal, wholeOfDecimal } from "../column/decimal.ts";
import { exactInteger } from "../column/exact-integer.ts";
import { type Present, textOf, type Value } from "./any-value.ts";
import { castToDecimal } from "./cast-decimal.ts";
import { CastFailure, noValueOfText, notHeld } from "./cast-failure.ts";
import { castToJson, castToObject, castToVector } from "./cast-document.ts";
import { castToDate, castToDuration, castToTime, castToTimestamp } from "./cast-time.ts";
import { fits, type IntegerType, wholeOfFloat } from "./integer-range.ts";
import { canCastNested, castNested } from "./nested-cast.ts";
import { booleanOfText, floatOfText, floatText, integerOfText } from "./number-text.ts";
import { parseInterval } from "./interval/parse-interval.ts";
import { NANOS_PER_UNIT } from "./time-units.ts";
import { textOfBytes, toText } from "./value-text.ts";

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
 * @throws DbError EngineExecuteQuery when the value has no counterpart; InvalidArguments for what is no vector, Unsupported for JSON2
 */
export function castValue(value: Value, from: DataType, to: DataType, { timeZone }: { readonly timeZone: string }): Value {
  const result = castResult(value, from, to, timeZone);
  if (result instanceof CastFailure) throw result.error();
  return result;
}

/**
 * As `castValue`, but a value without a counterpart is answered, not thrown. `canCast(from, to)` holds.
 *
 * @param zone canonical zone of texts of times that name none
 */
export function castResult(value: Value, from: DataType, to: DataType, zone: string): Value | CastFailure {
  if (value === undefined) return undefined;
  switch (to.kind) {
    case "boolean":
      return toBoolean(value);
    case "int":
      return toInteger(value, from, to);
    case "float":
      return toFloat(from.kind === "decimal" ? floatOfDecimal(value as number | bigint, from.scale) : value, to.bits);
    case "string":
      return value instanceof Uint8Array && from.kind === "binary" ? textOfBytes(value) : toText(value, from);
    case "binary":
      return typeof value === "string" ? encoder.encode(value) : value;
    case "date":
      return castToDate(value, from);
    case "timestamp":
      return castToTimestamp(value, from, to, zone);
    case "time":
      return castToTime(value, from, to);
    case "decimal":
      return castToDecimal(value, from, to);
    case "json":
      return to.structured === true ? castToObject(textOf(value)) : castToJson(textOf(value));
    case "vector":
      return castToVector(value, to.dimension);
    case "duration":
      return castToDuration(value, from, to);
    case "interval":
      return from.kind === "duration"
        ? { months: 0, days: 0, nanos: BigInt(value as bigint) * NANOS_PER_UNIT[from.unit] }
        : toInterval(value);
    case "list":
    case "struct":
    case "map":
      return castNested(value, from, to, (part, partFrom, partTo) => castResult(part, partFrom, partTo, zone));
    default:
      return value;
  }
}

function toBoolean(value: Present): boolean | CastFailure {
  if (typeof value === "boolean") return value;
  if (typeof value === "number" || typeof value === "bigint") return Number(value) !== 0;
  return booleanOfText(textOf(value).trim()) ?? noValueOfText(textOf(value), { kind: "boolean" });
}

function toInteger(value: Present, from: DataType, to: IntegerType): number | bigint | CastFailure {
  const whole = wholeOf(value, from);
  if (whole !== undefined && fits(whole, to)) return whole;
  if (typeof value === "string") return noValueOfText(value, to);
  if (from.kind === "decimal") return new CastFailure(() => `Cast error: value of ${whole} is out of range ${displayName(to)}`);
  return notHeld(() => (from.kind === "float" ? floatText(Number(value)) : String(whole)), to);
}

/** The exact whole number that a value stands for, a fraction cut off; undefined: it stands for none. */
function wholeOf(value: Present, from: DataType): number | bigint | undefined {
  if (from.kind === "decimal") return exactInteger(wholeOfDecimal(value as number | bigint, from.scale));
  switch (typeof value) {
    case "string":
      return integerOfText(value.trim());
    case "bigint":
      return exactInteger(value);
    case "boolean":
      return value ? 1 : 0;
    default:
      return wholeOfFloat(Number(value));
  }
}

function toFloat(value: Present, bits: 32 | 64): number | CastFailure {
  const number = typeof value === "string" ? floatOfText(value.trim()) : Number(value);
  if (number === undefined) return noValueOfText(textOf(value), { kind: "float", bits });
  return bits === 32 ? Math.fround(number) : number;
}

function toInterval(value: Present): Value | CastFailure {
  if (typeof value !== "string") return value;
  return parseInterval(value) ?? noValueOfText(value, { kind: "interval" });
}
