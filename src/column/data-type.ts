/**
 * Data types of columns and expressions, with the names that clients see (contract query.md 1.3, http.md 2.4).
 */
import { unreachable } from "../base/assert.ts";

/** Unit of a timestamp, duration or time of day. */
export type TimeUnit = "second" | "millisecond" | "microsecond" | "nanosecond";

/** A logical type. Compare with `sameType`; the constants below are the usual instances. */
export type DataType =
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  /** `oid`: a number of PostgreSQL's catalogue, which its clients are told as such. */
  | { readonly kind: "int"; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean; readonly oid?: true }
  | { readonly kind: "float"; readonly bits: 32 | 64 }
  | { readonly kind: "string" }
  | { readonly kind: "binary" }
  | { readonly kind: "date" }
  | { readonly kind: "timestamp"; readonly unit: TimeUnit }
  /** Time of day: whole units since midnight, below one day. */
  | { readonly kind: "time"; readonly unit: TimeUnit }
  | { readonly kind: "duration"; readonly unit: TimeUnit }
  | { readonly kind: "interval" }
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number }
  /** `structured`: JSON2, which holds objects only. */
  | { readonly kind: "json"; readonly structured?: true }
  | { readonly kind: "vector"; readonly dimension: number }
  /**
   * Values of expressions, native histograms, and what files of external tables hold: no statement names such columns (`nested.ts`).
   * `vector`: one that PostgreSQL's catalogue writes as numbers between blanks, and whose subscripts begin at 0.
   */
  | { readonly kind: "list"; readonly element: DataType; readonly vector?: "int2vector" | "oidvector" }
  | { readonly kind: "struct"; readonly fields: readonly StructField[] }
  | { readonly kind: "map"; readonly key: DataType; readonly value: DataType };

/** A field of a struct. Names may repeat; the first one counts. */
export interface StructField {
  readonly name: string;
  readonly type: DataType;
}

/** A type whose values are made of other values. */
export type NestedType = Extract<DataType, { kind: "list" | "struct" | "map" }>;

/** Whether values of a type are made of other values. */
export function isNested(type: DataType): type is NestedType {
  return type.kind === "list" || type.kind === "struct" || type.kind === "map";
}

/** The usual types. */
export const NULL: DataType = { kind: "null" };
export const BOOLEAN: DataType = { kind: "boolean" };
export const INT8: DataType = { kind: "int", bits: 8, signed: true };
export const INT16: DataType = { kind: "int", bits: 16, signed: true };
export const INT32: DataType = { kind: "int", bits: 32, signed: true };
export const INT64: DataType = { kind: "int", bits: 64, signed: true };
export const UINT8: DataType = { kind: "int", bits: 8, signed: false };
export const UINT16: DataType = { kind: "int", bits: 16, signed: false };
export const UINT32: DataType = { kind: "int", bits: 32, signed: false };
export const UINT64: DataType = { kind: "int", bits: 64, signed: false };
export const FLOAT32: DataType = { kind: "float", bits: 32 };
export const FLOAT64: DataType = { kind: "float", bits: 64 };
export const STRING: DataType = { kind: "string" };
export const BINARY: DataType = { kind: "binary" };
export const DATE: DataType = { kind: "date" };
export const INTERVAL: DataType = { kind: "interval" };
export const JSON_TYPE: DataType = { kind: "json" };
export const JSON2: DataType = { kind: "json", structured: true };
export const TIME_NANOSECOND: DataType = { kind: "time", unit: "nanosecond" };
export const DURATION_MILLISECOND: DataType = { kind: "duration", unit: "millisecond" };
export const TIMESTAMP_SECOND: DataType = { kind: "timestamp", unit: "second" };
export const TIMESTAMP_MILLISECOND: DataType = { kind: "timestamp", unit: "millisecond" };
export const TIMESTAMP_MICROSECOND: DataType = { kind: "timestamp", unit: "microsecond" };
export const TIMESTAMP_NANOSECOND: DataType = { kind: "timestamp", unit: "nanosecond" };

/** Types of numbers by their names. */
export const NUMBER_TYPES: Readonly<Record<string, DataType>> = {
  int8: INT8,
  int16: INT16,
  int32: INT32,
  int64: INT64,
  uint8: UINT8,
  uint16: UINT16,
  uint32: UINT32,
  uint64: UINT64,
  float32: FLOAT32,
  float64: FLOAT64,
};

const UNIT_NAME: Readonly<Record<TimeUnit, string>> = {
  second: "Second",
  millisecond: "Millisecond",
  microsecond: "Microsecond",
  nanosecond: "Nanosecond",
};

/** Digits of the fraction that a unit holds: TIMESTAMP(p). */
const UNIT_PRECISION: Readonly<Record<TimeUnit, 0 | 3 | 6 | 9>> = {
  second: 0,
  millisecond: 3,
  microsecond: 6,
  nanosecond: 9,
};

/** How many of `unit` make one second. */
export const UNITS_PER_SECOND: Readonly<Record<TimeUnit, number>> = {
  second: 1,
  millisecond: 1000,
  microsecond: 1_000_000,
  nanosecond: 1_000_000_000,
};

/** Name in HTTP `data_type` and DESCRIBE: "Int64", "TimestampNanosecond", "Decimal(38, 10)". */
export function displayName(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "Null";
    case "boolean":
      return "Boolean";
    case "int":
      return `${type.signed ? "Int" : "UInt"}${type.bits}`;
    case "float":
      return `Float${type.bits}`;
    case "string":
      return "String";
    case "binary":
      return "Binary";
    case "date":
      return "Date";
    case "timestamp":
      return `Timestamp${UNIT_NAME[type.unit]}`;
    case "time":
      return `Time${UNIT_NAME[type.unit]}`;
    case "duration":
      return `Duration${UNIT_NAME[type.unit]}`;
    case "interval":
      return "IntervalMonthDayNano";
    case "decimal":
      return `Decimal(${type.precision}, ${type.scale})`;
    case "json":
      return type.structured === true ? "Json2" : "Json";
    case "vector":
      return `Vector(${type.dimension})`;
    case "list":
      return `List<${displayName(type.element)}>`;
    case "struct":
      return `Struct<${type.fields.map((field) => `${JSON.stringify(field.name)}: ${displayName(field.type)}`).join(", ")}>`;
    case "map":
      return `Map<${displayName(type.key)}, ${displayName(type.value)}>`;
    default:
      return unreachable(type);
  }
}

const INT_SQL: Readonly<Record<8 | 16 | 32 | 64, string>> = { 8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT" };

/** Spelling in SHOW CREATE TABLE: "BIGINT", "TIMESTAMP(9)". */
export function sqlName(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "NULL";
    case "boolean":
      return "BOOLEAN";
    case "int":
      return type.signed ? INT_SQL[type.bits] : `${INT_SQL[type.bits]} UNSIGNED`;
    case "float":
      return type.bits === 32 ? "FLOAT" : "DOUBLE";
    case "string":
      return "STRING";
    case "binary":
      return "VARBINARY";
    case "date":
      return "DATE";
    case "timestamp":
      return `TIMESTAMP(${UNIT_PRECISION[type.unit]})`;
    case "time":
      return `TIME(${UNIT_PRECISION[type.unit]})`;
    case "duration":
      return `DURATION(${UNIT_PRECISION[type.unit]})`;
    case "interval":
      return "INTERVAL";
    case "decimal":
      return `DECIMAL(${type.precision}, ${type.scale})`;
    case "json":
      return type.structured === true ? "JSON2" : "JSON";
    case "vector":
      return `VECTOR(${type.dimension})`;
    case "list":
      return `${sqlName(type.element)}[]`;
    case "struct":
      return `STRUCT<${type.fields.map((field) => `${field.name} ${sqlName(field.type)}`).join(", ")}>`;
    case "map":
      return `MAP(${sqlName(type.key)}, ${sqlName(type.value)})`;
    default:
      return unreachable(type);
  }
}

/**
 * Which vectors hold the values of a type where they are no dictionary (`vector.ts`): "number" stands for number and wide,
 * "times" for time and wide.
 */
export type ValueForm = "number" | "times" | "bytes";

/** The form of a type's values. */
export function formOf(type: DataType): ValueForm {
  switch (type.kind) {
    case "null":
    case "boolean":
    case "int":
    case "float":
    case "date":
    case "time":
      return "number";
    case "timestamp":
    case "duration":
      return "times";
    case "decimal":
      return type.precision <= WHOLE_DECIMAL_DIGITS ? "number" : "bytes";
    case "string":
    case "binary":
    case "interval":
    case "json":
    case "vector":
    case "list":
    case "struct":
    case "map":
      return "bytes";
    default:
      return unreachable(type);
  }
}

/** Most digits of a decimal whose values are 64-bit integers in memory and in files; more take 16 bytes each (`decimal.ts`). */
const WHOLE_DECIMAL_DIGITS = 18;

/** Whether two types are the same, parameters included. */
export function sameType(a: DataType, b: DataType): boolean {
  return a === b || (a.kind === b.kind && displayName(a) === displayName(b));
}
