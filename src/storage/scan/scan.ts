/**
 * A scan of one table over a snapshot of memtables and files.
 *
 *   prune files by time ─► open ─► series wanted (tag codes) ─► per 64-day group: runs of all sources ─► clip ─► carve ─► overlaps
 *        ─► batches: runs that stand alone as they lie in their source; overlapping runs merged by time
 *
 * Nothing is merged unless two sources hold overlapping times of one series, so a scan over disjoint files reads pages as they are.
 *
 * Series are taken in slices in the order of their tags when there are very many, so that lists of runs are bounded whatever a table has:
 * rows of files lie in that order, so pages of a slice lie together.
 */
import { throwIfCancelled } from "../../base/cancel.ts";
import { nextRound } from "../../base/rounds.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TimeRange } from "../../table/scan.ts";
import type { MergeMode } from "../../table/schema.ts";
import { type PageCache, vectorBytes } from "../cache/page-cache.ts";
import { addGroupStarts } from "../memtable/chunk-groups.ts";
import type { MemtableView } from "../memtable/pick-rows.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import type { DataFile } from "../sst/data-file.ts";
import type { OpenSst } from "../sst/open-sst.ts";
import type { SstFile } from "../sst/sst-file.ts";
import { groupLength, groupStartOf } from "../sst/time-window.ts";
import { assembleFiltered, assembleNewest, type RowsOfSource } from "./assemble-rows.ts";
import { type Assembler, assembleClusters, assembleSegments, type OutputColumn, type Segment } from "./assemble.ts";
import { carveRuns, type SourceTombstones } from "./carve-runs.ts";
import type { ColumnCondition } from "./column-condition.ts";
import { fileSource } from "./file-source.ts";
import { memtableSource } from "./memtable-source.ts";
import { orderUnits } from "./ordered-units.ts";
import type { ResolvedSummaries } from "./page-summaries.ts";
import { type RowFilter, rowFilterOf } from "./row-filter.ts";
import { RunList } from "./run-list.ts";
import { ScanDictionary } from "./scan-dictionary.ts";
import type { ScanSource } from "./scan-source.ts";
import { clipRuns, findOverlaps, keepNewest } from "./segments.ts";
import { FEW_SHARE, type SeriesSelection, selectOfTable, selectSeries, type TableSeries } from "./series-selection.ts";
import { splitCluster } from "./split-cluster.ts";
import type { TagCodes } from "./tag-codes.ts";
import { wantedTagsIn } from "./wanted-tags.ts";

/** Rows after which a batch is handed out. */
const BATCH_ROWS = 16_384;
/** A batch that reached this many rows is handed out at the end of a page, so that whole pages pass through without a copy. */
const BATCH_ROWS_AT_PAGE_END = 4096;
/** Rows that a filter looks at for one batch: what is read of a page is read for few rows. */
const FILTERED_ROWS = 65_536;
/** A filter that leaves more than one row in so many is not asked again. */
const FILTER_SHARE = 4;
/** Series whose runs are listed at a time: 28 B a run, so 14 MiB for eight sources. */
const SLICE_SERIES = 65_536;

/** A scan with names resolved. */
export interface ResolvedScan {
  /** Oldest first. */
  readonly memtables: readonly MemtableView[];
  /** Oldest first. The caller keeps them in use until the scan ends. */
  readonly files: readonly SstFile[];
  readonly registry: SeriesRegistry;
  /** Which series the scan sees, under which numbers; absent: all of `registry`, under its own. */
  readonly selection?: TableSeries;
  readonly cache: PageCache;
  readonly mergeMode: MergeMode;
  readonly timeUnit: TimeUnit;
  readonly timeColumnId: number;
  readonly output: readonly OutputColumn[];
  /** What rows of interest meet, joined by AND: pages that hold none may be left out. */
  readonly conditions: readonly ColumnCondition[];
  /** What `request.summaries` asks for; never beside conditions. */
  readonly summaries?: ResolvedSummaries | undefined;
  readonly request: ScanRequest;
  readonly metrics: ScanMetrics | undefined;
}

/** A scan whose files are open and whose series are found: what is left to do needs no registry. */
export interface SelectedScan extends Omit<ResolvedScan, "files" | "registry" | "selection"> {
  /** Those that may hold wanted rows, oldest first. */
  readonly opened: readonly OpenedFile[];
  readonly slots: SeriesSelection;
  /** Series numbers of the region are below it. */
  readonly seriesCount: number;
  /** Tags by the numbers that runs carry, and how many of those there are. */
  readonly tags: TagCodes;
  readonly numberCount: number;
}

/** A file that is read. */
export interface OpenedFile {
  readonly meta: DataFile;
  readonly sst: OpenSst;
}

/** The batches of a scan. @throws DbError StorageUnavailable when a file cannot be read */
export async function* scanRows(scan: ResolvedScan, sliceSeries: number = SLICE_SERIES): AsyncGenerator<ScanBatch> {
  throwIfCancelled(scan.request.signal);
  yield* scanSelected(await selectedScan(scan, sliceSeries), sliceSeries);
}

/** Opens the files that a scan reads and finds its series. @throws DbError StorageUnavailable when a file cannot be read */
export async function selectedScan(scan: ResolvedScan, sliceSeries: number = SLICE_SERIES): Promise<SelectedScan> {
  const { files: _, registry, selection, ...rest } = scan;
  const { order, tagPredicates } = scan.request;
  const opened = await openFiles(scan);
  const isSorted = order === "series-time" || registry.count > sliceSeries;
  const slots =
    selection === undefined ? selectSeries(registry, tagPredicates, isSorted) : selectOfTable(registry, selection, tagPredicates, isSorted);
  const numbered = selection?.registry ?? registry;
  const tags = selection?.tags ?? numbered;
  return { ...rest, opened, slots, tags, seriesCount: registry.count, numberCount: numbered.count };
}

/** The batches of a scan whose series are found. @throws DbError StorageUnavailable when a page cannot be read */
export async function* scanSelected(scan: SelectedScan, sliceSeries: number = SLICE_SERIES): AsyncGenerator<ScanBatch> {
  const { request, metrics, opened, slots: selection } = scan;
  if (selection.count === 0) return;
  const groups = groupsOf(scan, opened, request.timeRange);
  const seen = request.newestPerSeries === true ? new Uint8Array(selection.count) : undefined;
  if (seen !== undefined) groups.reverse();
  const plan: ScanPlan = { scan, opened, groups, selection, seen, sliceSeries, dictionaries: dictionariesOf(scan, selection) };
  let returned = 0;
  for await (const batch of request.order === "series-time" ? orderedBatches(plan) : plainBatches(plan)) {
    if (batch.rowCount === 0) {
      // A filter may leave nothing for long: others of the thread get their turn here, since nobody above sees the batch.
      throwIfCancelled(request.signal);
      await nextRound();
      continue;
    }
    returned += batch.rowCount;
    scan.cache.passed(bytesOf(batch));
    if (metrics !== undefined) metrics.rowsReturned += batch.rowCount;
    yield batch;
    if (request.limit !== undefined && returned >= request.limit) return;
    throwIfCancelled(request.signal);
  }
}

/** Bytes of a batch's arrays; pages that pass through as they are count again. */
function bytesOf({ vectors }: ScanBatch): number {
  let bytes = 0;
  for (const vector of vectors) bytes += vectorBytes(vector);
  return bytes;
}

/** What the parts of a scan share. */
interface ScanPlan {
  readonly scan: SelectedScan;
  readonly opened: readonly OpenedFile[];
  /** Starts of the groups that hold rows of the range, in the order in which they are read. */
  readonly groups: readonly bigint[];
  readonly selection: SeriesSelection;
  /** By slot, 1 for series whose newest row is out; undefined when all rows are wanted. */
  readonly seen: Uint8Array | undefined;
  readonly sliceSeries: number;
  readonly dictionaries: ReadonlyMap<number, ScanDictionary>;
}

/** Dictionaries of this scan for its tags, where it wants few of the table's series. */
function dictionariesOf(scan: SelectedScan, { count }: SeriesSelection): Map<number, ScanDictionary> {
  const dictionaries = new Map<number, ScanDictionary>();
  if (count * FEW_SHARE >= scan.numberCount) return dictionaries;
  for (const column of scan.output) {
    if (column.kind === "tag") dictionaries.set(column.position, new ScanDictionary(scan.tags, column.position));
  }
  return dictionaries;
}

async function openFiles(scan: ResolvedScan): Promise<OpenedFile[]> {
  const { metrics } = scan;
  const { timeRange } = scan.request;
  const wanted = scan.selection === undefined ? wantedTagsIn(scan.request.tagPredicates, scan.registry) : scan.selection.fileTags;
  const opened: OpenedFile[] = [];
  for (const file of scan.files) {
    const isInRange = file.meta.maxTime >= timeRange.start && file.meta.minTime < timeRange.end;
    const sst = isInRange ? await file.openIfHolds(wanted, scan.registry, scan.cache) : undefined;
    if (sst !== undefined) opened.push({ meta: file.meta, sst });
    if (metrics === undefined) continue;
    if (sst !== undefined) metrics.filesRead++;
    else {
      metrics.filesSkipped++;
      if (isInRange) metrics.filesSkippedByTags++;
    }
  }
  return opened;
}

/** Starts of the 64-day groups that hold rows of the range, oldest first. */
function groupsOf(scan: SelectedScan, opened: readonly OpenedFile[], range: TimeRange): bigint[] {
  const length = groupLength(scan.timeUnit);
  const starts = new Set<bigint>();
  for (const { meta } of opened) starts.add(groupStartOf(meta.minTime, scan.timeUnit)); // A file lies within one group.
  for (const memtable of scan.memtables) addGroups(memtable, scan.timeUnit, starts);
  const touched = [...starts].filter((start) => start < range.end && start + BigInt(length) > range.start);
  return touched.sort((a, b) => (a < b ? -1 : 1));
}

/** Memtables of one group, which most are, are told by their first and last time. */
function addGroups({ chunks, times }: MemtableView, unit: TimeUnit, starts: Set<bigint>): void {
  const only = times === undefined ? undefined : groupStartOf(times.min, unit);
  if (only !== undefined && times !== undefined && only === groupStartOf(times.max, unit)) starts.add(only);
  else for (const chunk of chunks) addGroupStarts(chunk, groupLength(unit), starts);
}

/** The sources of one 64-day group. */
interface GroupSources {
  readonly assembler: Assembler;
  /** What is wanted of the group, as offsets from its start. */
  readonly minOffset: number;
  readonly maxOffset: number;
  /** What sources delete of older ones. */
  readonly tombstones: readonly SourceTombstones[];
}

/** The runs of a slice of series in one group. */
interface Group {
  readonly assembler: Assembler;
  readonly runs: RunList;
  readonly singles: Uint32Array;
  /** `singles` by source. */
  readonly singlesOf: readonly Uint32Array[];
  readonly clusters: readonly (readonly number[])[];
  readonly selection: SeriesSelection;
}

function openGroup({ scan, opened, selection, seen, dictionaries }: ScanPlan, base: bigint): GroupSources {
  const length = groupLength(scan.timeUnit);
  const { seriesCount, mergeMode, metrics, conditions, summaries, timeColumnId } = scan;
  const { timeRange } = scan.request;
  const minOffset = timeRange.start <= base ? 0 : Number(timeRange.start - base);
  const end = base + BigInt(length);
  const maxOffset = timeRange.end >= end ? length - 1 : Number(timeRange.end - base) - 1;
  const wanted = { base, minOffset, maxOffset, selection };
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
  const filter = rowFilterOf(
    conditions,
    scan.output.flatMap((column) => (column.kind === "field" ? [column.column] : [])),
  );
  const assembler = { sources, filter, output: scan.output, tags: scan.tags, timeType, mergeMode, dictionaries };
  return { assembler, minOffset, maxOffset, tombstones: tombstonesOf(sources) };
}

/** Slots `[from, to)` of a group. */
async function sliceGroup(plan: ScanPlan, group: GroupSources, from: number, to: number): Promise<Group> {
  const { scan, seen, selection } = plan;
  const { assembler, minOffset, maxOffset, tombstones } = group;
  const found = new RunList();
  const since = seen === undefined || tombstones.length > 0 ? Number.NEGATIVE_INFINITY : newestOfAll(assembler.sources, from, to);
  for (const [s, source] of assembler.sources.entries()) if (source.latest >= since) source.addRuns(s, from, to, found);
  await clipRuns(found, assembler.sources, minOffset, maxOffset);
  const runs = await carveRuns(found, assembler.sources, tombstones, (slot) => selection.seriesOf(slot));
  const mayRepeat = scan.mergeMode !== "append";
  if (seen !== undefined) keepNewest(runs, from, to - from, seen, mayRepeat);
  const { single, clusters } = findOverlaps(runs, from, to - from, mayRepeat || scan.request.order === "series-time");
  const { sources } = assembler;
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

function segmentOf({ runs, selection }: Group, i: number): Segment {
  return {
    source: runs.sources[i] as number,
    series: selection.numberOf(runs.slots[i] as number),
    start: runs.starts[i] as number,
    end: runs.ends[i] as number,
  };
}

/** The segments of a cluster, cut where they are too long to be merged at once. */
function partsOf(group: Group, cluster: readonly number[]): Promise<(readonly Segment[])[]> {
  return splitCluster(
    cluster.map((i) => segmentOf(group, i)),
    group.assembler.sources,
  );
}

/** Order "none": source by source, then what had to be merged. */
async function* plainBatches(plan: ScanPlan): AsyncGenerator<ScanBatch> {
  const { count } = plan.selection;
  for (const base of plan.groups) {
    const sources = openGroup(plan, base);
    for (let from = 0; from < count; from += plan.sliceSeries) {
      const group = await sliceGroup(plan, sources, from, Math.min(count, from + plan.sliceSeries));
      yield* plan.seen === undefined ? singleRuns(group) : newestRows(group);
      yield* clusterBatches(group);
    }
  }
}

/** Runs that stand alone, one row each. */
async function* newestRows({ assembler, runs, singlesOf, selection }: Group): AsyncGenerator<ScanBatch> {
  let series = new Uint32Array(BATCH_ROWS);
  let count = 0;
  let parts: RowsOfSource[] = [];
  for (const [source, own] of singlesOf.entries()) {
    const rowsOf = assembler.sources[source] as ScanSource;
    for (let from = 0; from < own.length; ) {
      const rows = new Uint32Array(Math.min(own.length - from, BATCH_ROWS - count));
      let kept = 0;
      for (; from < own.length && count < BATCH_ROWS; from++) {
        const run = own[from] as number;
        const row = runs.starts[run] as number;
        if (rowsOf.holdsNothing(row)) continue;
        rows[kept++] = row;
        series[count++] = selection.numberOf(runs.slots[run] as number);
      }
      if (kept > 0) parts.push({ source, rows: rows.subarray(0, kept) });
      if (count < BATCH_ROWS) continue;
      yield await assembleNewest(assembler, series, parts);
      series = new Uint32Array(BATCH_ROWS);
      count = 0;
      parts = [];
    }
  }
  if (count > 0) yield await assembleNewest(assembler, series.subarray(0, count), parts);
}

/** Runs that stand alone, and figures of their pages where those will do. */
async function* singleRuns(group: Group): AsyncGenerator<ScanBatch> {
  const pending = new PendingBatch(group.assembler);
  for (const [s, source] of group.assembler.sources.entries()) yield* source.summarise(group.runs, group.singlesOf[s] as Uint32Array);
  for (const i of group.singles) {
    const run = segmentOf(group, i);
    for (let at = run.start; at < run.end; ) {
      at = pending.add(run, at);
      if (pending.isFull) yield await pending.take();
    }
  }
  if (pending.rowCount > 0) yield await pending.take();
}

/** Runs that had to be merged. */
async function* clusterBatches(group: Group): AsyncGenerator<ScanBatch> {
  const clusters = new PendingClusters(group.assembler);
  for (const cluster of group.clusters) {
    for (const part of await partsOf(group, cluster)) {
      clusters.add(part);
      if (clusters.isFull) yield await clusters.take();
    }
  }
  if (clusters.rowCount > 0) yield await clusters.take();
}

/** Order "series-time": series by their tags, each through all groups, oldest first. */
async function* orderedBatches(plan: ScanPlan): AsyncGenerator<ScanBatch> {
  const { count } = plan.selection;
  const all: GroupSources[] = [];
  for (const base of plan.groups) all.push(openGroup(plan, base));
  for (let from = 0; from < count; from += plan.sliceSeries) {
    const to = Math.min(count, from + plan.sliceSeries);
    const groups: Group[] = [];
    for (const group of all) groups.push(await sliceGroup(plan, group, from, to));
    yield* orderedSlice(groups, from, to);
  }
}

async function* orderedSlice(groups: readonly Group[], from: number, to: number): AsyncGenerator<ScanBatch> {
  let pending: PendingBatch | PendingClusters | undefined;
  const units = orderUnits(groups, from, to);
  for (let i = 0; i < units.count; i++) {
    const group = groups[units.groups[i] as number] as Group;
    const { assembler } = group;
    const cluster = group.clusters[units.clusters[i] as number];
    const wantsClusters = cluster !== undefined;
    if (pending !== undefined && (pending.assembler !== assembler || pending instanceof PendingClusters !== wantsClusters)) {
      if (pending.rowCount > 0) yield await pending.take();
      pending = undefined;
    }
    pending ??= wantsClusters ? new PendingClusters(assembler) : new PendingBatch(assembler);
    if (pending instanceof PendingClusters) {
      for (const part of await partsOf(group, cluster ?? [])) {
        pending.add(part);
        if (pending.isFull) yield await pending.take();
      }
      continue;
    }
    const segment = segmentOf(group, units.runs[i] as number);
    for (let at = segment.start; at < segment.end; ) {
      at = pending.add(segment, at);
      if (pending.isFull) yield await pending.take();
    }
  }
  if (pending !== undefined && pending.rowCount > 0) yield await pending.take();
}

/** Segments gathered for the next batch. */
class PendingBatch {
  readonly assembler: Assembler;
  rowCount = 0;
  isFull = false;
  private filter: RowFilter | undefined;
  private segments: Segment[] = [];

  constructor(assembler: Assembler) {
    this.assembler = assembler;
    this.filter = assembler.filter;
  }

  /** Adds rows of a run from row `from` on, until the batch is full or the run ends. Returns the first row that was not looked at. */
  add({ source, series, end }: Segment, from: number): number {
    const rows = this.assembler.sources[source] as ScanSource;
    const rowsMax = this.filter === undefined ? BATCH_ROWS : FILTERED_ROWS;
    const rowsAtPageEnd = this.filter === undefined ? BATCH_ROWS_AT_PAGE_END : FILTERED_ROWS;
    let at = from;
    while (at < end && !this.isFull) {
      const pageEnd = rows.pageEnd(at);
      const to = Math.min(end, pageEnd, at + rowsMax - this.rowCount);
      if (!rows.holdsNothing(at)) {
        this.segments.push({ source, series, start: at, end: to });
        this.rowCount += to - at;
        this.isFull = this.rowCount >= rowsMax || (to === pageEnd && this.rowCount >= rowsAtPageEnd);
      }
      at = to;
    }
    return at;
  }

  async take(): Promise<ScanBatch> {
    const { assembler, segments, filter } = this;
    this.segments = [];
    this.rowCount = 0;
    this.isFull = false;
    if (filter === undefined) return await assembleSegments(assembler, segments);
    const filtered = await assembleFiltered(assembler, filter, segments, FILTER_SHARE);
    if (filtered !== undefined) return filtered;
    this.filter = undefined;
    return await assembleSegments(assembler, segments);
  }
}

/** Clusters gathered for the next batch; each stays whole. */
class PendingClusters {
  readonly assembler: Assembler;
  rowCount = 0;
  private clusters: (readonly Segment[])[] = [];

  constructor(assembler: Assembler) {
    this.assembler = assembler;
  }

  get isFull(): boolean {
    return this.rowCount >= BATCH_ROWS;
  }

  add(cluster: readonly Segment[]): void {
    this.clusters.push(cluster);
    for (const { start, end } of cluster) this.rowCount += end - start;
  }

  take(): Promise<ScanBatch> {
    const clusters = this.clusters;
    this.clusters = [];
    this.rowCount = 0;
    return assembleClusters(this.assembler, clusters);
  }
}
