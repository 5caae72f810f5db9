import type { Clock } from "../../base/clock.ts";
import { UNITS_PER_SECOND } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { ColumnSchema } from "../../table/schema.ts";

/** The value of a column in a row that gives none; undefined is NULL. `current_timestamp()` comes in the unit of the column. */
export function defaultValueOf(column: ColumnSchema, clock: Clock): Scalar {
  if (column.default === undefined) return undefined;
  if (column.default.kind === "literal") return column.default.value;
  const unit = column.type.kind === "timestamp" ? column.type.unit : "nanosecond";
  return clock.nowNanos() / BigInt(UNITS_PER_SECOND.nanosecond / UNITS_PER_SECOND[unit]);
}
