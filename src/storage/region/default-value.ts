import type { Clock } from "../../base/clock.ts";
import { UNITS_PER_SECOND } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { ColumnDefault, ColumnSchema } from "../../table/schema.ts";

/** What rows hold that are older than a column; undefined is NULL. */
export function initialValueOf(column: ColumnSchema, clock: Clock): Scalar {
  return column.initial === undefined ? defaultValueOf(column, clock) : valueOf(column.initial, column, clock);
}

/** The value of a column in a row that gives none; undefined is NULL. `current_timestamp()` comes in the unit of the column. */
export function defaultValueOf(column: ColumnSchema, clock: Clock): Scalar {
  return column.default === undefined ? undefined : valueOf(column.default, column, clock);
}

function valueOf(chosen: ColumnDefault, column: ColumnSchema, clock: Clock): Scalar {
  if (chosen.kind === "literal") return chosen.value;
  const unit = column.type.kind === "timestamp" ? column.type.unit : "nanosecond";
  return clock.nowNanos() / BigInt(UNITS_PER_SECOND.nanosecond / UNITS_PER_SECOND[unit]);
}
