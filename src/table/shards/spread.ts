/**
 * Over how many shards the rows of a table lie: the option `spread`, which may change for times that no row has yet. So the rows of one
 * series and time always lie in one shard, and the newest of them can be told there.
 *
 *   times   ────────────────┬───────────────┬──────────►
 *   spread        4         │ from t1: 8    │ from t2: 6
 */
import { invalidArguments } from "../../base/error.ts";
import { TABLE_SPREAD_CHANGES_MAX, TABLE_SPREAD_MAX } from "../../base/limits.ts";
import { UNITS_PER_SECOND } from "../../column/data-type.ts";
import type { TimeRange } from "../scan.ts";
import { type SpreadSpan, type TableSchema, timeIndexOf } from "../schema.ts";

/** The option of CREATE TABLE and ALTER TABLE. */
export const SPREAD_OPTION = "spread";

/** Of a table that does not say. Never changed: rows of such tables would be looked for elsewhere. */
const SPREAD_DEFAULT = 4;

/**
 * How far ahead a change of spread begins. Reason: until then every machine has heard of it, and clients whose clocks run ahead write
 * times before it.
 */
const SPREAD_DELAY_NANOS = 3_600_000_000_000n;

type Spread = Pick<TableSchema, "options" | "partitions" | "spreads">;

/** What the option's text says. @throws DbError InvalidArguments unless it is a whole number of 1 to 1,024 */
export function parseSpread(text: string): number {
  const spread = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (spread >= 1 && spread <= TABLE_SPREAD_MAX) return spread;
  throw invalidArguments(`Invalid table option, ${SPREAD_OPTION} must be a whole number from 1 to ${TABLE_SPREAD_MAX}, got ${text}`);
}

/** Over how many shards rows lie for which times, oldest first, the first span without `from`. With partitions, a shard for each. */
export function spreadsOf({ options, partitions, spreads }: Spread): readonly SpreadSpan[] {
  if (partitions !== undefined) return [{ spread: Math.max(1, partitions.rules.length) }];
  if (spreads !== undefined) return spreads;
  const text = options[SPREAD_OPTION];
  return [{ spread: text === undefined ? SPREAD_DEFAULT : parseSpread(text) }];
}

/**
 * The spans after a change from `from` on. Spans that would begin then or later are left out: no row has such a time.
 *
 * @throws DbError InvalidArguments after too many changes
 */
export function changedSpreads(schema: Spread, spread: number | undefined, from: bigint): readonly SpreadSpan[] {
  const spans = spreadsOf(schema);
  const newest = spans.at(-1);
  const wanted = spread ?? SPREAD_DEFAULT;
  if (newest === undefined || newest.spread === wanted) return spans;
  const kept = spans.filter((span) => span.from === undefined || span.from < from);
  if (kept.at(-1)?.spread === wanted) return kept;
  if (kept.length > TABLE_SPREAD_CHANGES_MAX) {
    throw invalidArguments(`cannot change ${SPREAD_OPTION}: it changed ${TABLE_SPREAD_CHANGES_MAX} times; copy the rows into a new table`);
  }
  return [...kept, { from, spread: wanted }];
}

/**
 * From which time on a change holds that is made now, in the unit of the time index: an hour behind now and all rows, since rows are on
 * their way whose writers have not heard of it.
 *
 * @param times of the table's rows
 */
export function spreadChangeTime(schema: Pick<TableSchema, "columns" | "name">, nowNanos: bigint, times: TimeRange | undefined): bigint {
  const { type } = timeIndexOf(schema);
  const nanosPerUnit = BigInt(UNITS_PER_SECOND.nanosecond / UNITS_PER_SECOND[type.kind === "timestamp" ? type.unit : "nanosecond"]);
  const now = nowNanos / nanosPerUnit;
  return (times !== undefined && times.end > now ? times.end : now) + SPREAD_DELAY_NANOS / nanosPerUnit + 1n;
}
