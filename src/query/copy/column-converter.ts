/** Values of a file as values of a table's column. */
import { type DbError, invalidArguments } from "../../base/error.ts";
import { type DataType, displayName, INT64, isNested, sameType } from "../../column/data-type.ts";
import type { NestedPart } from "../../column/nested.ts";
import type { Scalar } from "../../column/vector.ts";
import { canCast, castValue } from "../../value/cast.ts";
import { floorDivide } from "../../value/civil.ts";
import { fitsInt64 } from "../../value/integer-range.ts";
import { integerOfText } from "../../value/number-text.ts";
import { NANOS_PER_UNIT } from "../../value/time-units.ts";
import { isInterval, NANOS_PER_DAY, textOf } from "../function/value/value.ts";
import { jsonWriter } from "./cell-text.ts";
import type { CopyOptions, TimePatterns } from "./copy-options.ts";
import { typeOfValue } from "./decode-json.ts";
import type { FileColumn } from "./file-rows.ts";
import { jsonReader } from "./json-reader.ts";
import { mismatch, nestedConverter } from "./nested-converter.ts";
import type { TimePattern } from "./time-pattern.ts";

/** Text in files that names no zone is in UTC, as it is written. */
const UTC = { timeZone: "UTC" } as const;

/** A value of a file as one of the column. @throws DbError EngineExecuteQuery, InvalidArguments */
export type Converter = (value: Scalar) => Scalar;

/**
 * How values of a file's column become values of a type.
 *
 * @throws DbError InvalidArguments when they never do
 */
export function converterOf(from: FileColumn["type"], to: DataType, options: Pick<CopyOptions, "patterns">): Converter {
  const text = textConverter(to, options.patterns);
  if (from === undefined) return (value) => (typeof value === "string" ? text(value) : converted(value, typeOfValue(value), to));
  if (from.kind === "string") return (value) => (typeof value === "string" ? text(value) : undefined);
  if (from.kind !== "decimal" && sameType(from, to)) return (value) => value;
  if (isNested(from)) {
    if (to.kind !== "string" && to.kind !== "json")
      return nestedConverter(from, to, (part, target) => partConverter(part, target, options));
    const write = jsonWriter(from, options.patterns);
    return (value) => (value === undefined ? undefined : text(write(value)));
  }
  if (!canCast(from, to) || isNested(to)) throw mismatch(from, to);
  return (value) => converted(value, from, to);
}

/** Intervals are never parts of a file's values. */
function partConverter(from: DataType, to: DataType, options: Pick<CopyOptions, "patterns">): (part: NestedPart) => NestedPart {
  const convert = converterOf(from, to, options);
  return (part) => convert(part as Scalar);
}

function converted(value: Scalar, from: DataType, to: DataType): Scalar {
  if (value === undefined) return undefined;
  if (!canCast(from, to) || isNested(to)) throw cannot(value, to);
  // A cast drops what stands behind the point; a copy must not.
  if (from.kind === "float" && to.kind === "int" && !Number.isInteger(value)) throw cannot(value, to);
  const result = castValue(value, from, to, UTC);
  return isInterval(result) ? textOf(result) : result;
}

function cannot(value: Scalar, to: DataType): DbError {
  return invalidArguments(`'${textOf(value).slice(0, 80)}' is no value of type ${displayName(to)}`);
}

function textConverter(to: DataType, patterns: TimePatterns): (text: string) => Scalar {
  switch (to.kind) {
    case "string":
      return (text) => text;
    case "binary":
      return (text) => bytesOfHex(text, to);
    case "timestamp":
      return timeConverter(to, patterns.timestamp, (nanos) => floorDivide(nanos, NANOS_PER_UNIT[to.unit]));
    case "date":
      return timeConverter(to, patterns.date, (nanos) => Number(floorDivide(nanos, NANOS_PER_DAY)));
    case "time":
      return timeConverter(to, patterns.time, (nanos) => Number(floorDivide(nanos, NANOS_PER_UNIT[to.unit])));
    case "list":
    case "struct":
    case "map":
      return jsonReader(to, (part, value) => partOfJson(part, value, patterns));
    case "duration":
      return (text) => {
        const units = integerOfText(text.trim());
        if (units === undefined || !fitsInt64(units)) throw cannot(text, to);
        return BigInt(units);
      };
    default:
      return (text) => converted(text, { kind: "string" }, to);
  }
}

function timeConverter(to: DataType, pattern: TimePattern | undefined, fromNanos: (nanos: bigint) => Scalar): (text: string) => Scalar {
  return (text) => {
    if (pattern !== undefined) {
      const nanos = pattern.parse(text);
      if (nanos === undefined) throw cannot(text, to);
      return fromNanos(nanos);
    }
    // A whole number counts in the unit of the column.
    const units = to.kind === "timestamp" ? integerOfText(text.trim()) : undefined;
    if (units !== undefined) return converted(units, INT64, to);
    return converted(text, { kind: "string" }, to);
  };
}

function bytesOfHex(text: string, to: DataType): Uint8Array {
  const digits = text.replace(/^(0x|\\x)/, "");
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) throw cannot(text, to);
  return Uint8Array.fromHex(digits);
}

/** A value of JSON that is neither a list nor an object, as a part of a nested value. */
function partOfJson(to: DataType, value: string | number | bigint | boolean, patterns: TimePatterns): NestedPart {
  if (to.kind === "interval") return castValue(String(value), { kind: "string" }, to, UTC);
  return typeof value === "string" ? textConverter(to, patterns)(value) : converted(value, typeOfValue(value), to);
}
