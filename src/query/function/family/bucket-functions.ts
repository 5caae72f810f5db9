/** Functions that put values into buckets besides `date_trunc` and `date_bin`: `time_bucket` of DuckDB and TimescaleDB, `width_bucket`. */
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { parseTimeZone } from "../../../base/text/time-zone.ts";
import { type DataType, FLOAT64, INT32, INT64, INTERVAL, STRING, TIMESTAMP_NANOSECOND, type TimeUnit } from "../../../column/data-type.ts";
import type { IntervalValue } from "../../sql/syntax/ast.ts";
import { type FunctionCall, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isString } from "../signature/signature.ts";
import { binned } from "./time-functions.ts";
import { addInterval } from "../time/interval.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";
import { rescale } from "../../../value/time-units.ts";
import { isInterval, type Present, textOf } from "../value/value.ts";
import { zoneOf } from "./zone-functions.ts";

/** 2000-01-03, a Monday, so that weeks begin on Mondays. */
const MONDAY_NANOS = 946_857_600_000_000_000n;
/** 2000-01-01, so that months, quarters, years and centuries begin where the calendar has it. */
const CENTURY_NANOS = 946_684_800_000_000_000n;

/** Where buckets of `time_bucket` begin that nobody says more of, nanoseconds. */
export function timeBucketOrigin({ months }: IntervalValue): bigint {
  return months === 0 ? MONDAY_NANOS : CENTURY_NANOS;
}

const isMoment = (type: DataType | undefined): boolean => type?.kind === "timestamp" || type?.kind === "date";

/** (width, time[, origin | offset | zone[, origin]]); dates and texts become timestamps. */
const bucketType: ScalarFunction["resolve"] = ([width, time, place, origin, ...rest]) => {
  if (rest.length > 0 || time === undefined || !(width?.kind === "interval" || isString(width))) return undefined;
  if (!isMoment(time) && !isString(time)) return undefined;
  const type = time.kind === "timestamp" ? time : TIMESTAMP_NANOSECOND;
  if (place === undefined) return { args: [INTERVAL, type], result: type };
  if (origin !== undefined) {
    if (!isString(place) || !(isMoment(origin) || isString(origin))) return undefined;
    return { args: [INTERVAL, type, STRING, TIMESTAMP_NANOSECOND], result: type };
  }
  if (place.kind === "interval") return { args: [INTERVAL, type, INTERVAL], result: type };
  if (isMoment(place)) return { args: [INTERVAL, type, TIMESTAMP_NANOSECOND], result: type };
  return isString(place) ? { args: [INTERVAL, type, STRING], result: type } : undefined;
};

function timeBucket([width, time = 0, place, origin]: readonly Present[], { type }: FunctionCall): bigint {
  if (width === undefined || !isInterval(width)) throw new Error("the planner casts a width to an interval");
  const unit: TimeUnit = type.result.kind === "timestamp" ? type.result.unit : "nanosecond";
  const nanos = rescale(BigInt(time as bigint), unit, "nanosecond");
  return rescale(startOf(width, nanos, place, origin), "nanosecond", unit);
}

function startOf(width: IntervalValue, nanos: bigint, place: Present | undefined, origin: Present | undefined): bigint {
  const first = timeBucketOrigin(width);
  if (place === undefined) return binned(width, nanos, first, undefined);
  if (isInterval(place)) {
    const moved = addInterval(nanos, "nanosecond", place, -1);
    return addInterval(binned(width, moved, first, undefined), "nanosecond", place, 1);
  }
  if (typeof place !== "string") return binned(width, nanos, BigInt(place as bigint), undefined);
  if (origin !== undefined) return binned(width, nanos, BigInt(origin as bigint), zoneOf(place));
  const zone = parseTimeZone(place);
  if (zone !== undefined) return binned(width, nanos, first, zone);
  const moment = parseTimestamp(place, "UTC");
  if (moment !== undefined) return binned(width, nanos, moment, undefined);
  throw invalidArguments(`time_bucket: '${textOf(place).slice(0, 80)}' is neither a time zone nor a time; an offset is an INTERVAL`);
}

const widthType: ScalarFunction["resolve"] = (args) => {
  const [, , , count] = args;
  const good = args.length === 4 && args.every((type) => ["int", "float", "decimal", "null"].includes(type.kind));
  return good && count?.kind !== "float" && count?.kind !== "decimal"
    ? { args: [FLOAT64, FLOAT64, FLOAT64, INT64], result: INT32 }
    : undefined;
};

/** The number of the bucket among `count` of equal width from `low` to `high`: 0 before the first, `count` + 1 behind the last. */
function widthBucket(value: number, low: number, high: number, count: number): number {
  const fail = (why: string): DbError => new DbError(StatusCode.EngineExecuteQuery, `cannot find the bucket of ${value}: ${why}`);
  if (!(count > 0 && count < 2 ** 31 - 1)) throw fail(`the count must be 1 to ${2 ** 31 - 2}, it is ${count}`);
  if (!Number.isFinite(low) || !Number.isFinite(high)) throw fail("the bounds must be finite");
  if (low === high) throw fail("the bounds must differ");
  if (Number.isNaN(value)) throw fail("it is no number");
  if (low < high ? value < low : value > low) return 0;
  if (low < high ? value >= high : value <= high) return count + 1;
  return Math.min(Math.floor(((value - low) / (high - low)) * count), count - 1) + 1;
}

/** The functions of this file. */
export const BUCKET_FUNCTIONS: readonly ScalarFunction[] = [
  strict("time_bucket(width, time[, origin | offset | zone[, origin]])", bucketType, timeBucket),
  strict("width_bucket(number, low, high, count)", widthType, ([value, low, high, count]) =>
    widthBucket(Number(value), Number(low), Number(high), Number(count)),
  ),
];
