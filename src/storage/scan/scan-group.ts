/**
 * One 64-day group of a scan: its sources, and for a slice of its series the runs that are left once the range, deletes and the wish for
 * newest rows only have taken their part: those that stand alone, and clusters of those that overlap.
 */
import { groupLength } from "../sst/time-window.ts";
import type { Assembler, Segment } from "./merge/assemble.ts";
import { cutChains } from "./runs/cut-chains.ts";
import { carveRuns, type SourceTombstones } from "./runs/carve-runs.ts";
import { fileSource } from "./source/file-source.ts";
import { memtableSource } from "./source/memtable-source.ts";
import { RunList } from "./runs/run-list.ts";
import type { ScanPlan } from "./scan-plan.ts";
import type { ScanSource } from "./runs/scan-source.ts";
import { clipRuns, findOverlaps, keepNewest } from "./runs/segments.ts";
import type { SeriesSelection } from "./select/series-selection.ts";
import { splitCluster } from "./merge/split-cluster.ts";

/** The sources of one 64-day group. */
export interface GroupSources {
  readonly assembler: Assembler;
  /** What is wanted of the group, as offsets from its start. */
  readonly minOffset: number;
  readonly maxOffset: number;
  /** What sources delete of older ones. */
  readonly tombstones: readonly SourceTombstones[];
}

/** The runs of a slice of series in one group. */
export interface Group {
  readonly assembler: Assembler;
  readonly runs: RunList;
  readonly singles: Uint32Array;
  /** `singles` by source. */
  readonly singlesOf: readonly Uint32Array[];
  readonly clusters: readonly (readonly number[])[];
  readonly selection: SeriesSelection;
}

/** Opens a group for all of its slices. `base` is where it starts. */
export function openGroup({ scan, seen, dictionaries, arrays }: ScanPlan, base: bigint): GroupSources {
  const length = groupLength(scan.timeUnit);
  const { opened, slots, seriesCount, mergeMode, metrics, conditions, summaries, timeColumnId } = scan;
  const { timeRange } = scan.request;
  const minOffset = timeRange.start <= base ? 0 : Number(timeRange.start - base);
  const end = base + BigInt(length);
  const maxOffset = timeRange.end >= end ? length - 1 : Number(timeRange.end - base) - 1;
  const wanted = { base, minOffset, maxOffset, selection: slots };
  const sources: ScanSource[] = [];
  const timeType = { kind: "timestamp", unit: scan.timeUnit } as const;
  const fileScan = { ...wanted, timeColumnId, timeType, conditions, summaries, metrics };
  for (const { meta, sst } of opened) {
    if (sst.index.timeBase === base) sources.push(fileSource(sst, { ...fileScan, latest: Number(meta.maxTime - base) }));
  }
  if (scan.memtables.length > 0) {
    const memtableScan = { ...wanted, seriesCount, newestOnly: seen !== undefined, mergeMode };
    sources.push(memtableSource(scan.memtables, memtableScan));
  }
  const { rowTests: tests = [], unread = [] } = scan.request;
  const assembler = {
    arrays,
    sources,
    tests,
    metrics,
    unread: new Set(unread),
    output: scan.output,
    tags: scan.tags,
    timeType,
    timeColumnId,
    base,
    mergeMode,
    dictionaries,
  };
  return { assembler, minOffset, maxOffset, tombstones: tombstonesOf(sources) };
}

/** Finds the runs of slots `[from, to)` of a group. @throws DbError StorageUnavailable when a page cannot be read */
export async function sliceGroup(plan: ScanPlan, group: GroupSources, from: number, to: number): Promise<Group> {
  const { scan, seen } = plan;
  const selection = scan.slots;
  const { assembler, minOffset, maxOffset, tombstones } = group;
  const found = new RunList();
  const since = seen === undefined || tombstones.length > 0 ? Number.NEGATIVE_INFINITY : newestOfAll(assembler.sources, from, to);
  for (const [s, source] of assembler.sources.entries()) if (source.latest >= since) source.addRuns(s, from, to, found);
  await clipRuns(found, assembler.sources, minOffset, maxOffset);
  const runs = await carveRuns(found, assembler.sources, tombstones, (slot) => selection.seriesOf(slot));
  const mayRepeat = scan.mergeMode !== "append";
  if (seen !== undefined) keepNewest(runs, from, to - from, seen, mayRepeat);
  const { sources } = assembler;
  const overlaps = findOverlaps(runs, from, to - from, mayRepeat || scan.request.order !== "none");
  const { single, clusters } = await cutChains(runs, overlaps, sources);
  const singlesOf = bySource(runs, single, sources.length);
  for (let s = 0; s < sources.length; s++) await (sources[s] as ScanSource).prune(runs, singlesOf[s] as Uint32Array);
  return { assembler, runs, singles: single, singlesOf, clusters, selection };
}

/** A time before which no newest row of a series in slots `[from, to)` lies. */
function newestOfAll(sources: readonly ScanSource[], from: number, to: number): number {
  for (let s = sources.length - 1; s > 0; s--) {
    const newest = (sources[s] as ScanSource).newestOfAll(from, to);
    if (newest > Number.NEGATIVE_INFINITY) return newest;
  }
  return Number.NEGATIVE_INFINITY;
}

/** Runs that stand alone, source by source: they come in the order of their sources. */
function bySource(runs: RunList, singles: Uint32Array, sourceCount: number): readonly Uint32Array[] {
  const parts: Uint32Array[] = [];
  let from = 0;
  for (let source = 0; source < sourceCount; source++) {
    let to = from;
    while (to < singles.length && runs.sources[singles[to] as number] === source) to++;
    parts.push(singles.subarray(from, to));
    from = to;
  }
  return parts;
}

/** What each source deletes of those before it. */
function tombstonesOf(sources: readonly ScanSource[]): SourceTombstones[] {
  return sources.flatMap((rows, source) => {
    const set = rows.tombstones();
    return set === undefined || source === 0 ? [] : [{ source, set }]; // There is nothing older than the first source.
  });
}

/** Run `i` of a group. */
export function segmentOf({ runs, selection }: Group, i: number): Segment {
  return {
    source: runs.sources[i] as number,
    series: selection.numberOf(runs.slots[i] as number),
    start: runs.starts[i] as number,
    end: runs.ends[i] as number,
  };
}

/** Whether what tests say by now leaves no row of a cluster: of its times alone, which merging does not change. */
export function isOutside({ assembler, runs }: Group, cluster: readonly number[]): boolean {
  const { tests, output, base } = assembler;
  for (const test of tests) {
    const bound = test.bound?.();
    if (bound === undefined || output[bound.place]?.kind !== "time") continue;
    const { min, max } = bound;
    // Beyond 2^53 it rounds, and is beyond all offsets still.
    const least = typeof min === "bigint" ? Number(min - base) : Number.NEGATIVE_INFINITY;
    const most = typeof max === "bigint" ? Number(max - base) : Number.POSITIVE_INFINITY;
    if (cluster.every((run) => (runs.firsts[run] as number) > most || (runs.lasts[run] as number) < least)) return true;
  }
  return false;
}

/** The segments of a cluster, cut where they are too long to be merged at once. */
export function partsOf(group: Group, cluster: readonly number[]): Promise<(readonly Segment[])[]> {
  return splitCluster(
    cluster.map((i) => segmentOf(group, i)),
    group.assembler.sources,
  );
}
