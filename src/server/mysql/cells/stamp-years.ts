/** Years of timestamps: MySQL has 1000 to 9999, and what lies outside is an error (contract query.md 4.1). */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { offsetSecondsAt } from "../../../base/text/time-zone.ts";
import { type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { TimeVector, WideVector } from "../../../column/vector.ts";
import { formatTimestamp } from "../../../value/format-time.ts";
import { stampOutside } from "./kernels/write-binary.ts";

/** Seconds since 1970 of 1000-01-01 and 10000-01-01. */
const LEAST_SECONDS = -30_610_224_000;
const MOST_SECONDS = 253_402_300_800;

/** Checks rows `[from, from + rowCount)`. @throws DbError InvalidArguments for a year that cannot be shown */
export type YearCheck = (vector: TimeVector | WideVector, from: number, rowCount: number) => void;

/** The check of a column. @param zone whose clock is shown */
export function yearCheck(unit: TimeUnit, zone: string): YearCheck {
  const perSecond = BigInt(UNITS_PER_SECOND[unit]);
  const least = BigInt(LEAST_SECONDS - offsetSecondsAt(zone, LEAST_SECONDS)) * perSecond;
  const most = BigInt(MOST_SECONDS - offsetSecondsAt(zone, MOST_SECONDS)) * perSecond;
  return (vector, from, rowCount) => {
    const row = stampOutside(vector, from, rowCount, least, most);
    if (row < 0) return;
    const text = formatTimestamp(BigInt(scalarAt(vector, { kind: "timestamp", unit }, row) as bigint), unit);
    const instead = "cast it to STRING";
    throw new DbError(StatusCode.InvalidArguments, `cannot show ${text}: the MySQL protocol has years 1000 to 9999; ${instead}`);
  };
}
