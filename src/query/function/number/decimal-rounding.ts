/** `round`, `trunc`, `floor` and `ceil` of decimals: exact, under the scale that the value has. */
import { type DataType, INT64 } from "../../../column/data-type.ts";
import { DECIMAL_DIGITS_MAX, type DecimalType, dividedRounding, powerOfTen } from "../../../column/decimal.ts";
import { checkedDecimal } from "../value/decimal.ts";
import type { Integer } from "../value/integer.ts";
import type { FunctionType } from "../signature/scalar-function.ts";

/** Which neighbour is taken; "round" takes the nearer one, the one away from zero when both are as near. */
export type DecimalRounding = "round" | "trunc" | "floor" | "ceil";

/** Types of a call on a decimal, with a number of digits or not. The result may have one digit more: 9.9 becomes 10.0. */
export function roundedDecimalType(type: DecimalType, args: readonly DataType[]): FunctionType | undefined {
  const [, digits] = args;
  const result: DataType = { ...type, precision: Math.min(DECIMAL_DIGITS_MAX, type.precision + 1) };
  if (args.length === 1) return { args: [type], result };
  return args.length === 2 && (digits?.kind === "int" || digits?.kind === "null") ? { args: [type, INT64], result } : undefined;
}

/** The value at `digits` after the point; before it when negative. @throws DbError EngineExecuteQuery for too many digits */
export function roundedDecimal(how: DecimalRounding, value: Integer, { scale }: DecimalType, digits: number, result: DecimalType): Integer {
  if (digits >= scale) return value;
  const dropped = scale - digits;
  if (dropped > 2 * DECIMAL_DIGITS_MAX) return 0; // More digits than any value has.
  const unit = powerOfTen(dropped);
  return checkedDecimal(quotient(how, BigInt(value), unit) * unit, result);
}

function quotient(how: DecimalRounding, value: bigint, unit: bigint): bigint {
  if (how === "round") return dividedRounding(value, unit);
  const towardsZero = value / unit;
  if (how === "trunc" || value % unit === 0n) return towardsZero;
  if (how === "floor") return value < 0n ? towardsZero - 1n : towardsZero;
  return value < 0n ? towardsZero : towardsZero + 1n;
}
