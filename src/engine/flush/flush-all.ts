/** Brings all that is in memory to files, largest tables first. */
import type { Clock } from "../../base/clock.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { LiveTables } from "../catalog/live-tables.ts";
import type { FlushLimits } from "./flush-scheduler.ts";
import { takeGroup } from "./flush-groups.ts";
import type { Flusher } from "./flusher.ts";

/** What it works on. */
export interface FlushParts {
  readonly clock: Clock;
  readonly live: LiveTables;
  readonly limits: Pick<FlushLimits, "memtableBytes">;
  readonly flusher: Flusher;
}

/**
 * See the file header.
 *
 * @param millis for about so long
 * @returns how many tables are left
 * @throws DbError of the first flush that failed
 */
export async function flushAll({ clock, live, limits, flusher }: FlushParts, millis: number): Promise<number> {
  const deadline = clock.monotonicMillis() + millis;
  let regions = [...live.regions()].sort((a, b) => b.memoryBytes - a.memoryBytes);
  while (regions.length > 0) {
    const group = takeGroup(regions, limits.memtableBytes);
    const failures = await flusher.flushTogether(group);
    for (const failure of failures.values()) throw failure;
    failPoint("close.flushed");
    regions = regions.slice(group.length);
    if (clock.monotonicMillis() >= deadline) break;
  }
  return regions.length;
}
