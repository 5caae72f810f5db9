/** When a scan of a region is worth several threads, told before any file is opened. */
import type { Region } from "../storage/region/region.ts";
import type { ScanRequest, TimeRange } from "../table/scan.ts";

/**
 * Rows that a scan may meet: all that lie in its time range, if times are spread evenly, less those of series that its tag predicates
 * leave out, if series have values of tags evenly.
 */
export function rowsWithin(region: Region, { start, end }: TimeRange, predicates: ScanRequest["tagPredicates"]): number {
  let rows = 0;
  let inFiles = 0;
  for (const { rowCount, minTime, maxTime } of region.dataFiles) {
    inFiles += rowCount;
    if (maxTime < start || minTime >= end) continue;
    if (minTime >= start && maxTime < end) rows += rowCount;
    else rows += (rowCount * Number((maxTime < end ? maxTime : end) - (minTime > start ? minTime : start))) / Number(maxTime - minTime);
  }
  if (region.memorySpans.some(({ min, max }) => max >= start && min < end)) rows += region.rowCount - inFiles;
  let share = 1;
  for (const predicate of predicates) {
    if (predicate.kind !== "in") continue;
    const position = region.registry.positionOfName(predicate.column);
    share *= Math.min(1, predicate.values.length / Math.max(1, region.registry.textsAt(position).size - 1));
  }
  return rows * share;
}

/** Whether figures of whole pages answer most of a scan: pages end neither with a series nor with a stretch of time. */
export function isMostlyFigures({ summaries }: ScanRequest): boolean {
  return summaries !== undefined && !summaries.isPerSeries && summaries.buckets === undefined;
}
