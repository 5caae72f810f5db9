/** Milliseconds of PromQL ↔ times of a table, in any unit. */
import { UNITS_PER_SECOND, type TimeUnit } from "../../../column/data-type.ts";
import type { TimeVector } from "../../../column/vector.ts";
import { ALL_TIME, type TimeRange } from "../../../table/scan.ts";
import { floorDivide } from "../../../value/civil.ts";

/** Beyond it lies no time of any table: 2^63 s are 2^63 * 1000 ms. */
const MILLIS_MAX: number = 2 ** 74;

/** The times whose millisecond lies in `[firstMillis, lastMillis]`, clamped to 64 bits; empty when there are none. */
export function rangeOfMillis(firstMillis: number, lastMillis: number, unit: TimeUnit): TimeRange {
  const first = wholeMillis(Math.ceil(firstMillis));
  const behind = wholeMillis(Math.floor(lastMillis)) + 1n;
  const units = BigInt(UNITS_PER_SECOND[unit]);
  // Of seconds those count that fall on a millisecond of the range: the division rounds up at both ends.
  const scaled = (millis: bigint): bigint => (units < 1000n ? -floorDivide(-millis, 1000n) : millis * (units / 1000n));
  return { start: clamped(scaled(first)), end: clamped(scaled(behind)) };
}

function wholeMillis(millis: number): bigint {
  return BigInt(Number.isNaN(millis) ? 0 : Math.max(-MILLIS_MAX, Math.min(MILLIS_MAX, millis)));
}

function clamped(time: bigint): bigint {
  if (time < ALL_TIME.start) return ALL_TIME.start;
  return time > ALL_TIME.end ? ALL_TIME.end : time;
}

/** Writes the milliseconds of rows `[start, end)` to `out` from `at` on, rounded down. */
export function copyMillis({ base, offsets }: TimeVector, unit: TimeUnit, start: number, end: number, out: Float64Array, at: number): void {
  const units = Number(UNITS_PER_SECOND[unit]);
  if (units <= 1000) {
    const factor = 1000 / units;
    const baseMillis = Number(base) * factor;
    for (let row = start; row < end; row++) out[at++] = baseMillis + (offsets[row] as number) * factor;
    return;
  }
  const perMilli = units / 1000;
  const whole = floorDivide(base, BigInt(perMilli));
  const baseMillis = Number(whole);
  const rest = Number(base - whole * BigInt(perMilli));
  for (let row = start; row < end; row++) out[at++] = baseMillis + Math.floor((rest + (offsets[row] as number)) / perMilli);
}
