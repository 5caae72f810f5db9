/** Which spreads hold for the times of a write, in the write's own unit. */
import { UNITS_PER_SECOND } from "../../column/data-type.ts";
import type { SpreadSpan } from "../schema.ts";
import type { TableWrite } from "../write-batch.ts";
import type { TablePlacement } from "./placement.ts";

/** Spans that times of a write lie in, oldest first. */
export interface WrittenSpreads {
  readonly spans: readonly SpreadSpan[];
  /** Where each begins, as the offset of a time; -Infinity for the first. */
  readonly starts: Float64Array;
}

/** The spans that the rows' times lie in; without looking at a row where the spread never changed. */
export function spreadsWithin({ spans, unit }: TablePlacement, { times, timeUnit, rowCount }: TableWrite): WrittenSpreads {
  if (spans.length === 1) return { spans, starts: new Float64Array(1).fill(Number.NEGATIVE_INFINITY) };
  const { offsets, base } = times;
  let min = offsets[0] as number;
  let max = min;
  for (let row = 1; row < rowCount; row++) {
    const offset = offsets[row] as number;
    if (offset < min) min = offset;
    if (offset > max) max = offset;
  }
  const all = spans.map(({ from }) => (from === undefined ? Number.NEGATIVE_INFINITY : Number(firstWritten(from, unit, timeUnit) - base)));
  // A time of the write is within 2^53 of its base, so that what became inexact here is beyond all of them still.
  let first = 0;
  while (first + 1 < all.length && (all[first + 1] as number) <= min) first++;
  let end = first + 1;
  while (end < all.length && (all[end] as number) <= max) end++;
  const starts = Float64Array.from(all.slice(first, end));
  starts[0] = Number.NEGATIVE_INFINITY;
  return { spans: spans.slice(first, end), starts };
}

/** The first time in the unit of a write that is `from` or later once it is counted, rounded down, in the unit of the table. */
function firstWritten(from: bigint, unit: TablePlacement["unit"], written: TableWrite["timeUnit"]): bigint {
  const [table, write] = [UNITS_PER_SECOND[unit], UNITS_PER_SECOND[written]];
  if (write >= table) return from * BigInt(write / table);
  const factor = BigInt(table / write);
  const quotient = from / factor;
  return quotient * factor < from ? quotient + 1n : quotient; // Up, also before 1970.
}
