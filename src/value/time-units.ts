/** Conversions between time units on exact integers. */
import type { TimeUnit } from "../column/data-type.ts";
import { UNITS_PER_SECOND } from "../column/data-type.ts";
import { floorDivide } from "./civil.ts";

/** Nanoseconds of one unit. */
export const NANOS_PER_UNIT: Readonly<Record<TimeUnit, bigint>> = {
  second: 1_000_000_000n,
  millisecond: 1_000_000n,
  microsecond: 1000n,
  nanosecond: 1n,
};

/** `value` counted in `to`; towards minus infinity when `to` is coarser. May leave the 64-bit range. */
export function rescale(value: bigint, from: TimeUnit, to: TimeUnit): bigint {
  if (from === to) return value;
  const source = NANOS_PER_UNIT[from];
  const target = NANOS_PER_UNIT[to];
  return source > target ? value * (source / target) : floorDivide(value, target / source);
}

/** The finer of two units. */
export function finerUnit(a: TimeUnit, b: TimeUnit): TimeUnit {
  return UNITS_PER_SECOND[a] >= UNITS_PER_SECOND[b] ? a : b;
}
