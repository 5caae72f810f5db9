/**
 * Values as the interpreter sees them, and their one total order: the same for ORDER BY, MIN/MAX, comparisons and group keys.
 */
import { compareCodePoints } from "../../../column/code-points.ts";
import type { IntervalValue } from "../../sql/syntax/ast.ts";
import { isInterval, type Present, type Value } from "../../../value/any-value.ts";

export { exactInteger } from "../../../column/exact-integer.ts";
export { isInterval, type Present, textOf, type Value } from "../../../value/any-value.ts";

/** Nanoseconds in a day, without daylight saving. */
export const NANOS_PER_DAY = 86_400_000_000_000n;

/** Length of an interval for comparison, in nanoseconds: a month counts 30 days, a day 24 hours. */
export function intervalNanos(value: IntervalValue): bigint {
  return (BigInt(value.months) * 30n + BigInt(value.days)) * NANOS_PER_DAY + value.nanos;
}

/**
 * Order of two values of one type: negative, 0 or positive. Floats follow a total order in which NaN equals NaN and is
 * greater than everything; text compares by code point; false is below true.
 */
export function compareValues(a: Present, b: Present): number {
  if (typeof a === "string" && typeof b === "string") return compareCodePoints(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (isInterval(a) && isInterval(b)) return compareOrdered(intervalNanos(a), intervalNanos(b));
  return compareOrdered(Number.isNaN(a) ? Number.NaN : a, b);
}

function compareOrdered(a: unknown, b: unknown): number {
  const x = a as number | bigint; // mixed number and bigint compare by value
  const y = b as number | bigint;
  if (x < y) return -1;
  if (x > y) return 1;
  return (Number.isNaN(x) ? 1 : 0) - (Number.isNaN(y) ? 1 : 0);
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** A text that is equal for two values of one type exactly when they are the same group: NULL is a group, NaN is one value, -0 is 0. */
export function valueKey(value: Value): string {
  switch (typeof value) {
    case "undefined":
      return "n";
    case "number":
      return `d${value + 0}`;
    case "bigint":
      return `d${value}`;
    case "boolean":
      return value ? "t" : "f";
    case "string":
      return `s${value.length}:${value}`;
    default:
      return value instanceof Uint8Array ? `b${value.length}:${value.toHex()}` : `i${intervalNanos(value)}`;
  }
}
