/**
 * Decimals in expressions: the types that results have, exact `+ - * / %`, and the errors of values that do not fit.
 *
 * | operation | digits after the point | digits before it                    | rest                           |
 * |-----------|------------------------|-------------------------------------|--------------------------------|
 * | a + b, -  | the larger             | the larger, and one more            | none                           |
 * | a * b     | both together          | both together, and one more         | rounded where 38 are exceeded  |
 * | a / b     | those of a, and 4 more | those of a and those after b's point| cut off                        |
 * | a % b     | the larger             | the smaller                         | none                           |
 *
 * Types have at most 38 digits; those before the point yield. A value with more is an error, never a wrong digit.
 * A decimal beside a float makes a float (contract query.md 2.1; conformance types/decimal).
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DataType } from "../../../column/data-type.ts";
import {
  DECIMAL_DIGITS_MAX,
  decimalText,
  type DecimalType,
  dividedRounding,
  powerOfTen,
  rescaledDecimal,
} from "../../../column/decimal.ts";
import { exactInteger } from "../../../column/exact-integer.ts";
import { tooManyDigits } from "../../../value/cast-decimal.ts";
import { type ArithmeticOperator, divideByZero, type Integer } from "./integer.ts";

/** Digits after the point that a division adds. */
const DIVISION_DIGITS = 4;
/** Digits that an average has more than its values. */
const AVERAGE_DIGITS = 4;
/** Digits that a sum has more than its values. */
const SUM_DIGITS = 10;
/** Digits of the whole numbers of each width, signed and unsigned. */
const INT_DIGITS: Readonly<Record<8 | 16 | 32 | 64, number>> = { 8: 3, 16: 5, 32: 10, 64: 20 };

function decimal(precision: number, scale: number): DecimalType {
  const kept = Math.min(scale, DECIMAL_DIGITS_MAX);
  return { kind: "decimal", precision: Math.min(DECIMAL_DIGITS_MAX, Math.max(precision, kept, 1)), scale: kept };
}

/** The decimal type that holds every value of an integer or decimal type; undefined for other types. */
export function asDecimal(type: DataType): DecimalType | undefined {
  if (type.kind === "decimal") return type;
  return type.kind === "int" ? decimal(INT_DIGITS[type.bits], 0) : undefined;
}

/** The decimal type that holds the values of both; digits before the point yield beyond 38. */
export function widerDecimal(a: DecimalType, b: DecimalType): DecimalType {
  const scale = Math.max(a.scale, b.scale);
  return decimal(Math.max(a.precision - a.scale, b.precision - b.scale) + scale, scale);
}

/** Type of `a operator b`. */
export function decimalResult(operator: ArithmeticOperator, a: DecimalType, b: DecimalType): DecimalType {
  const scale = Math.max(a.scale, b.scale);
  const [wholeA, wholeB] = [a.precision - a.scale, b.precision - b.scale];
  switch (operator) {
    case "+":
    case "-":
      return decimal(Math.max(wholeA, wholeB) + scale + 1, scale);
    case "*":
      return decimal(a.precision + b.precision + 1, a.scale + b.scale);
    case "/":
      return decimal(wholeA + b.scale + a.scale + DIVISION_DIGITS, a.scale + DIVISION_DIGITS);
    case "%":
      return decimal(Math.min(wholeA, wholeB) + scale, scale);
  }
}

/** Type of `sum`. */
export function decimalSumType({ precision, scale }: DecimalType): DecimalType {
  return decimal(precision + SUM_DIGITS, scale);
}

/** Type of `avg`. */
export function decimalAverageType({ precision, scale }: DecimalType): DecimalType {
  return decimal(precision + AVERAGE_DIGITS, scale + AVERAGE_DIGITS);
}

/** `a operator b` of unscaled values. @throws DbError EngineExecuteQuery when the result does not fit its type, and on division by zero */
export function decimalArithmetic(
  operator: ArithmeticOperator,
  a: Integer,
  left: DecimalType,
  b: Integer,
  right: DecimalType,
  result: DecimalType,
): Integer {
  return checkedDecimal(unscaledResult(operator, BigInt(a), left.scale, BigInt(b), right.scale, result.scale), result);
}

function unscaledResult(operator: ArithmeticOperator, a: bigint, scaleA: number, b: bigint, scaleB: number, scale: number): bigint {
  if ((operator === "/" || operator === "%") && b === 0n) throw divideByZero();
  if (operator === "*") {
    const dropped = scaleA + scaleB - scale;
    return dropped > 0 ? dividedRounding(a * b, powerOfTen(dropped)) : a * b;
  }
  if (operator === "/") {
    const shift = scale - scaleA + scaleB;
    return shift >= 0 ? (a * powerOfTen(shift)) / b : a / (b * powerOfTen(-shift));
  }
  const [x, y] = [a * powerOfTen(scale - scaleA), b * powerOfTen(scale - scaleB)];
  if (operator === "%") return x % y;
  return operator === "+" ? x + y : x - y;
}

/** An unscaled value as a value of its type. @throws DbError EngineExecuteQuery when it has too many digits */
export function checkedDecimal(unscaled: bigint, type: DecimalType): Integer {
  const limit = powerOfTen(type.precision);
  if (unscaled >= limit || unscaled <= -limit)
    throw new DbError(StatusCode.EngineExecuteQuery, tooManyDigits(decimalText(unscaled, type.scale), type));
  return exactInteger(unscaled);
}

/** The average of `count` values with this sum, the rest cut off. */
export function decimalAverage(total: bigint, count: number, { scale }: DecimalType, result: DecimalType): Integer {
  return checkedDecimal((total * powerOfTen(result.scale - scale)) / BigInt(count), result);
}

/** Order of two decimals of any scales: negative, 0 or positive. */
export function compareDecimals(a: Integer, scaleA: number, b: Integer, scaleB: number): number {
  const scale = Math.max(scaleA, scaleB);
  const [x, y] = [rescaledDecimal(a, scaleA, scale), rescaledDecimal(b, scaleB, scale)];
  return x < y ? -1 : x > y ? 1 : 0;
}
