/**
 * A scan of one table over a snapshot of memtables and files.
 *
 *   prune files by time ─► open ─► series wanted (tag codes) ─► per 64-day group: runs of all sources ─► clip ─► carve ─► overlaps
 *        ─► batches: runs that stand alone as they lie in their source; overlapping runs merged by time
 *
 * Nothing is merged unless two sources hold overlapping times of one series, so a scan over disjoint files reads pages as they are.
 */
import { throwIfCancelled } from "../../base/cancel.ts";
import type { TimeUnit } from "../../column/data-type.ts";
import type { ScanBatch, ScanMetrics, ScanRequest, TagPredicate, TimeRange } from "../../table/scan.ts";
import type { MergeMode } from "../../table/schema.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { Chunk } from "../memtable/chunk.ts";
import { addGroupStarts } from "../memtable/chunk-groups.ts";
import { DROPPED } from "../memtable/sort-rows.ts";
import { orderByTags, tagsOfSeries } from "../series/series-ranks.ts";
import type { SeriesRegistry } from "../series/series-registry.ts";
import type { OpenSst, SstFile } from "../sst/sst-file.ts";
import type { WantedTag } from "../sst/tag-filter.ts";
import { groupLength, groupStartOf } from "../sst/time-window.ts";
import { type Assembler, assembleClusters, assembleSegments, type OutputColumn, type Segment, type TagCodes } from "./assemble.ts";
import { carveRuns, type SourceTombstones } from "./carve-runs.ts";
import type { ColumnCondition } from "./column-condition.ts";
import { fileSource } from "./file-source.ts";
import { memtableSource } from "./memtable-source.ts";
import { RunList } from "./run-list.ts";
import type { ResolvedSummaries } from "./page-summaries.ts";
import type { ScanSource } from "./scan-source.ts";
import { wantedTagsIn } from "./wanted-tags.ts";
import { clipRuns, findOverlaps, keepNewest } from "./segments.ts";
import { splitCluster } from "./split-cluster.ts";

/** Rows after which a batch is handed out. */
const BATCH_ROWS = 16_384;
/** A batch that reached this many rows is handed out at the end of a page, so that whole pages pass through without a copy. */
const BATCH_ROWS_AT_PAGE_END = 4096;

/** A scan with names resolved. */
export interface ResolvedScan {
  readonly chunks: readonly Chunk[];
  /** Oldest first. The caller keeps them in use until the scan ends. */
  readonly files: readonly SstFile[];
  readonly registry: SeriesRegistry;
  /** Which series the scan sees, under which numbers; absent: all of `registry`, under its own. */
  readonly selection?: SeriesSelection;
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

/** A part of a region's series, for scans of a table that shares its region with others. */
export interface SeriesSelection {
  /** Series by the numbers that runs carry: their order, and how many there are. */
  readonly registry: SeriesRegistry;
  /** Tags by those numbers, where the registry's columns are not the table's. */
  readonly tags?: TagCodes;
  /** What a file must hold to be read at all. */
  readonly fileTags: readonly WantedTag[];
  /** The number of each of the region's series, or DROPPED. Asked once, when the series of all files to be read are known. */
  numbersOf(predicates: readonly TagPredicate[]): Uint32Array;
}

/** The series wanted: by the region's numbers, the number that runs carry or DROPPED; those are below `count`. */
interface WantedSeries {
  readonly numbers: Uint32Array;
  readonly count: number;
  readonly registry: SeriesRegistry;
}

/** The batches of a scan. @throws DbError StorageUnavailable when a file cannot be read */
export async function* scanRows(scan: ResolvedScan): AsyncGenerator<ScanBatch> {
  const { request, metrics } = scan;
  throwIfCancelled(request.signal);
  const opened = await openFiles(scan);
  const wanted = wantedOf(scan);
  const groups = groupsOf(scan, opened, request.timeRange);
  const seen = request.newestPerSeries === true ? new Uint8Array(wanted.count) : undefined;
  if (seen !== undefined) groups.reverse();
  let returned = 0;
  const batches =
    request.order === "series-time" ? orderedBatches(scan, opened, groups, wanted, seen) : plainBatches(scan, opened, groups, wanted, seen);
  for await (const batch of batches) {
    if (batch.rowCount === 0) continue;
    returned += batch.rowCount;
    if (metrics !== undefined) metrics.rowsReturned += batch.rowCount;
    yield batch;
    if (request.limit !== undefined && returned >= request.limit) return;
    throwIfCancelled(request.signal);
  }
}

interface OpenedFile {
  readonly file: SstFile;
  readonly sst: OpenSst;
}

async function openFiles(scan: ResolvedScan): Promise<OpenedFile[]> {
  const { metrics } = scan;
  const { timeRange } = scan.request;
  const wanted = scan.selection === undefined ? wantedTagsIn(scan.request.tagPredicates, scan.registry) : scan.selection.fileTags;
  const opened: OpenedFile[] = [];
  for (const file of scan.files) {
    const isInRange = file.meta.maxTime >= timeRange.start && file.meta.minTime < timeRange.end;
    const sst = isInRange ? await file.openIfHolds(wanted, scan.registry, scan.cache) : undefined;
    if (sst !== undefined) opened.push({ file, sst });
    if (metrics === undefined) continue;
    if (sst !== undefined) metrics.filesRead++;
    else {
      metrics.filesSkipped++;
      if (isInRange) metrics.filesSkippedByTags++;
    }
  }
  return opened;
}

function wantedOf({ request, registry, selection }: ResolvedScan): WantedSeries {
  if (selection === undefined) return { numbers: wantedSeries(request.tagPredicates, registry), count: registry.count, registry };
  const numbers = selection.numbersOf(request.tagPredicates);
  return { numbers, count: selection.registry.count, registry: selection.registry };
}

/** Bucket of each series: its number, or DROPPED when a tag predicate refuses it. */
export function wantedSeries(predicates: readonly TagPredicate[], registry: SeriesRegistry): Uint32Array {
  const buckets = new Uint32Array(registry.count);
  for (let s = 0; s < buckets.length; s++) buckets[s] = s;
  for (const predicate of predicates) {
    const position = registry.positionOfName(predicate.column);
    const dictionary = registry.dictionaryAt(position);
    const accepts = new Uint8Array(dictionary.length);
    if (predicate.kind === "in") {
      const values = new Set(predicate.values);
      for (let code = 0; code < accepts.length; code++) accepts[code] = values.has(dictionary[code]) ? 1 : 0;
    } else for (let code = 0; code < accepts.length; code++) accepts[code] = predicate.test(dictionary[code]) ? 1 : 0;
    const codes = registry.codesAt(position);
    for (let s = 0; s < buckets.length; s++) if (accepts[codes[s] as number] === 0) buckets[s] = DROPPED;
  }
  return buckets;
}

/** Starts of the 64-day groups that hold rows of the range, oldest first. */
function groupsOf(scan: ResolvedScan, opened: readonly OpenedFile[], range: TimeRange): bigint[] {
  const length = groupLength(scan.timeUnit);
  const starts = new Set<bigint>();
  for (const { file } of opened) starts.add(groupStartOf(file.meta.minTime, scan.timeUnit)); // A file lies within one group.
  for (const chunk of scan.chunks) addGroupStarts(chunk, length, starts);
  const touched = [...starts].filter((start) => start < range.end && start + BigInt(length) > range.start);
  return touched.sort((a, b) => (a < b ? -1 : 1));
}

interface Group {
  readonly assembler: Assembler;
  readonly runs: RunList;
  readonly singles: Uint32Array;
  /** `singles` by source. */
  readonly singlesOf: readonly Uint32Array[];
  readonly clusters: readonly (readonly number[])[];
}

async function openGroup(
  scan: ResolvedScan,
  opened: readonly OpenedFile[],
  base: bigint,
  wanted: WantedSeries,
  seen: Uint8Array | undefined,
): Promise<Group> {
  const length = groupLength(scan.timeUnit);
  const { timeRange } = scan.request;
  const minOffset = timeRange.start <= base ? 0 : Number(timeRange.start - base);
  const end = base + BigInt(length);
  const maxOffset = timeRange.end >= end ? length - 1 : Number(timeRange.end - base) - 1;
  const sources: ScanSource[] = [];
  const fileScan = {
    base,
    minOffset,
    maxOffset,
    timeColumnId: scan.timeColumnId,
    conditions: scan.conditions,
    summaries: scan.summaries,
    metrics: scan.metrics,
  };
  for (const { sst } of opened) if (sst.index.timeBase === base) sources.push(fileSource(sst, fileScan));
  if (scan.chunks.length > 0) {
    const selection = { base, minOffset, maxOffset, bucketOfSeries: wanted.numbers, bucketCount: wanted.count };
    sources.push(memtableSource(scan.chunks, selection, scan.mergeMode));
  }
  const found = new RunList();
  for (let s = 0; s < sources.length; s++) (sources[s] as ScanSource).addRuns(s, wanted.numbers, found);
  await clipRuns(found, sources, minOffset, maxOffset);
  const tombstones = tombstonesOf(sources);
  const regionSeries = tombstones.length === 0 || scan.selection === undefined ? undefined : inverseOf(wanted);
  const runs = await carveRuns(found, sources, tombstones, regionSeries);
  const mayRepeat = scan.mergeMode !== "append";
  if (seen !== undefined) keepNewest(runs, seen, mayRepeat);
  const { single, clusters } = findOverlaps(runs, wanted.count, mayRepeat || scan.request.order === "series-time");
  const singlesOf = bySource(runs, single, sources.length);
  for (let s = 0; s < sources.length; s++) await (sources[s] as ScanSource).prune(runs, singlesOf[s] as Uint32Array);
  const assembler = {
    sources,
    output: scan.output,
    tags: scan.selection?.tags ?? wanted.registry,
    timeType: { kind: "timestamp", unit: scan.timeUnit } as const,
    mergeMode: scan.mergeMode,
  };
  return { assembler, runs, singles: single, singlesOf, clusters };
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

/** The region's series of each number that runs carry. */
function inverseOf({ numbers, count }: WantedSeries): Uint32Array {
  const regionSeries = new Uint32Array(count);
  for (let series = 0; series < numbers.length; series++) {
    const number = numbers[series] as number;
    if (number !== DROPPED) regionSeries[number] = series;
  }
  return regionSeries;
}

function segmentOf(runs: RunList, i: number): Segment {
  return {
    source: runs.sources[i] as number,
    series: runs.series[i] as number,
    start: runs.starts[i] as number,
    end: runs.ends[i] as number,
  };
}

/** The segments of a cluster, cut where they are too long to be merged at once. */
function partsOf({ assembler, runs }: Group, cluster: readonly number[]): Promise<(readonly Segment[])[]> {
  return splitCluster(
    cluster.map((i) => segmentOf(runs, i)),
    assembler.sources,
  );
}

/** Order "none": source by source, then what had to be merged. */
async function* plainBatches(
  scan: ResolvedScan,
  opened: readonly OpenedFile[],
  groups: readonly bigint[],
  wanted: WantedSeries,
  seen: Uint8Array | undefined,
): AsyncGenerator<ScanBatch> {
  for (const base of groups) {
    const group = await openGroup(scan, opened, base, wanted, seen);
    const pending = new PendingBatch(group.assembler);
    for (const [s, source] of group.assembler.sources.entries()) yield* source.summarise(group.runs, group.singlesOf[s] as Uint32Array);
    for (const i of group.singles) {
      const run = segmentOf(group.runs, i);
      for (let at = run.start; at < run.end; ) {
        at = pending.add(run, at);
        if (pending.isFull) yield await pending.take();
      }
    }
    if (pending.rowCount > 0) yield await pending.take();
    const clusters = new PendingClusters(group.assembler);
    for (const cluster of group.clusters) {
      for (const part of await partsOf(group, cluster)) {
        clusters.add(part);
        if (clusters.isFull) yield await clusters.take();
      }
    }
    if (clusters.rowCount > 0) yield await clusters.take();
  }
}

/** Order "series-time": series by their tags, each through all groups, oldest first. */
async function* orderedBatches(
  scan: ResolvedScan,
  opened: readonly OpenedFile[],
  groupStarts: readonly bigint[],
  wanted: WantedSeries,
  seen: Uint8Array | undefined,
): AsyncGenerator<ScanBatch> {
  const groups: Group[] = [];
  for (const base of groupStarts) groups.push(await openGroup(scan, opened, base, wanted, seen));
  let pending: PendingBatch | PendingClusters | undefined;
  for (const { group: number, run, cluster } of orderedUnits(groups, wanted.registry)) {
    const group = groups[number] as Group;
    const { assembler, runs } = group;
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
    const segment = segmentOf(runs, run);
    for (let at = segment.start; at < segment.end; ) {
      at = pending.add(segment, at);
      if (pending.isFull) yield await pending.take();
    }
  }
  if (pending !== undefined && pending.rowCount > 0) yield await pending.take();
}

interface Unit {
  readonly group: number;
  readonly rank: number;
  readonly first: number;
  readonly run: number;
  readonly cluster: readonly number[] | undefined;
}

function orderedUnits(groups: readonly Group[], registry: SeriesRegistry): Unit[] {
  const used = new Set<number>();
  for (const { runs, singles, clusters } of groups) {
    for (const i of singles) used.add(runs.series[i] as number);
    for (const cluster of clusters) used.add(runs.series[cluster[0] as number] as number);
  }
  const series = Uint32Array.from(used);
  const order = orderByTags(tagsOfSeries(registry, series));
  const rankOf = new Map<number, number>();
  for (let rank = 0; rank < order.length; rank++) rankOf.set(series[order[rank] as number] as number, rank);
  const units: Unit[] = [];
  for (let g = 0; g < groups.length; g++) {
    const { runs, singles, clusters } = groups[g] as Group;
    const unitOf = (run: number, cluster: readonly number[] | undefined): Unit => ({
      group: g,
      rank: rankOf.get(runs.series[run] as number) as number,
      first: cluster === undefined ? (runs.firsts[run] as number) : Math.min(...cluster.map((i) => runs.firsts[i] as number)),
      run,
      cluster,
    });
    for (const run of singles) units.push(unitOf(run, undefined));
    for (const cluster of clusters) units.push(unitOf(cluster[0] as number, cluster));
  }
  return units.sort((a, b) => a.rank - b.rank || a.group - b.group || a.first - b.first);
}

/** Segments gathered for the next batch. */
class PendingBatch {
  readonly assembler: Assembler;
  rowCount = 0;
  isFull = false;
  private segments: Segment[] = [];

  constructor(assembler: Assembler) {
    this.assembler = assembler;
  }

  /** Adds rows of a run from row `from` on, until the batch is full or the run ends. Returns the first row that was not looked at. */
  add({ source, series, end }: Segment, from: number): number {
    const rows = this.assembler.sources[source] as ScanSource;
    let at = from;
    while (at < end && !this.isFull) {
      const pageEnd = rows.pageEnd(at);
      const to = Math.min(end, pageEnd, at + BATCH_ROWS - this.rowCount);
      if (!rows.holdsNothing(at)) {
        this.segments.push({ source, series, start: at, end: to });
        this.rowCount += to - at;
        this.isFull = this.rowCount >= BATCH_ROWS || (to === pageEnd && this.rowCount >= BATCH_ROWS_AT_PAGE_END);
      }
      at = to;
    }
    return at;
  }

  take(): Promise<ScanBatch> {
    const segments = this.segments;
    this.segments = [];
    this.rowCount = 0;
    this.isFull = false;
    return assembleSegments(this.assembler, segments);
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
