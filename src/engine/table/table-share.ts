/** When a scan of a region is worth several threads, told before any file is opened. */
import type { Region } from "../../storage/region/region.ts";
import type { SeriesTags } from "../../storage/series/series-tags.ts";
import type { ScanRequest, TimeRange } from "../../table/scan.ts";

/** Rows of a region in a range of times, if times are spread evenly. */
export function rowsWithin(region: Region, { start, end }: TimeRange): number {
  let rows = 0;
  let inFiles = 0;
  for (const { rowCount, minTime, maxTime } of region.dataFiles) {
    inFiles += rowCount;
    if (maxTime < start || minTime >= end) continue;
    if (minTime >= start && maxTime < end) rows += rowCount;
    else rows += (rowCount * Number((maxTime < end ? maxTime : end) - (minTime > start ? minTime : start))) / Number(maxTime - minTime);
  }
  if (region.memorySpans.some(({ min, max }) => max >= start && min < end)) rows += region.rowCount - inFiles;
  return rows;
}

/** The part of a table's series that tag predicates leave, if those that it has share its values evenly. @param registry the table's */
export function shareMeeting(registry: SeriesTags, predicates: ScanRequest["tagPredicates"]): number {
  let share = 1;
  for (const predicate of predicates) {
    if (predicate.kind !== "in") continue;
    const position = registry.positionOfName(predicate.column);
    const known = predicate.values.reduce((count, value) => count + (registry.findCode(position, value) < 0 ? 0 : 1), 0);
    share *= Math.min(1, known / Math.max(1, registry.textsAt(position).size - 1));
  }
  return share;
}

/** Whether a request can be met in parts, and is worth it if it meets many rows. */
export function isShareable(request: ScanRequest): boolean {
  return request.limit === undefined && request.newestPerSeries !== true && !isMostlyStatistics(request);
}

/** Whether statistics of whole pages answer most of a scan: pages end neither with a series nor with a range of time. */
function isMostlyStatistics({ summaries }: ScanRequest): boolean {
  return summaries !== undefined && !summaries.isPerSeries && summaries.buckets === undefined;
}
