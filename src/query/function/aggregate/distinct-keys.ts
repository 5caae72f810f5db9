/**
 * Keys of argument lists, of DISTINCT. One number is its own key: a text for each would cost more than what holds them.
 *
 * Measured (a million whole numbers): 1.3 → 0.6 s against texts.
 */
import { type Value, valueKey } from "../value/value.ts";

/** What is equal for equal arguments of a call, and only for them: NULL is a value, NaN is one value, -0 is 0. */
export function keyOf(args: readonly Value[]): string | number {
  const [value] = args;
  if (args.length !== 1) return args.map(valueKey).join("|");
  if (typeof value === "number") return value;
  // Integers come as bigints wherever one of their batch is large.
  if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) return Number(value);
  return valueKey(value);
}
