/** One value of any type, apart from what holds it. */
import type { IntervalParts } from "../column/interval-bytes.ts";
import type { Scalar } from "../column/vector.ts";

/** A `Scalar`, or an interval, which vectors hold as bytes (`column/interval-bytes.ts`). NULL is `undefined`. */
export type Value = Scalar | IntervalParts;

/** A value that is not NULL. */
export type Present = Exclude<Value, undefined>;

/** Whether a value is an interval. */
export function isInterval(value: Value): value is IntervalParts {
  return typeof value === "object" && !(value instanceof Uint8Array);
}

/**
 * A value as plain text whatever its type is, for functions on text and for messages; NULL is empty, binary is hexadecimal. The text of a
 * value as one of its type is that of `toText`.
 */
export function textOf(value: Value): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  if (value instanceof Uint8Array) return value.toHex();
  return isInterval(value) ? `${value.months} months ${value.days} days ${value.nanos} ns` : String(value);
}
