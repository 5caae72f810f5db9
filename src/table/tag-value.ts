/**
 * Tags of any type as the text that series are told apart by, and back.
 *
 * A table's series know tags as text only. Of a column of another type than STRING each value has exactly one text, so that equal values
 * are one series whatever way they were written:
 *
 * | type               | text                                                              |
 * |--------------------|-------------------------------------------------------------------|
 * | string             | itself                                                            |
 * | int                | decimal digits, `-` before negative ones                          |
 * | boolean            | `true`, `false`                                                   |
 * | float              | the shortest digits that read back, `NaN`, `Infinity`; -0 is `0`  |
 * | date               | days since 1970-01-01, as int: 20240131 is so many days           |
 * | timestamp          | units of the type since 1970, as int                              |
 * | time               | units of the type since midnight, as int                          |
 * | decimal            | digits with as many after the point as the scale says: `1.50`     |
 *
 * A cast from text to the type (dates, times and timestamps: to int first) gives the value back.
 */
import { invalidArguments } from "../base/error.ts";
import { type DataType, sqlName } from "../column/data-type.ts";
import { decimalOfText, decimalText } from "../column/decimal.ts";
import type { Scalar } from "../column/vector.ts";
import { clockNanosOfText, rescaledClock, unitsPerDay } from "../value/clock-time.ts";
import { fits } from "../value/integer-range.ts";
import { floatOfText, integerOfText } from "../value/number-text.ts";
import { parseDate } from "../value/parse-time.ts";
import { INT64_MAX, INT64_MIN } from "../column/exact-integer.ts";
import type { ColumnDefault } from "./schema.ts";

/** The text of a value of a type; NULL has none. The value is one that the type can hold. */
export function tagText(value: Scalar, type: DataType): string | undefined {
  if (value === undefined) return undefined;
  if (type.kind === "decimal") return decimalText(value as number | bigint, type.scale);
  if (type.kind !== "float") return String(value);
  const number = type.bits === 32 ? Math.fround(Number(value)) : Number(value);
  return String(number + 0); // -0 + 0 is 0: they are equal, and so one series.
}

/** The text of a default; undefined for none, and for a time of writing, which has none. The empty text means "no such tag". */
export function tagDefaultText(value: ColumnDefault | undefined, type: DataType): string | undefined {
  if (value?.kind !== "literal") return undefined;
  const text = tagText(value.value, type);
  return text === "" ? undefined : text;
}

/** The one text of a value of a tag, however it was written. @throws DbError InvalidArguments for a text that is no value of its type */
export function ownTagText(text: string, type: DataType, name: string, table: string): string | undefined {
  if (type.kind === "string") return text;
  const parsed = tagValue(text, type);
  if (parsed.ok) return tagText(parsed.value, type);
  throw invalidArguments(`cannot write to table ${table}: tag ${name} is ${sqlName(type)}, ${tagSyntax(type)}; got '${text.slice(0, 80)}'`);
}

/**
 * The value of a text under a type: what `tagText` makes and what people write besides (`+05`, `1e3`, `TRUE`, `2024-01-31`). NULL for
 * the empty text, which means "no such tag".
 *
 * @returns `{ ok: false }` when the text is no value of the type
 */
export function tagValue(text: string, type: DataType): { readonly ok: true; readonly value: Scalar } | { readonly ok: false } {
  if (type.kind === "string") return { ok: true, value: text };
  if (text === "") return { ok: true, value: undefined };
  const value = parse(text, type);
  return value === undefined ? { ok: false } : { ok: true, value };
}

function parse(text: string, type: DataType): Scalar {
  switch (type.kind) {
    case "int": {
      const value = integerOfText(text);
      return value !== undefined && fits(value, type) ? value : undefined;
    }
    case "boolean": {
      const lower = text.toLowerCase();
      return lower === "true" ? true : lower === "false" ? false : undefined;
    }
    case "float": {
      const number = floatOfText(text);
      if (number === undefined) return undefined;
      return (type.bits === 32 ? Math.fround(number) : number) + 0;
    }
    case "date":
      return integerWithin(text, -(2n ** 31n), 2n ** 31n - 1n) ?? parseDate(text);
    case "time": {
      const nanos = clockNanosOfText(text);
      return nanos === undefined ? integerWithin(text, 0n, unitsPerDay(type.unit) - 1n) : rescaledClock(nanos, "nanosecond", type.unit);
    }
    case "decimal": {
      const decimal = decimalOfText(text, type);
      return decimal.ok ? decimal.value : undefined;
    }
    case "timestamp":
    case "duration": {
      const value = integerWithin(text, INT64_MIN, INT64_MAX);
      return value === undefined ? undefined : BigInt(value);
    }
    default:
      return text;
  }
}

function integerWithin(text: string, min: bigint, max: bigint): number | bigint | undefined {
  const value = integerOfText(text);
  return value === undefined || value < min || value > max ? undefined : value;
}

/** How values of the type may be written as tags, for messages. */
export function tagSyntax(type: DataType): string {
  switch (type.kind) {
    case "int":
      return `a whole number of ${type.bits} bits, ${type.signed ? "signed" : "unsigned"}`;
    case "boolean":
      return "true or false";
    case "float":
      return "a number";
    case "date":
      return "a date such as 2024-01-31";
    case "time":
      return "a time of day such as 12:30:00";
    case "decimal":
      return `a number with at most ${type.precision - type.scale} digits before the point`;
    case "timestamp":
    case "duration":
      return `a whole number of ${type.unit}s`;
    default:
      return "text";
  }
}

/** Order of two values of one type: NULL first, then by value, NaN last. For every type but text, which storage orders by itself. */
export function compareTagValues(a: Scalar, b: Scalar): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  if (a < b) return -1;
  if (a > b) return 1;
  return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0);
}
