/** Recognises expressions that put the time index into buckets. */
import { timeBucketOrigin } from "../function/family/bucket-functions.ts";
import { truncBucketsOf } from "../function/family/time-functions.ts";
import { binBuckets, type TimeBuckets } from "../function/time/buckets.ts";
import { isInterval, textOf } from "../function/value/value.ts";
import type { TypedExpression } from "./expression.ts";

/** The buckets of `date_trunc('…', time)` , `date_bin(INTERVAL '…', time[, origin])` or `time_bucket` over column `timeIndex`. */
export function bucketOf(expression: TypedExpression, timeIndex: number): TimeBuckets | undefined {
  if (expression.kind !== "call" || expression.type.kind !== "timestamp") return undefined;
  const [first, time, origin, zone] = expression.args;
  if (time?.kind !== "column" || time.index !== timeIndex || time.type.kind !== "timestamp" || time.type.unit !== expression.type.unit)
    return undefined;
  if (first?.kind !== "literal" || first.value === undefined) return undefined;
  const { name } = expression.function;
  if (zone !== undefined) return undefined;
  if (name === "date_trunc" || name === "datetrunc")
    return origin !== undefined ? undefined : truncBucketsOf(textOf(first.value), time.type.unit);
  if ((name !== "date_bin" && name !== "time_bucket") || !isInterval(first.value)) return undefined;
  if (origin === undefined) return binBuckets(first.value, time.type.unit, name === "date_bin" ? 0n : timeBucketOrigin(first.value));
  return origin.kind === "literal" && typeof origin.value === "bigint" ? binBuckets(first.value, time.type.unit, origin.value) : undefined;
}
