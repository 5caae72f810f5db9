/** Casts to decimals. */
import type { DataType } from "../column/data-type.ts";
import {
  decimalMax,
  decimalOfDecimal,
  decimalOfFloat,
  decimalOfInteger,
  decimalOfText,
  type DecimalResult,
  decimalText,
  type DecimalType,
  rescaledDecimal,
} from "../column/decimal.ts";
import type { Present } from "./any-value.ts";
import { CastFailure, noValueOfText, quoted } from "./cast-failure.ts";
import { shortestFloat32 } from "./float32.ts";
import { floatText } from "./number-text.ts";

/** The unscaled value: digits beyond the scale are rounded half away from zero, digits before the point must fit. */
export function castToDecimal(value: Present, from: DataType, to: DecimalType): number | bigint | CastFailure {
  const result = decimalOf(value, from, to);
  if (result.ok) return result.value;
  if (typeof value === "string" && result.why === "syntax") return noValueOfText(value, to);
  if (from.kind === "float" && !Number.isFinite(value)) {
    const type = `Decimal128(${to.precision}, ${to.scale})`;
    return new CastFailure(() => `Cast error: Cannot cast to ${type}. Overflowing on ${floatText(Number(value))}`);
  }
  return new CastFailure(() => tooManyDigits(rangeText(value, from, to), to));
}

function decimalOf(value: Present, from: DataType, to: DecimalType): DecimalResult {
  if (from.kind === "decimal") return decimalOfDecimal(value as number | bigint, from.scale, to);
  if (typeof value === "string") return decimalOfText(value, to);
  return from.kind === "float"
    ? decimalOfFloat(from.bits === 32 ? shortestFloat32(Number(value)) : Number(value), to)
    : decimalOfInteger(value as number | bigint, to);
}

/** A value that has too many digits, with those after the point that the type has. */
function rangeText(value: Present, from: DataType, to: DecimalType): string {
  if (from.kind === "decimal") return decimalText(rescaledDecimal(value as number | bigint, from.scale, to.scale), to.scale);
  if (typeof value === "string") return quoted(value.trim());
  if (from.kind === "float" && !Number.isInteger(value)) return floatText(Number(value));
  return decimalText(rescaledDecimal(BigInt(value as number | bigint), 0, to.scale), to.scale);
}

/** What an error says of a value with more digits than its type. */
export function tooManyDigits(text: string, { precision, scale }: DecimalType): string {
  const most = decimalText(decimalMax(precision), scale);
  return `Invalid argument error: ${text} is too large to store in a Decimal128 of precision ${precision}. Max is ${most}`;
}
