/** Values as the text that files hold. Times are in UTC and name no zone; binary is hexadecimal, lists, structs and maps are JSON. */
import type { DataType } from "../../column/data-type.ts";
import { nestedJson } from "../../column/nested-json.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { toText } from "../function/cast.ts";
import { NANOS_PER_UNIT } from "../function/time/time-units.ts";
import { NANOS_PER_DAY } from "../function/value.ts";
import type { TimePatterns } from "./copy-options.ts";
import type { TimePattern } from "./time-pattern.ts";

/** The text of row `row` of a vector; undefined is NULL. */
export type CellReader = (vector: Vector, row: number) => string | undefined;

/** How values of a type become text. */
export function cellReader(type: DataType, patterns: TimePatterns): CellReader {
  const write = textOfType(type, patterns);
  return (vector, row) => {
    if (vector.kind === "dictionary") return vector.dictionary[vector.codes[row] ?? 0];
    const value = scalarAt(vector, type, row);
    return value === undefined ? undefined : write(value);
  };
}

function textOfType(type: DataType, patterns: TimePatterns): (value: Exclude<Scalar, undefined>) => string {
  switch (type.kind) {
    case "timestamp": {
      const scale = NANOS_PER_UNIT[type.unit];
      return patterned(patterns.timestamp, type, (value) => BigInt(value as bigint) * scale);
    }
    case "date":
      return patterned(patterns.date, type, (value) => BigInt(value as number) * NANOS_PER_DAY);
    case "time": {
      const scale = NANOS_PER_UNIT[type.unit];
      return patterned(patterns.time, type, (value) => BigInt(value as number) * scale);
    }
    // As a number of its unit, which is read again as it is.
    case "duration":
      return String;
    case "list":
    case "struct":
    case "map":
      return (value) => nestedJson(type, value as Uint8Array); // what nested values are
    case "binary":
      return (value) => (value instanceof Uint8Array ? value.toHex() : toText(value, type));
    default:
      return (value) => toText(value, type);
  }
}

function patterned(
  pattern: TimePattern | undefined,
  type: DataType,
  nanosOf: (value: Exclude<Scalar, undefined>) => bigint,
): (value: Exclude<Scalar, undefined>) => string {
  return pattern === undefined ? (value) => toText(value, type) : (value) => pattern.format(nanosOf(value));
}
