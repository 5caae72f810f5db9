/** Ranges of time in plans. */
import type { TimeRange } from "../../../table/scan.ts";
import { timeUnit } from "../../expression/expression-shape.ts";
import type { FixedBuckets, TimeBuckets } from "../../function/time/buckets.ts";
import { bigint, kinds, oneOf, record, type Shape, whole } from "../../plan-format/shape.ts";

/** Ranges of times. */
export const timeRange: Shape<TimeRange> = record<TimeRange>({ start: bigint, end: bigint });

/** Buckets of a time axis. */
export const timeBuckets: Shape<TimeBuckets> = kinds<TimeBuckets>({
  fixed: { unit: timeUnit, width: bigint, origin: bigint },
  months: { unit: timeUnit, months: whole(1), origin: bigint },
});

/** Buckets of one width. */
export const fixedBuckets: Shape<FixedBuckets> = record<FixedBuckets>({
  kind: oneOf("fixed"),
  unit: timeUnit,
  width: bigint,
  origin: bigint,
});
