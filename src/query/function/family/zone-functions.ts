/**
 * AT TIME ZONE. A timestamp has no zone of its own, so that it is read as a clock in that zone and becomes the moment at which that clock
 * shows it; a second AT TIME ZONE takes the moment and gives what a clock in the other zone shows then, as in PostgreSQL.
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, STRING, TIMESTAMP_NANOSECOND, type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { floorDivide } from "../../../value/civil.ts";
import { offsetSecondsAt, timeZoneNamed, utcSecondsOf } from "../../../base/text/time-zone.ts";
import { type Present, textOf } from "../value/value.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";

/** (time, zone): dates and texts become timestamps. */
const timeAndZone: ScalarFunction["resolve"] = ([time, zone, ...rest]) => {
  if (time === undefined || zone === undefined || rest.length > 0) return undefined;
  if (!["timestamp", "date", "string", "null"].includes(time.kind) || !["string", "null"].includes(zone.kind)) return undefined;
  const type: DataType = time.kind === "timestamp" ? time : TIMESTAMP_NANOSECOND;
  return { args: [type, STRING], result: type };
};

/** A time zone by its name or offset. @throws DbError InvalidArguments for what is none */
export function zoneOf(value: Present): string {
  return timeZoneNamed(textOf(value));
}

/** @param shift seconds to add at a time in seconds */
function shifted(name: string, shift: (zone: string, seconds: number) => number): ScalarFunction {
  return strict(`${name}(time, zone)`, timeAndZone, ([time, zone], call) => {
    const unit: TimeUnit = call.type.result.kind === "timestamp" ? call.type.result.unit : "nanosecond";
    const perSecond = BigInt(UNITS_PER_SECOND[unit]);
    const value = BigInt(time as bigint);
    const by = shift(zoneOf(zone ?? ""), Number(floorDivide(value, perSecond)));
    const result = value + BigInt(by) * perSecond;
    if (result >= INT64_MIN && result <= INT64_MAX) return result;
    throw new DbError(StatusCode.EngineExecuteQuery, `Arithmetic overflow: ${value} AT TIME ZONE is no 64-bit time`);
  });
}

/** What stands behind AT TIME ZONE. */
export const ZONE_FUNCTIONS: readonly ScalarFunction[] = [
  shifted("at_time_zone_op", (zone, seconds) => utcSecondsOf(zone, seconds) - seconds),
  shifted("in_time_zone_op", offsetSecondsAt),
];
