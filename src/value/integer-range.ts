/** What whole numbers the types of integers hold. */
import type { DataType } from "../column/data-type.ts";
import { exactInteger } from "../column/exact-integer.ts";

/** An integer type. */
export type IntegerType = Extract<DataType, { kind: "int" }>;

/** Smallest and largest value of an integer type. */
export function boundsOf({ bits, signed }: IntegerType): { readonly min: bigint; readonly max: bigint } {
  const width = BigInt(bits);
  if (!signed) return { min: 0n, max: 2n ** width - 1n };
  return { min: -(2n ** (width - 1n)), max: 2n ** (width - 1n) - 1n };
}

/** Whether an exact integer fits its type. */
export function fits(value: number | bigint, type: IntegerType): boolean {
  if (typeof value === "number") {
    const { bits, signed } = type;
    if (!signed) return value >= 0 && (bits === 64 || value < 2 ** bits);
    return bits === 64 || (value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1));
  }
  const { min, max } = boundsOf(type);
  return value >= min && value <= max;
}

/** Whether an exact integer has 64 bits, signed. */
export function fitsInt64(value: number | bigint): boolean {
  return typeof value === "number" || value === BigInt.asIntN(64, value);
}

/** The whole number that a float cut towards zero is: a number within ±2^53, a bigint beyond; undefined for NaN and infinities. */
export function wholeOfFloat(value: number): number | bigint | undefined {
  if (!Number.isFinite(value)) return undefined;
  const whole = Math.trunc(value) + 0; // -0 is 0
  return Number.isSafeInteger(whole) ? whole : exactInteger(BigInt(whole));
}
