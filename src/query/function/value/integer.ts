/**
 * Exact integer arithmetic on `number | bigint` values: numbers while they stay within ±2^53, bigint beyond. A result outside the
 * type is an error, never a wrapped value.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, displayName } from "../../../column/data-type.ts";
import { fits, type IntegerType } from "../../../value/integer-range.ts";
import { exactInteger } from "./value.ts";

/** An exact integer. */
export type Integer = number | bigint;

/** Operators of arithmetic. */
export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%";

/** @throws DbError EngineExecuteQuery on overflow and on division by zero */
export function integerArithmetic(operator: ArithmeticOperator, a: Integer, b: Integer, type: IntegerType): Integer {
  if ((operator === "/" || operator === "%") && Number(b) === 0) throw divideByZero();
  if (typeof a === "number" && typeof b === "number") {
    const value = floatArithmetic(operator, a, b);
    const quick = (operator === "/" ? Math.trunc(value) : value) + 0; // -0 becomes 0
    // A double result within ±2^53 is the exact one: a larger exact result would have rounded to at least 2^53.
    if (Number.isSafeInteger(quick) && fits(quick, type)) return quick;
  }
  const exact = exactInteger(onBigints(operator, BigInt(a), BigInt(b)));
  if (!fits(exact, type)) throw overflow(`${a} ${operator} ${b}`, type);
  return exact;
}

/** As doubles are computed with. */
export function floatArithmetic(operator: ArithmeticOperator, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
  }
}

function onBigints(operator: ArithmeticOperator, a: bigint, b: bigint): bigint {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
  }
}

/** The error of a result that its type cannot hold. */
export function overflow(operation: string, type: DataType): DbError {
  const message = `Arithmetic overflow: Overflow happened on: ${operation}; cast to a wider type than ${displayName(type)} or to DOUBLE`;
  return new DbError(StatusCode.EngineExecuteQuery, message);
}

/** The error of an integer divided by zero. */
export function divideByZero(): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, "Divide by zero error");
}
