/**
 * The data types of the native interface: their numbers, what they are here, and which field of a Value holds them (contract query.md 5.2).
 */
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INT8,
  JSON_TYPE,
  STRING,
  TIMESTAMP_MICROSECOND,
  TIMESTAMP_MILLISECOND,
  TIMESTAMP_NANOSECOND,
  TIMESTAMP_SECOND,
  UINT16,
  UINT32,
  UINT64,
  UINT8,
} from "../../column/data-type.ts";
import { DECIMAL_DIGITS_MAX } from "../../column/decimal.ts";
import { field, Wire } from "../../format/proto/reader.ts";

/** How a value's bytes are read. Numbers, since a loop over values branches on them. */
export const Encoding = {
  boolean: 0,
  /** A varint of a whole number of up to 32 bits, in range. */
  small: 1,
  int64: 2,
  uint64: 3,
  float32: 4,
  float64: 5,
  bytes: 6,
  text: 7,
  json: 8,
  /** A timestamp. */
  time: 9,
  /** A time of day. */
  clock: 10,
  decimal: 11,
  vector: 12,
} as const;
export type Encoding = (typeof Encoding)[keyof typeof Encoding];

/** A type that columns can have. */
export interface ColumnType {
  readonly type: DataType;
  readonly encoding: Encoding;
  /** The tag of the field of a Value that holds one; of Column.Values the same where it is not packed. */
  readonly tag: number;
}

/** What a ColumnDataTypeExtension says, as far as it decides a type. */
export interface TypeExtension {
  readonly decimal?: { readonly precision: number; readonly scale: number };
  /** JSON_BINARY. */
  readonly json?: true;
  readonly dimension?: number;
}

const of = (type: DataType, encoding: keyof typeof Encoding, number: number, wire: number): ColumnType => ({
  type,
  encoding: Encoding[encoding],
  tag: field(number, wire),
});

const JSON_COLUMN = of(JSON_TYPE, "json", 13, Wire.bytes);

/** By the number of ColumnDataType. */
const TYPES: ReadonlyMap<number, ColumnType> = new Map([
  [0, of(BOOLEAN, "boolean", 11, Wire.varint)],
  [1, of(INT8, "small", 1, Wire.varint)],
  [2, of(INT16, "small", 2, Wire.varint)],
  [3, of(INT32, "small", 3, Wire.varint)],
  [4, of(INT64, "int64", 4, Wire.varint)],
  [5, of(UINT8, "small", 5, Wire.varint)],
  [6, of(UINT16, "small", 6, Wire.varint)],
  [7, of(UINT32, "small", 7, Wire.varint)],
  [8, of(UINT64, "uint64", 8, Wire.varint)],
  [9, of(FLOAT32, "float32", 9, Wire.fixed32)],
  [10, of(FLOAT64, "float64", 10, Wire.fixed64)],
  [11, of(BINARY, "bytes", 12, Wire.bytes)],
  [12, of(STRING, "text", 13, Wire.bytes)],
  [13, of(DATE, "small", 14, Wire.varint)],
  [14, of(TIMESTAMP_MICROSECOND, "time", 15, Wire.varint)], // DATETIME
  [15, of(TIMESTAMP_SECOND, "time", 16, Wire.varint)],
  [16, of(TIMESTAMP_MILLISECOND, "time", 17, Wire.varint)],
  [17, of(TIMESTAMP_MICROSECOND, "time", 18, Wire.varint)],
  [18, of(TIMESTAMP_NANOSECOND, "time", 19, Wire.varint)],
  [19, of({ kind: "time", unit: "second" }, "clock", 20, Wire.varint)],
  [20, of({ kind: "time", unit: "millisecond" }, "clock", 21, Wire.varint)],
  [21, of({ kind: "time", unit: "microsecond" }, "clock", 22, Wire.varint)],
  [22, of({ kind: "time", unit: "nanosecond" }, "clock", 23, Wire.varint)],
  [31, JSON_COLUMN],
]);

/** Types that no column has, by number. */
const NO_COLUMN: ReadonlyMap<number, string> = new Map([
  [23, "INTERVAL"],
  [24, "INTERVAL"],
  [25, "INTERVAL"],
  [40, "LIST"],
  [41, "STRUCT"],
  [42, "DICTIONARY"],
]);

const DECIMAL = 30;
const VECTOR = 32;
const BINARY_NUMBER = 11;
/** DECIMAL without digits, as SQL reads it. */
const DECIMAL_DEFAULT = { precision: DECIMAL_DIGITS_MAX, scale: 10 } as const;
/** As SQL's VECTOR(n). */
const DIMENSION_MAX = 65_535;

/** The type that a message names, or why no column has it: the end of a sentence that begins with the column. */
export function columnTypeOf(number: number, extension: TypeExtension): ColumnType | string {
  const known = TYPES.get(number);
  if (known !== undefined) return number === BINARY_NUMBER && extension.json === true ? JSON_COLUMN : known;
  if (number === DECIMAL) {
    const { precision, scale } = extension.decimal ?? DECIMAL_DEFAULT;
    if (!(precision >= 1 && precision <= DECIMAL_DIGITS_MAX && scale >= 0 && scale <= precision))
      return `DECIMAL(${precision}, ${scale}) is no type: 1 to ${DECIMAL_DIGITS_MAX} digits, and a scale from 0 to that`;
    return of({ kind: "decimal", precision, scale }, "decimal", 31, Wire.bytes);
  }
  if (number === VECTOR) {
    const { dimension } = extension;
    if (dimension === undefined || dimension < 1 || dimension > DIMENSION_MAX)
      return `a VECTOR needs vector_type.dim in its datatype_extension, 1 to ${DIMENSION_MAX}`;
    return of({ kind: "vector", dimension }, "vector", 12, Wire.bytes);
  }
  const refused = NO_COLUMN.get(number);
  if (refused === undefined) return `data type ${number} is not known; see ColumnDataType`;
  return `columns of type ${refused} are not supported; send it as ${refused === "INTERVAL" ? "INT64" : "JSON"}`;
}
