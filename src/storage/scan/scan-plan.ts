/** What the parts of a scan share, made once: the groups of time that it reads and in which order, and dictionaries of its own. */
import type { TimeUnit } from "../../column/data-type.ts";
import { addGroupStarts } from "../memtable/chunk-groups.ts";
import type { MemtableView } from "../memtable/pick-rows.ts";
import { groupLength, groupStartOf } from "../sst/time-window.ts";
import { BatchArrays } from "./merge/batch-arrays.ts";
import { ScanDictionary } from "./select/scan-dictionary.ts";
import type { SelectedScan } from "./selected-scan.ts";
import { FEW_SHARE } from "./select/series-selection.ts";

/** See the file header. */
export interface ScanPlan {
  readonly scan: SelectedScan;
  /** Starts of the groups that hold rows of the range, in the order in which they are read. */
  readonly groups: readonly bigint[];
  /** By slot, 1 for series whose newest row is out; undefined when all rows are wanted. */
  readonly seen: Uint8Array | undefined;
  readonly sliceSeries: number;
  readonly dictionaries: ReadonlyMap<number, ScanDictionary>;
  /** Of all batches, one after the other; undefined: each has its own. */
  readonly arrays: BatchArrays | undefined;
}

/** Plans a scan. It takes its series in slices of `sliceSeries`. */
export function planScan(scan: SelectedScan, sliceSeries: number): ScanPlan {
  const groups = groupsOf(scan);
  const seen = scan.request.newestPerSeries === true ? new Uint8Array(scan.slots.count) : undefined;
  if (seen !== undefined) groups.reverse();
  const arrays = scan.request.mayReuseArrays === true ? new BatchArrays() : undefined;
  return { scan, groups, seen, sliceSeries, dictionaries: dictionariesOf(scan), arrays };
}

/** Dictionaries of this scan for its tags, where it wants few of the table's series. */
function dictionariesOf(scan: SelectedScan): Map<number, ScanDictionary> {
  const dictionaries = new Map<number, ScanDictionary>();
  if (scan.slots.count * FEW_SHARE >= scan.numberCount) return dictionaries;
  for (const column of scan.output) {
    if (column.kind === "tag") dictionaries.set(column.position, new ScanDictionary(scan.tags, column.position));
  }
  return dictionaries;
}

/** Starts of the 64-day groups that hold rows of the range, oldest first. */
function groupsOf({ timeUnit, opened, memtables, request: { timeRange } }: SelectedScan): bigint[] {
  const length = groupLength(timeUnit);
  const starts = new Set<bigint>();
  for (const { meta } of opened) starts.add(groupStartOf(meta.minTime, timeUnit)); // A file lies within one group.
  for (const memtable of memtables) addGroups(memtable, timeUnit, starts);
  const touched = [...starts].filter((start) => start < timeRange.end && start + BigInt(length) > timeRange.start);
  return touched.sort((a, b) => (a < b ? -1 : 1));
}

/** Memtables of one group, which most are, are told by their first and last time. */
function addGroups({ chunks, times }: MemtableView, unit: TimeUnit, starts: Set<bigint>): void {
  const only = times === undefined ? undefined : groupStartOf(times.min, unit);
  if (only !== undefined && times !== undefined && only === groupStartOf(times.max, unit)) starts.add(only);
  else for (const chunk of chunks) addGroupStarts(chunk, groupLength(unit), starts);
}
