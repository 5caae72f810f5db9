/**
 * Buckets of a time axis: what `date_trunc` and `date_bin` map times to.
 *
 * A bucket is an index; `fixed` buckets are `[origin + i * width, origin + (i + 1) * width)`, `months` buckets begin `i * months`
 * calendar months after the origin. Loops count buckets relative to the one of their batch's base and need no bigint a row.
 */
import type { TimeUnit } from "../../../column/data-type.ts";
import type { IntervalValue } from "../../sql/syntax/ast.ts";
import { NANOS_PER_DAY } from "../value/value.ts";
import { civilFromDays, floorDivide } from "../../../value/civil.ts";
import { addInterval } from "./interval.ts";
import { NANOS_PER_UNIT, rescale } from "../../../value/time-units.ts";

/** Buckets of one width. */
export interface FixedBuckets {
  readonly kind: "fixed";
  readonly unit: TimeUnit;
  readonly width: bigint;
  readonly origin: bigint;
}

/** Buckets over times of one unit. `width` and `origin` are in that unit. */
export type TimeBuckets =
  | FixedBuckets
  | { readonly kind: "months"; readonly unit: TimeUnit; readonly months: number; readonly origin: bigint };

/** Nanoseconds of units of a fixed length. */
export const PRECISION_NANOS: Readonly<Record<string, bigint>> = {
  nanosecond: 1n,
  microsecond: 1000n,
  millisecond: 1_000_000n,
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
  day: NANOS_PER_DAY,
  week: 7n * NANOS_PER_DAY,
};
const PRECISION_MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12, decade: 120, century: 1200 };
/** A Monday, since weeks begin on Monday. */
const MONDAY_NANOS = -3n * NANOS_PER_DAY;

/** The precisions of `date_trunc`, coarsest last. */
export const TRUNC_PRECISIONS: readonly string[] = [...Object.keys(PRECISION_NANOS), ...Object.keys(PRECISION_MONTHS)];

/** Buckets of `date_trunc(precision, …)`, or undefined when there is no such precision. Plural names are not precisions. */
export function truncBuckets(precision: string, unit: TimeUnit): TimeBuckets | undefined {
  const months = PRECISION_MONTHS[precision];
  if (months !== undefined) return { kind: "months", unit, months, origin: 0n };
  const nanos = PRECISION_NANOS[precision];
  if (nanos === undefined) return undefined;
  const width = nanos > NANOS_PER_UNIT[unit] ? nanos / NANOS_PER_UNIT[unit] : 1n;
  const origin = precision === "week" ? MONDAY_NANOS / NANOS_PER_UNIT[unit] : 0n;
  return { kind: "fixed", unit, width, origin };
}

/**
 * Buckets of `date_bin(stride, …, origin)`, or undefined when the stride is no whole number of `unit`s, not positive, or mixes
 * months with days.
 *
 * @param originNanos start of bucket 0
 */
export function binBuckets(stride: IntervalValue, unit: TimeUnit, originNanos: bigint): TimeBuckets | undefined {
  const nanos = BigInt(stride.days) * NANOS_PER_DAY + stride.nanos;
  const origin = rescale(originNanos, "nanosecond", unit);
  if (origin * NANOS_PER_UNIT[unit] !== originNanos) return undefined;
  if (stride.months !== 0) {
    if (nanos !== 0n || stride.months < 0) return undefined;
    return { kind: "months", unit, months: stride.months, origin };
  }
  if (nanos <= 0n || nanos % NANOS_PER_UNIT[unit] !== 0n) return undefined;
  return { kind: "fixed", unit, width: nanos / NANOS_PER_UNIT[unit], origin };
}

/** Index of the bucket that holds `time`. */
export function bucketIndexOf(buckets: TimeBuckets, time: bigint): bigint {
  if (buckets.kind === "fixed") return floorDivide(time - buckets.origin, buckets.width);
  const guess = floorDivide(BigInt(monthOf(buckets.unit, time) - monthOf(buckets.unit, buckets.origin)), BigInt(buckets.months));
  // The origin may lie within a month, so the start of the guessed bucket can be after `time`.
  return bucketStartOf(buckets, guess) > time ? guess - 1n : guess;
}

/** First time of a bucket. */
export function bucketStartOf(buckets: TimeBuckets, index: bigint): bigint {
  if (buckets.kind === "fixed") return buckets.origin + index * buckets.width;
  return addInterval(buckets.origin, buckets.unit, { months: Number(index) * buckets.months, days: 0, nanos: 0n }, 1);
}

function monthOf(unit: TimeUnit, time: bigint): number {
  const days = Number(floorDivide(time, NANOS_PER_DAY / NANOS_PER_UNIT[unit]));
  const { year, month } = civilFromDays(days);
  return year * 12 + month - 1;
}
