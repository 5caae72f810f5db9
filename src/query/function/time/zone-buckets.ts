/**
 * Buckets of the calendar of a zone: the days, weeks, months and years that a clock on the wall there shows, whatever is done to it.
 *
 *   moment ─► clock in the zone ─► start of its bucket ─► the moment when the clock shows that
 *
 * Below a day the clock is no guide, since it shows an hour twice in autumn: such buckets are spans of elapsed time.
 */
import { offsetSecondsAt, utcSecondsOf } from "../../../base/text/time-zone.ts";
import type { TimeUnit } from "../../../column/data-type.ts";
import type { IntervalValue } from "../../sql/syntax/ast.ts";
import { binBuckets, bucketIndexOf, bucketStartOf, type TimeBuckets } from "./buckets.ts";
import { floorDivide, floorModulo } from "../../../value/civil.ts";
import { NANOS_PER_UNIT } from "../../../value/time-units.ts";
import { NANOS_PER_DAY } from "../value/value.ts";

/** What a clock in a zone shows at a moment, as a time in the same unit. */
export function localTimeOf(time: bigint, unit: TimeUnit, zone: string): bigint {
  const perSecond = NANOS_PER_UNIT.second / NANOS_PER_UNIT[unit];
  return time + BigInt(offsetSecondsAt(zone, Number(floorDivide(time, perSecond)))) * perSecond;
}

/** The moment at which a clock in a zone shows a time: in an overlap the earlier one, in a gap the one after the change. */
export function momentOf(local: bigint, unit: TimeUnit, zone: string): bigint {
  const perSecond = NANOS_PER_UNIT.second / NANOS_PER_UNIT[unit];
  return BigInt(utcSecondsOf(zone, Number(floorDivide(local, perSecond)))) * perSecond + floorModulo(local, perSecond);
}

/** Whether buckets are counted in days or more. */
function isOfDays(buckets: TimeBuckets): boolean {
  return buckets.kind === "months" || buckets.width * NANOS_PER_UNIT[buckets.unit] >= NANOS_PER_DAY;
}

/** `date_trunc` in a zone: the start of the day, hour, … that its clock shows. */
export function truncatedInZone(buckets: TimeBuckets, time: bigint, zone: string): bigint {
  const { unit } = buckets;
  const local = localTimeOf(time, unit, zone);
  const start = bucketStartOf(buckets, bucketIndexOf(buckets, local));
  return isOfDays(buckets) ? momentOf(start, unit, zone) : start - (local - time);
}

/**
 * `date_bin` and `time_bucket` in a zone, in nanoseconds. Strides of whole days or months follow the zone's clock, others are of elapsed
 * time. Undefined for a stride that is none (`binBuckets`).
 *
 * @param origin what the clock shows where bucket 0 begins
 */
export function binnedInZone(stride: IntervalValue, nanos: bigint, origin: bigint, zone: string): bigint | undefined {
  const isElapsed = stride.nanos !== 0n;
  const buckets = binBuckets(stride, "nanosecond", isElapsed ? momentOf(origin, "nanosecond", zone) : origin);
  if (buckets === undefined) return undefined;
  if (isElapsed) return bucketStartOf(buckets, bucketIndexOf(buckets, nanos));
  const local = localTimeOf(nanos, "nanosecond", zone);
  return momentOf(bucketStartOf(buckets, bucketIndexOf(buckets, local)), "nanosecond", zone);
}
