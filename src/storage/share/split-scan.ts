/**
 * Cuts a scan into parts that need nothing of each other: rows of one series and time are always in one part. Parts are ranges of slots
 * with about as many rows each, so that groups by tags rarely meet in several parts; where a scan has few series and any order will do,
 * they are ranges of time.
 */
import type { ScanPart, ShareLimits } from "../../table/shared-scan.ts";
import type { TimeRange } from "../../table/scan.ts";
import type { MemtableView } from "../memtable/pick-rows.ts";
import { startOfRun } from "../sst/series/series-sections.ts";
import { SeriesSelection } from "../scan/select/series-selection.ts";
import type { OpenedFile, SelectedScan } from "../scan/selected-scan.ts";

/** Slots a part below which time is cut instead. */
const SLOTS_PER_PART_MIN = 4;

/** The parts of a scan, none where it has no series; undefined when it has too few rows for more than one thread. */
export function splitScan(scan: SelectedScan, limits: ShareLimits): readonly ScanPart[] | undefined {
  const { slots, request } = scan;
  if (slots.count === 0) return limits.rowsMin > 0 ? undefined : [];
  const rows = rowsBySlot(scan);
  let total = 0;
  for (let slot = 0; slot < rows.length; slot++) total += rows[slot] as number;
  if (total < limits.rowsMin) return undefined;
  const count = Math.max(1, Math.min(limits.partsMax, Math.ceil(total / limits.partRows)));
  if (request.order === "none" && slots.count < count * SLOTS_PER_PART_MIN) return byTime(scan, count, total);
  return bySlots(rows, total, count, request.timeRange);
}

/** A part of a scan on the thread that has it; the scan itself without one. */
export function partOf(scan: SelectedScan, part: ScanPart | undefined): SelectedScan {
  if (part === undefined) return scan;
  const { slots, request } = scan;
  const { start, end } = part.slots;
  const isWhole = start === 0 && end === slots.count;
  const series = slots.seriesBySlot?.subarray(start, end) ?? Uint32Array.from({ length: isWhole ? 0 : end - start }, (_, i) => start + i);
  const own = isWhole ? slots : new SeriesSelection(series, slots.numberBySlot?.subarray(start, end), scan.seriesCount, true);
  return { ...scan, slots: own, request: { ...request, timeRange: part.timeRange } };
}

/** Rows of each wanted slot, about. */
function rowsBySlot(scan: SelectedScan): Float64Array {
  const { slots, opened, memtables, seriesCount, request } = scan;
  const rows = new Float64Array(slots.count);
  for (const file of opened) addFile(file, scan, rows);
  let inMemory = 0;
  for (const memtable of memtables) inMemory += memoryRows(memtable, request.timeRange);
  const each = inMemory / Math.max(1, seriesCount);
  if (each > 0) for (let slot = 0; slot < rows.length; slot++) rows[slot] = (rows[slot] as number) + each;
  return rows;
}

function addFile({ sst }: OpenedFile, { slots, request }: SelectedScan, rows: Float64Array): void {
  const { index, series } = sst;
  const from = Number(request.timeRange.start - index.timeBase);
  const to = Number(request.timeRange.end - index.timeBase);
  const add = (run: number, slot: number): void => {
    const first = index.firstTimes[run] as number;
    const last = index.lastTimes[run] as number;
    if (last < from || first >= to) return;
    const count = (index.ends[run] as number) - startOfRun(index, run);
    const share = last === first ? 1 : (Math.min(to, last) - Math.max(from, first)) / (last - first);
    rows[slot] = (rows[slot] as number) + count * Math.max(0, share);
  };
  if (slots.isFew) {
    for (let slot = 0; slot < rows.length; slot++) {
      const run = sst.runOf(slots.seriesOf(slot));
      if (run >= 0) add(run, slot);
    }
    return;
  }
  const bySeries = slots.slotOfSeries();
  for (let run = 0; run < series.length; run++) {
    const slot = bySeries[series[run] as number] as number;
    if (slot < rows.length) add(run, slot); // Others are not wanted.
  }
}

/** Rows of a memtable in a range, if its times are spread evenly. */
function memoryRows({ starts, times }: MemtableView, range: TimeRange): number {
  const rowCount = starts.at(-1) ?? 0;
  if (times === undefined) return rowCount;
  const start = times.min > range.start ? times.min : range.start;
  const end = times.max + 1n < range.end ? times.max + 1n : range.end;
  return end <= start ? 0 : rowCount * (Number(end - start) / Number(times.max + 1n - times.min));
}

function bySlots(rows: Float64Array, total: number, count: number, timeRange: TimeRange): ScanPart[] {
  const parts: ScanPart[] = [];
  const target = total / count;
  let from = 0;
  let inPart = 0;
  for (let slot = 0; slot < rows.length; slot++) {
    inPart += rows[slot] as number;
    if (inPart < target && slot + 1 < rows.length) continue;
    parts.push({ slots: { start: from, end: slot + 1 }, timeRange, rowCount: inPart });
    from = slot + 1;
    inPart = 0;
  }
  return parts;
}

function byTime(scan: SelectedScan, count: number, total: number): ScanPart[] {
  const slots = { start: 0, end: scan.slots.count };
  const { start, end } = boundsOf(scan);
  const width = (end - start) / BigInt(count) + 1n;
  const parts: ScanPart[] = [];
  for (let from = start; from < end; from += width) {
    const to = from + width < end ? from + width : end;
    parts.push({ slots, timeRange: { start: from, end: to }, rowCount: total / count });
  }
  return parts;
}

/** The times that the scan's sources hold, within its range. */
function boundsOf({ opened, memtables, request }: SelectedScan): TimeRange {
  let { end: start, start: end } = request.timeRange;
  const add = (min: bigint, max: bigint): void => {
    if (min < start) start = min;
    if (max + 1n > end) end = max + 1n;
  };
  for (const { meta } of opened) add(meta.minTime, meta.maxTime);
  for (const { times } of memtables) if (times !== undefined) add(times.min, times.max);
  const { timeRange } = request;
  return { start: start > timeRange.start ? start : timeRange.start, end: end < timeRange.end ? end : timeRange.end };
}
