/**
 * Operators of two numbers.
 */
import type { BinaryOperator } from "../../../syntax/operators.ts";

/** Comparisons give 1 or 0. Set operators are none. */
const OPERATORS: Readonly<Partial<Record<BinaryOperator, (a: number, b: number) => number>>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "^": power,
  atan2: Math.atan2,
  "==": (a, b) => (a === b ? 1 : 0),
  "!=": (a, b) => (a === b ? 0 : 1),
  "<": (a, b) => (a < b ? 1 : 0),
  "<=": (a, b) => (a <= b ? 1 : 0),
  ">": (a, b) => (a > b ? 1 : 0),
  ">=": (a, b) => (a >= b ? 1 : 0),
};

/** C99's: 1 to any power, and -1 to an infinite one, are 1. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}

/** How two numbers combine; undefined: they do not. */
export function numberOperator(operator: BinaryOperator): ((a: number, b: number) => number) | undefined {
  return OPERATORS[operator];
}
