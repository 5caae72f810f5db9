/** Recognises expressions that put the time index into buckets. */
import { truncBucketsOf } from "../function/time-functions.ts";
import { binBuckets, type TimeBuckets } from "../function/time/buckets.ts";
import { isInterval, textOf } from "../function/value.ts";
import type { TypedExpression } from "./expression.ts";

/** The buckets of `date_trunc('…', time)` or `date_bin(INTERVAL '…', time[, origin])` over column `timeIndex`, or undefined. */
export function bucketOf(expression: TypedExpression, timeIndex: number): TimeBuckets | undefined {
  if (expression.kind !== "call" || expression.type.kind !== "timestamp") return undefined;
  const [first, time, origin] = expression.args;
  if (time?.kind !== "column" || time.index !== timeIndex || time.type.kind !== "timestamp" || time.type.unit !== expression.type.unit)
    return undefined;
  if (first?.kind !== "literal" || first.value === undefined) return undefined;
  const { name } = expression.function;
  if (name === "date_trunc" || name === "datetrunc") return truncBucketsOf(textOf(first.value), time.type.unit);
  if (name !== "date_bin" || !isInterval(first.value)) return undefined;
  if (origin === undefined) return binBuckets(first.value, time.type.unit, 0n);
  return origin.kind === "literal" && typeof origin.value === "bigint" ? binBuckets(first.value, time.type.unit, origin.value) : undefined;
}
