/** Types of columns as MySQL numbers them (contract query.md 4.1). */
import { unreachable } from "../../base/assert.ts";
import { type DataType, type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { Charset, ColumnFlag, ColumnType } from "./packets.ts";

/** What a column definition tells of a type. */
export interface WireType {
  readonly type: number;
  readonly flags: number;
  readonly charset: number;
  /** Characters of the longest value, as far as a type has one. */
  readonly length: number;
  /** Digits behind the point. */
  readonly decimals: number;
}

const TEXT_LENGTH = 0xff_ffff;
/** Digits that hang on the value. */
const ANY_DECIMALS = 0x1f;

const INTEGERS: Readonly<Record<8 | 16 | 32 | 64, readonly [type: number, length: number]>> = {
  8: [ColumnType.Tiny, 4],
  16: [ColumnType.Short, 6],
  32: [ColumnType.Long, 11],
  64: [ColumnType.LongLong, 20],
};

const binary = (type: number, length: number, decimals = 0, flags = 0): WireType => ({
  type,
  flags: flags | ColumnFlag.Binary,
  charset: Charset.Binary,
  length,
  decimals,
});

const text = (type: number): WireType => ({ type, flags: 0, charset: Charset.Utf8, length: TEXT_LENGTH, decimals: 0 });

/** Digits behind the second that MySQL has: six at most. */
const digitsOf = (unit: TimeUnit): number => Math.min(6, Math.round(Math.log10(UNITS_PER_SECOND[unit])));

/** What MySQL calls a type. */
export function wireTypeOf(type: DataType): WireType {
  switch (type.kind) {
    case "null":
      return binary(ColumnType.Null, 0);
    case "boolean":
      return binary(ColumnType.Tiny, 1);
    case "int": {
      const [number, length] = INTEGERS[type.bits];
      return binary(number, length, 0, type.signed ? 0 : ColumnFlag.Unsigned);
    }
    case "float":
      return type.bits === 32 ? binary(ColumnType.Float, 12, ANY_DECIMALS) : binary(ColumnType.Double, 22, ANY_DECIMALS);
    case "string":
    case "list":
    case "struct":
    case "map":
    case "interval":
      return text(ColumnType.Varchar);
    case "binary":
      return binary(ColumnType.Varchar, TEXT_LENGTH);
    case "json":
      return text(ColumnType.Json);
    case "vector":
      return binary(ColumnType.Blob, TEXT_LENGTH, 0, ColumnFlag.Blob);
    case "date":
      return binary(ColumnType.Date, 10);
    case "timestamp":
      return binary(ColumnType.Timestamp, 19 + digitsOf(type.unit) + 1, digitsOf(type.unit));
    case "time":
    case "duration":
      return binary(ColumnType.Time, 10 + digitsOf(type.unit) + 1, digitsOf(type.unit));
    case "decimal":
      return binary(ColumnType.NewDecimal, type.precision + 2, type.scale);
    default:
      return unreachable(type);
  }
}
