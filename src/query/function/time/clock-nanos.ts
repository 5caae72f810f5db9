/** Times as nanoseconds of a clock that knows no zone: what calendar functions count on. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DataType } from "../../../column/data-type.ts";
import { NANOS_PER_DAY, type Present } from "../value/value.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";
import { rescale } from "../../../value/time-units.ts";

/** Whether values of a type are moments: timestamps, dates, and texts that name one. */
export function isMomentType(type: DataType | undefined): boolean {
  return ["timestamp", "date", "string", "null"].includes(type?.kind ?? "");
}

/** Nanoseconds since 1970 of a timestamp, a date, or a text in UTC. @throws DbError EngineExecuteQuery for a text that is no time */
export function momentNanos(value: Present, type: DataType | undefined): bigint {
  if (typeof value === "string") {
    const nanos = parseTimestamp(value, "UTC");
    if (nanos !== undefined) return nanos;
    throw new DbError(StatusCode.EngineExecuteQuery, `cannot read '${value.slice(0, 80)}' as a time; write it like 2024-01-31 12:00:00`);
  }
  if (type?.kind === "date") return BigInt(value as number) * NANOS_PER_DAY;
  return rescale(BigInt(value as number | bigint), type?.kind === "timestamp" ? type.unit : "nanosecond", "nanosecond");
}
