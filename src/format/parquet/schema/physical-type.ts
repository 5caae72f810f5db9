/**
 * How each of our types is stored: Parquet's physical type and annotation. See FORMAT.md for the table.
 *
 * Source: Apache Parquet, LogicalTypes.md.
 */
import { AssertionError, unreachable } from "../../../base/assert.ts";
import type { TimeUnit } from "../../../column/data-type.ts";
import { isWideDecimal, WIDE_DECIMAL_BYTES } from "../../../column/decimal.ts";
import type { ThriftWriter } from "../thrift/thrift-compact.ts";
import type { ParquetColumn } from "../types.ts";

/** Physical types by their number in parquet.thrift. */
export const PhysicalType = { Boolean: 0, Int32: 1, Int64: 2, Float: 4, Double: 5, ByteArray: 6, FixedBytes: 7 } as const;

/** One of `PhysicalType`. */
export type PhysicalType = (typeof PhysicalType)[keyof typeof PhysicalType];

/** The physical type of a column. */
export function physicalTypeOf(column: ParquetColumn): PhysicalType {
  const { type } = column;
  switch (type.kind) {
    case "boolean":
      return PhysicalType.Boolean;
    case "int":
      return type.bits === 64 ? PhysicalType.Int64 : PhysicalType.Int32;
    case "float":
      return type.bits === 32 ? PhysicalType.Float : PhysicalType.Double;
    case "date":
      return PhysicalType.Int32;
    case "time":
      return type.unit === "second" || type.unit === "millisecond" ? PhysicalType.Int32 : PhysicalType.Int64;
    case "timestamp":
    case "duration":
      return PhysicalType.Int64;
    case "decimal":
      if (column.decimalText === true) return PhysicalType.ByteArray;
      return isWideDecimal(type) ? PhysicalType.FixedBytes : type.precision <= 9 ? PhysicalType.Int32 : PhysicalType.Int64;
    case "string":
    case "binary":
    case "json":
    case "interval":
    case "vector":
    case "list":
    case "struct":
      return PhysicalType.ByteArray;
    case "null":
    case "map":
      throw new AssertionError(`a column has a storable type; ${column.name} is of type ${type.kind}`);
    default:
      return unreachable(type);
  }
}

/** Bytes of a value of physical type FixedBytes. */
export const FIXED_BYTES: number = WIDE_DECIMAL_BYTES;

/** How many stored units make one unit of the column: 1000 for timestamps and times of day in seconds, which Parquet does not have. */
export function storedScale(column: ParquetColumn): 1 | 1000 {
  if (column.type.kind === "time") return column.type.unit === "second" ? 1000 : 1;
  return column.type.kind === "timestamp" && column.type.unit === "second" && column.bareSeconds !== true ? 1000 : 1;
}

const CONVERTED_UTF8 = 0;
const CONVERTED_MAP = 1;
const CONVERTED_LIST = 3;
const CONVERTED_DECIMAL = 5;
const CONVERTED_DATE = 6;
const CONVERTED_TIMESTAMP_MILLIS = 9;
const CONVERTED_TIMESTAMP_MICROS = 10;
const CONVERTED_JSON = 19;
const CONVERTED_INT: Readonly<Record<8 | 16 | 32 | 64, { readonly signed: number; readonly unsigned: number }>> = {
  8: { signed: 15, unsigned: 11 },
  16: { signed: 16, unsigned: 12 },
  32: { signed: 17, unsigned: 13 },
  64: { signed: 18, unsigned: 14 },
};

/** Fields of the LogicalType union. */
const LOGICAL_STRING = 1;
const LOGICAL_MAP = 2;
const LOGICAL_LIST = 3;
const LOGICAL_DECIMAL = 5;
const LOGICAL_DATE = 6;
const LOGICAL_TIME = 7;
const LOGICAL_TIMESTAMP = 8;
const LOGICAL_INTEGER = 10;
const LOGICAL_JSON = 12;

/** Writes fields 6 (converted type), 7, 8 (scale, precision) and 10 (logical type) of a column's SchemaElement, where it has any. */
export function writeAnnotation(writer: ThriftWriter, column: ParquetColumn): void {
  const { type } = column;
  switch (type.kind) {
    case "string":
    case "interval":
      writeEmptyLogical(writer, CONVERTED_UTF8, LOGICAL_STRING);
      return;
    case "decimal":
      if (column.decimalText === true) writeEmptyLogical(writer, CONVERTED_UTF8, LOGICAL_STRING);
      else writeDecimal(writer, type);
      return;
    case "time":
      writeTime(writer, type.unit);
      return;
    case "json":
      writeEmptyLogical(writer, CONVERTED_JSON, LOGICAL_JSON);
      return;
    case "date":
      writeEmptyLogical(writer, CONVERTED_DATE, LOGICAL_DATE);
      return;
    case "int": {
      writer.i32(6, CONVERTED_INT[type.bits][type.signed ? "signed" : "unsigned"]);
      writer.struct(10);
      writer.struct(LOGICAL_INTEGER);
      writer.byte(1, type.bits);
      writer.bool(2, type.signed);
      writer.close();
      writer.close();
      return;
    }
    case "timestamp":
      writeTimestamp(writer, column);
      return;
    default:
      return;
  }
}

/** The same fields of a group that holds a list or a map. */
export function writeGroupAnnotation(writer: ThriftWriter, holds: "list" | "map"): void {
  if (holds === "list") writeEmptyLogical(writer, CONVERTED_LIST, LOGICAL_LIST);
  else writeEmptyLogical(writer, CONVERTED_MAP, LOGICAL_MAP);
}

function writeEmptyLogical(writer: ThriftWriter, converted: number, logical: number): void {
  writer.i32(6, converted);
  writer.struct(10);
  writer.struct(logical);
  writer.close();
  writer.close();
}

function writeDecimal(writer: ThriftWriter, { precision, scale }: { readonly precision: number; readonly scale: number }): void {
  writer.i32(6, CONVERTED_DECIMAL);
  writer.i32(7, scale);
  writer.i32(8, precision);
  writer.struct(10);
  writer.struct(LOGICAL_DECIMAL);
  writer.i32(1, scale);
  writer.i32(2, precision);
  writer.close();
  writer.close();
}

/** A time of day of no zone; the older annotation would say UTC, which other readers show as another type. */
function writeTime(writer: ThriftWriter, unit: TimeUnit): void {
  writer.struct(10);
  writer.struct(LOGICAL_TIME);
  writer.bool(1, false);
  writeUnit(writer, unit);
  writer.close();
  writer.close();
}

/** Field 2 of a time or timestamp: the unit, which is never seconds. */
function writeUnit(writer: ThriftWriter, unit: TimeUnit): void {
  writer.struct(2);
  writer.struct(unit === "nanosecond" ? 3 : unit === "microsecond" ? 2 : 1);
  writer.close();
  writer.close();
}

function writeTimestamp(writer: ThriftWriter, column: ParquetColumn): void {
  const unit = column.type.kind === "timestamp" ? column.type.unit : "nanosecond";
  if (unit === "second" && column.bareSeconds === true) return;
  if (unit === "microsecond") writer.i32(6, CONVERTED_TIMESTAMP_MICROS);
  else if (unit !== "nanosecond") writer.i32(6, CONVERTED_TIMESTAMP_MILLIS);
  writer.struct(10);
  writer.struct(LOGICAL_TIMESTAMP);
  writer.bool(1, true); // instants in UTC
  writeUnit(writer, unit);
  writer.close();
  writer.close();
}
