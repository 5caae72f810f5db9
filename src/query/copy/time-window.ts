/** START_TIME and END_TIME: `[start, end)` of a time index. */
import { invalidArguments } from "../../base/error.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import { ALL_TIME, type TimeRange } from "../../table/scan.ts";
import { parseTimestamp } from "../../value/parse-time.ts";
import { NANOS_PER_UNIT } from "../../value/time-units.ts";
import type { CopyOptions } from "./copy-options.ts";

/**
 * The range that options name, in a unit.
 *
 * @param zone of text that names none
 * @throws DbError InvalidArguments
 */
export function timeWindow({ startTime, endTime }: CopyOptions, unit: TimeUnit, zone: string): TimeRange {
  return {
    start: boundOf("start_time", startTime, unit, zone) ?? ALL_TIME.start,
    end: boundOf("end_time", endTime, unit, zone) ?? ALL_TIME.end,
  };
}

/** The first whole unit that is not before the time: exact for both ends of a half-open range. */
function boundOf(key: string, text: string | undefined, unit: TimeUnit, zone: string): bigint | undefined {
  if (text === undefined) return undefined;
  const nanos = parseTimestamp(text, zone);
  if (nanos === undefined) {
    const advice = "write it like 2024-01-31 12:00:00 or 2024-01-31T12:00:00Z";
    throw invalidArguments(`Invalid copy option, key: ${key}, value: ${text.slice(0, 80)}; ${advice}`);
  }
  const perUnit = NANOS_PER_UNIT[unit];
  const whole = nanos / perUnit;
  return nanos > 0n && whole * perUnit !== nanos ? whole + 1n : whole;
}
