/**
 * Values as the text that files hold. Times are in UTC and name no zone; binary is hexadecimal. Lists, structs and maps are JSON, in which
 * every part is what a column of its type is in a JSON file: so all of it can be read again.
 */
import { type DataType, isNested, type NestedType } from "../../column/data-type.ts";
import { daysFromCivil } from "../../value/civil.ts";
import { shortestFloat32 } from "../../value/float32.ts";
import { decodeNested, type NestedPart } from "../../column/nested.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Vector } from "../../column/vector.ts";
import { toText } from "../../value/value-text.ts";
import { floatText } from "../../value/number-text.ts";
import { NANOS_PER_UNIT } from "../../value/time-units.ts";
import { NANOS_PER_DAY, type Present } from "../function/value/value.ts";
import type { TimePatterns } from "./copy-options.ts";
import type { TimePattern } from "./time-pattern.ts";

/** The text of row `row` of a vector; undefined is NULL. */
export type CellReader = (vector: Vector, row: number) => string | undefined;

/** How values of a type become text. */
export function cellReader(type: DataType, patterns: TimePatterns): CellReader {
  const write = textOfType(type, patterns);
  return (vector, row) => {
    if (vector.kind === "dictionary") return vector.dictionary[vector.codes[row] as number];
    const value = scalarAt(vector, type, row);
    return value === undefined ? undefined : write(value);
  };
}

function textOfType(type: DataType, patterns: TimePatterns): (value: Present) => string {
  switch (type.kind) {
    case "timestamp": {
      const scale = NANOS_PER_UNIT[type.unit];
      if (patterns.timestamp === undefined) return farTimestamps(type, scale);
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
      return jsonWriter(type, patterns);
    case "binary":
      return (value) => (value instanceof Uint8Array ? value.toHex() : toText(value, type));
    default:
      return (value) => toText(value, type);
  }
}

/** How values of a type become JSON. What JSON has no form for is text: times, decimals, binary, NaN and infinities. */
export function jsonWriter(type: DataType, patterns: TimePatterns): (value: Present) => string {
  if (isNested(type)) return nestedWriter(type, patterns);
  switch (type.kind) {
    case "boolean":
    case "int":
    case "duration":
      return String;
    case "float":
      return (value) => {
        const number = type.bits === 32 ? shortestFloat32(Number(value)) : Number(value);
        return Number.isFinite(number) ? floatText(number) : `"${floatText(number)}"`;
      };
    default: {
      const write = textOfType(type, patterns);
      return (value) => JSON.stringify(write(value));
    }
  }
}

/** Fields and entries stay in their order. */
function nestedWriter(type: NestedType, patterns: TimePatterns): (value: Present) => string {
  const partsOf = (value: Present): NestedPart[] => decodeNested(type, value as Uint8Array); // what nested values are
  const writerOf = (part: DataType): ((value: NestedPart) => string) => {
    const write = jsonWriter(part, patterns);
    return (value) => (value === undefined ? "null" : write(value));
  };
  switch (type.kind) {
    case "list": {
      const element = writerOf(type.element);
      return (value) => `[${partsOf(value).map(element).join(",")}]`;
    }
    case "struct": {
      const fields = type.fields.map((field) => ({ name: JSON.stringify(field.name), write: writerOf(field.type) }));
      return (value) => {
        const parts = partsOf(value);
        return `{${fields.map(({ name, write }, i) => `${name}:${write(parts[i])}`).join(",")}}`;
      };
    }
    case "map": {
      const [key, item] = [writerOf(type.key), writerOf(type.value)];
      return (value) => {
        const parts = partsOf(value);
        const entries: string[] = [];
        for (let i = 0; i + 1 < parts.length; i += 2) entries.push(`${nameOf(key(parts[i]))}:${item(parts[i + 1])}`);
        return `{${entries.join(",")}}`;
      };
    }
  }
}

/** JSON as a name of JSON, which is a text. */
const nameOf = (json: string): string => (json.startsWith('"') ? json : JSON.stringify(json));

/** Nanoseconds up to which a year has six digits at most: what is read again as a date. */
const DATED_NANOS: bigint = BigInt(daysFromCivil(999_999, 1, 1)) * NANOS_PER_DAY;

/** Times so far away that no text of theirs is read again are whole numbers of their unit, which is. */
function farTimestamps(type: DataType, scale: bigint): (value: Present) => string {
  return (value) => {
    const nanos = BigInt(value as bigint) * scale;
    return nanos > DATED_NANOS || nanos < -DATED_NANOS ? String(value as bigint) : toText(value, type);
  };
}

function patterned(pattern: TimePattern | undefined, type: DataType, nanosOf: (value: Present) => bigint): (value: Present) => string {
  return pattern === undefined ? (value) => toText(value, type) : (value) => pattern.format(nanosOf(value));
}
