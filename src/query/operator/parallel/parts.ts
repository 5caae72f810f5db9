/** Parts of scans, and how many groups their rows may have. */
import { assert } from "../../../base/assert.ts";
import type { ScanPart } from "../../../table/shared-scan.ts";

/** Some parts that follow each other as one, or, where a table lies in several shards, as one a shard. */
export function wholeOf(parts: readonly ScanPart[]): readonly ScanPart[] {
  assert(parts.length > 0, "there are parts");
  const whole: ScanPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last === undefined || last.shard !== part.shard) whole.push(part);
    else whole[whole.length - 1] = together(last, part);
  }
  return whole;
}

function together(a: ScanPart, b: ScanPart): ScanPart {
  const { start, end } = b.timeRange;
  return {
    ...a,
    slots: { start: Math.min(a.slots.start, b.slots.start), end: Math.max(a.slots.end, b.slots.end) },
    timeRange: { start: start < a.timeRange.start ? start : a.timeRange.start, end: end > a.timeRange.end ? end : a.timeRange.end },
    rowCount: a.rowCount + b.rowCount,
  };
}

/** Halvings of the range in which the number of values is looked for. */
const STEPS = 50;
/** How much faster than values that come as often as each other groups must grow to be taken for some that are frequent among many rare. */
const GROWTH_MORE = 1.1;

/** Groups of the first rows. */
export interface SeenGroups {
  readonly groups: number;
  readonly rows: number;
}

/**
 * How many groups `all` rows will have whose first rows have `now`, and fewer of them `before`.
 *
 * Of G values that come as often as each other n rows have G * (1 - e^(-n / G)). Where groups grow faster than that from `before` to `now`,
 * some values are frequent and many are rare, and they go on growing by the same power of rows.
 */
export function groupsToCome(now: SeenGroups, before: SeenGroups | undefined, all: number): number {
  const { groups, rows } = now;
  const seen = (values: number, count: number): number => -values * Math.expm1(-count / values);
  if (groups >= rows) return all;
  let [low, high] = [Math.log(Math.max(1, groups)), Math.log(1e12)];
  for (let i = 0; i < STEPS; i++) {
    const middle = (low + high) / 2;
    if (seen(Math.exp(middle), rows) < groups) low = middle;
    else high = middle;
  }
  const values = Math.exp(high);
  const even = seen(values, all);
  if (before === undefined || before.groups < 1 || before.rows >= rows) return even;
  const power = Math.log(groups / before.groups) / Math.log(rows / before.rows);
  const evenPower = Math.log(groups / seen(values, before.rows)) / Math.log(rows / before.rows);
  return power > evenPower * GROWTH_MORE ? Math.min(all, groups * (all / rows) ** power) : even;
}
