/**
 * The time windows that files are cut at, so that files of different windows never hold the same time.
 *
 * Windows nest: 1, 8 and 64 days. Rows of one flush go to 1-day windows; when that would make too many files, to wider ones. A
 * window of 64 days is below 2^53 ns, so offsets from its start are exact in a double, and everything a scan compares lies in one.
 */
import { assert } from "../../base/assert.ts";
import { type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import { floorTo } from "../../value/civil.ts";

const SECONDS_PER_DAY = 86_400;
/** Lengths of the windows, each within the next. */
export const WINDOW_DAYS: readonly number[] = [1, 8, 64];
/** Days of the widest window: scans work on one such group at a time. */
const GROUP_DAYS = 64;
/** Most files that one flush makes of narrow windows before it takes wider ones. */
const WINDOWS_PER_FLUSH_MAX = 32;

assert(GROUP_DAYS <= WINDOWS_PER_FLUSH_MAX * 8, "windows of 8 days are never too many for a group");
assert(GROUP_DAYS * SECONDS_PER_DAY * 1e9 < Number.MAX_SAFE_INTEGER, "offsets within a group are exact doubles");

/** Units of the widest window. */
export function groupLength(unit: TimeUnit): number {
  return GROUP_DAYS * SECONDS_PER_DAY * UNITS_PER_SECOND[unit];
}

/** Start of the widest window that holds `time`. */
export function groupStartOf(time: bigint, unit: TimeUnit): bigint {
  return floorTo(time, BigInt(groupLength(unit)));
}

/** Start of the window of `days`, one of `WINDOW_DAYS`, that holds `time`. */
export function windowStartOf(time: bigint, days: number, unit: TimeUnit): bigint {
  return floorTo(time, BigInt(days * SECONDS_PER_DAY * UNITS_PER_SECOND[unit]));
}

/** Length of the windows for a flush whose rows span `[min, max]`, all in one group. */
export function windowLengthFor(min: bigint, max: bigint, unit: TimeUnit): number {
  for (const days of WINDOW_DAYS) {
    const length = days * SECONDS_PER_DAY * UNITS_PER_SECOND[unit];
    if ((max - min) / BigInt(length) < BigInt(WINDOWS_PER_FLUSH_MAX)) return length;
  }
  return groupLength(unit);
}

/** Windows of the shortest length that hold the times of `[min, max]`, or more than any flush makes files. */
export function windowsBetween(min: bigint, max: bigint, unit: TimeUnit): number {
  const length = BigInt((WINDOW_DAYS[0] as number) * SECONDS_PER_DAY * UNITS_PER_SECOND[unit]);
  const windows = (floorTo(max, length) - floorTo(min, length)) / length + 1n;
  return Number(windows > BIGGEST ? BIGGEST : windows);
}

const BIGGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** Most files that a flush makes of one group: a window more than the limit, since rows need not begin at the start of one. */
export const FILES_PER_GROUP_MAX: number = WINDOWS_PER_FLUSH_MAX + 1;
