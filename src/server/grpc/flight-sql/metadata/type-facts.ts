/** Sizes of the values of a type as JDBC and ODBC count them. */
import type { DataType, TimeUnit } from "../../../../column/data-type.ts";

/** See the file header. */
export interface TypeFacts {
  /** Digits of numbers, bits of floats' fractions, characters of dates and times as text; undefined where nothing bounds it. */
  readonly size: number | undefined;
  /** Digits behind the point; undefined for what has none by nature. */
  readonly scale: number | undefined;
  /** Whether two texts that differ in case differ. */
  readonly isCaseSensitive: boolean;
}

/** Digits of whole numbers. */
const INT_DIGITS: Readonly<Record<8 | 16 | 32 | 64, number>> = { 8: 3, 16: 5, 32: 10, 64: 19 };
/** Digits of seconds' fractions. */
const FRACTION_DIGITS: Readonly<Record<TimeUnit, number>> = { second: 0, millisecond: 3, microsecond: 6, nanosecond: 9 };

/** Facts of a type. */
export function typeFacts(type: DataType): TypeFacts {
  const plain = { size: undefined, scale: undefined, isCaseSensitive: false };
  switch (type.kind) {
    case "boolean":
      return { ...plain, size: 1 };
    case "int":
      return { ...plain, size: type.bits === 64 && !type.signed ? 20 : INT_DIGITS[type.bits], scale: 0 };
    case "float":
      return { ...plain, size: type.bits === 32 ? 24 : 53 };
    case "decimal":
      return { ...plain, size: type.precision, scale: type.scale };
    case "date":
      return { ...plain, size: "2026-01-01".length };
    case "time":
      return { ...plain, ...clock("00:00:00".length, type.unit) };
    case "timestamp":
      return { ...plain, ...clock("2026-01-01 00:00:00".length, type.unit) };
    case "string":
    case "json":
      return { ...plain, isCaseSensitive: true };
    default:
      return plain;
  }
}

function clock(characters: number, unit: TimeUnit): Pick<TypeFacts, "size" | "scale"> {
  const scale = FRACTION_DIGITS[unit];
  return { size: scale === 0 ? characters : characters + 1 + scale, scale };
}
