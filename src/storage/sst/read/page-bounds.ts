/** Whether the statistics of a page leave room for a condition. */
import type { Scalar } from "../../../column/vector.ts";
import { compareBytes } from "../../../format/parquet/page/statistics.ts";
import type { PageIndex } from "../../../format/parquet/types.ts";
import type { RowBound } from "../../../table/scan.ts";
import type { LeafCondition } from "../../index/index-lookup.ts";

/** Most values of an IN that are held against bounds, page by page. */
const VALUES_MAX = 64;

const encoder = new TextEncoder();

/** Whether a value of page `page` may meet the condition. */
export function boundsMayMeet(pages: PageIndex, page: number, condition: LeafCondition): boolean {
  const rows = pages.rowStarts[page + 1]! - pages.rowStarts[page]!;
  if (pages.nullCounts[page] === rows) return false; // A condition is never met by NULL.
  if (condition.kind === "text") return true;
  if (condition.kind === "range") return mayOverlap(pages, page, condition.min, condition.max);
  if (condition.values.length > VALUES_MAX) return true;
  return condition.values.some((value) => value !== undefined && mayOverlap(pages, page, value, value));
}

/** Whether a row of page `page` may lie within the bound. */
export function mayHoldWithin(pages: PageIndex, page: number, { min, max, nullsPass }: RowBound): boolean {
  const nulls = pages.nullCounts[page]!;
  if (nulls > 0 && nullsPass) return true;
  return nulls < pages.rowStarts[page + 1]! - pages.rowStarts[page]! && mayOverlap(pages, page, min, max);
}

/** Whether `[min, max]` and the bounds of the page may have a value in common; undefined is open. */
function mayOverlap(pages: PageIndex, page: number, min: Scalar, max: Scalar): boolean {
  const lowest = pages.mins?.[page];
  const highest = pages.maxs?.[page];
  if (lowest !== undefined && highest !== undefined) {
    return !(isAbove(numberOf(min), highest) || isBelow(numberOf(max), lowest));
  }
  const first = pages.byteMins?.[page];
  const last = pages.byteMaxs?.[page];
  if (first === undefined || last === undefined) return true;
  const low = bytesOf(min);
  const high = bytesOf(max);
  if (low !== undefined && compareBytes(low, 0, low.length, last, 0, last.length) > 0) return false;
  return high === undefined || compareBytes(high, 0, high.length, first, 0, first.length) >= 0;
}

/** A page with a NaN has the bound +Infinity, below which no NaN lies either. */
function isAbove(value: number | undefined, bound: number): boolean {
  return value !== undefined && (Number.isNaN(value) ? bound !== Number.POSITIVE_INFINITY : value > bound);
}

function isBelow(value: number | undefined, bound: number): boolean {
  return value !== undefined && value < bound;
}

/** Rounding keeps the order, and bounds are rounded outwards, so a value within them stays within them. */
function numberOf(value: Scalar): number | undefined {
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" ? Number(value) : undefined;
}

function bytesOf(value: Scalar): Uint8Array | undefined {
  return typeof value === "string" ? encoder.encode(value) : value instanceof Uint8Array ? value : undefined;
}
