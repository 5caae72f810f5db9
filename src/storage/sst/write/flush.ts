/**
 * Chunks in, sorted Parquet files out. Runs in a worker; knows nothing of regions.
 *
 *   chunks ─► group by 64 days ─► sort (series, time), drop duplicates ─► cut at windows ─► per file: move each column, encode, write
 *         '─► delete chunks: hide older rows here; what may hide rows of older files goes to the file of its window
 *
 * The memory on top of the chunks is one file's rows as columns plus 12 B a row.
 */
import { assert } from "../../../base/assert.ts";
import { failPoint } from "../../../base/process/fail-point.ts";
import type { TimeUnit } from "../../../column/data-type.ts";
import { type TextTable, textAt } from "../../../column/text-table.ts";
import type { ColumnInput, TagRuns } from "../../../format/parquet/types.ts";
import { type ColumnSchema, mergeModeOf, type TableSchema, timeIndexOf } from "../../../table/schema.ts";
import { floorTo } from "../../../value/civil.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import type { Chunk } from "../../memtable/chunk.ts";
import { addGroupStarts } from "../../memtable/chunk-groups.ts";
import type { TimeSpan } from "../../memtable/pick-rows.ts";
import { scatterColumn } from "../../memtable/scatter.ts";
import { scatterCoded } from "../../memtable/scatter-coded.ts";
import { DROPPED, type SortedRows, sortRows } from "../../memtable/sort-rows.ts";
import { LABELS_COLUMN_ID } from "../../series/label-set.ts";
import { orderByTags, type TagColumnView } from "../../series/series-ranks.ts";
import { ColumnScratch } from "./column-scratch.ts";
import type { DataFile } from "../data-file.ts";
import { DataFileWriter, fieldInput, tagInput } from "./data-file-writer.ts";
import { fileSchemaOf, labelInputs } from "../label-columns.ts";
import type { SeriesIndex } from "../series/series-index.ts";
import { FILES_PER_GROUP_MAX, groupLength, windowLengthFor, windowsBetween } from "../time-window.ts";
import { usedCodes } from "../series/used-codes.ts";

/** Work for a flush: everything a worker needs, cloneable between threads (chunk memory is shared, not copied). */
export interface FlushJob {
  readonly schema: TableSchema;
  /** Oldest first. */
  readonly chunks: readonly Chunk[];
  /** The tag columns of the table; series numbers of the chunks are below `seriesCount`. Shared with the thread that adds series. */
  readonly tags: readonly TagColumnView[];
  readonly seriesCount: number;
  /** In a shared region, ids of the tables that exist; rows of others are left out. Undefined: the region has one table. */
  readonly liveTables?: readonly string[] | undefined;
  /** Times of the table's files, inclusive: tombstones outside all of them hide nothing and are dropped. Absent: all are kept. */
  readonly older?: readonly Pick<DataFile, "minTime" | "maxTime">[];
  /** Ids for the new files, one after another: `filesOfFlushMax` of them. */
  readonly firstFileId: number;
  /** What the table's folder lies in (`tableFolder`). */
  readonly folder?: string | undefined;
}

/** Texts of the file being written; one in each thread. */
const scratch = new ColumnScratch();

/** Writes the job's rows to files and returns them once all are durable. On an error no file of the job stays. */
export async function flushChunks(job: FlushJob, store: FileStore): Promise<readonly DataFile[]> {
  const unit = unitOf(job.schema);
  const files: DataFile[] = [];
  try {
    failPoint("flush.job-begun");
    const keys = keyColumns(job);
    const order = orderByTags(usedSeries(job), keys);
    for (const start of groupStarts(job.chunks, unit)) {
      const sorted = sortGroup(job, order, start, unit);
      if (sorted.rowCount === 0 && sorted.tombstones === undefined) continue;
      await writeWindows(job, { keys, series: order, base: start }, sorted, unit, store, files);
    }
    failPoint("flush.job-done");
    return files;
  } catch (error) {
    // The first failure counts; a file that cannot be deleted either is one that nobody knows, and the next start deletes it.
    await Promise.allSettled(files.map((file) => store.delete(file.name)));
    throw error;
  }
}

/** Most files that a flush of these chunks makes. @param times of their rows; undefined: they have none */
export function filesOfFlushMax(schema: TableSchema, chunks: readonly Chunk[], times: TimeSpan | undefined): number {
  const unit = unitOf(schema);
  let rowCount = 0;
  // A range may cross windows, so it may be part of several files.
  for (const chunk of chunks) rowCount += chunk.deletes === true ? Number.POSITIVE_INFINITY : chunk.rowCount;
  const windows = times === undefined || rowCount === Number.POSITIVE_INFINITY ? rowCount : windowsBetween(times.min, times.max, unit);
  if (windows <= FILES_PER_GROUP_MAX) return windows;
  return Math.min(rowCount, groupStarts(chunks, unit).length * FILES_PER_GROUP_MAX);
}

function unitOf(schema: TableSchema): TimeUnit {
  const { type } = timeIndexOf(schema);
  assert(type.kind === "timestamp", `the time index is a timestamp; got ${type.kind}`);
  return type.unit;
}

/** Starts of the 64-day groups that the chunks touch, oldest first. */
function groupStarts(chunks: readonly Chunk[], unit: TimeUnit): bigint[] {
  const starts = new Set<bigint>();
  for (const chunk of chunks) addGroupStarts(chunk, groupLength(unit), starts);
  return [...starts].sort((a, b) => (a < b ? -1 : 1));
}

/** The columns of the primary key, in its order. */
function keyColumns({ schema, tags }: FlushJob): TagColumnView[] {
  return schema.primaryKey.map((name) => {
    const id = schema.columns.find((column) => column.name === name)?.id;
    const column = tags.find(({ columnId }) => columnId === id);
    assert(column !== undefined, `tag column ${name} comes with the job`);
    return column;
  });
}

/** The series that the chunks hold or delete rows of, ascending; without those of tables that are gone. */
function usedSeries({ chunks, seriesCount, tags, liveTables }: FlushJob): Uint32Array {
  const isUsed = new Uint8Array(seriesCount);
  for (const { series, rowCount } of chunks) for (let i = 0; i < rowCount; i++) isUsed[series[i] as number] = 1;
  if (liveTables !== undefined) leaveOutDropped(isUsed, tags[0] as TagColumnView, liveTables);
  let count = 0;
  for (let s = 0; s < seriesCount; s++) count += isUsed[s] as number;
  const used = new Uint32Array(count);
  for (let s = 0, at = 0; at < count; s++) if (isUsed[s] === 1) used[at++] = s;
  return used;
}

/** The first tag of a shared region is the id of the table. */
function leaveOutDropped(isUsed: Uint8Array, { codes, texts }: TagColumnView, liveTables: readonly string[]): void {
  const live = new Set<string | undefined>(liveTables);
  const isLive = new Uint8Array(texts.size);
  for (let code = 0; code < texts.size; code++) isLive[code] = live.has(textAt(texts, code)) ? 1 : 0;
  for (let s = 0; s < isUsed.length; s++) if (isLive[codes[s] as number] === 0) isUsed[s] = 0;
}

/** The rows of a group: buckets are the series of `order`. */
function sortGroup(job: FlushJob, order: Uint32Array, start: bigint, unit: TimeUnit): SortedRows {
  const bucketOfSeries = new Uint32Array(job.seriesCount).fill(DROPPED);
  for (let rank = 0; rank < order.length; rank++) bucketOfSeries[order[rank] as number] = rank;
  const selection = { base: start, minOffset: 0, maxOffset: groupLength(unit) - 1, bucketOfSeries, bucketCount: order.length };
  const sorted = sortRows(job.chunks, selection, mergeModeOf(job.schema));
  if (sorted.tombstones === undefined || job.older === undefined) return sorted;
  const older = job.older.map(({ minTime, maxTime }) => ({ min: clampedOffset(minTime - start), max: clampedOffset(maxTime - start) }));
  return { ...sorted, tombstones: sorted.tombstones.within(older) };
}

/** An offset that may lie out of the group, where it need not be exact. */
function clampedOffset(offset: bigint): number {
  return Math.max(-1, Math.min(Number(offset), Number.MAX_SAFE_INTEGER));
}

/** What buckets of sorted rows stand for, and what their times count from. */
interface SortedGroup {
  readonly keys: readonly TagColumnView[];
  /** Series of each bucket. */
  readonly series: Uint32Array;
  readonly base: bigint;
}

async function writeWindows(
  job: FlushJob,
  group: SortedGroup,
  sorted: SortedRows,
  unit: TimeUnit,
  store: FileStore,
  files: DataFile[],
): Promise<void> {
  const { base: groupStart } = group;
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  const { times, tombstones } = sorted;
  for (let i = 0; i < times.length; i++) {
    const time = times[i] as number;
    if (time < min) min = time;
    if (time > max) max = time;
  }
  const deleted = tombstones?.range();
  if (deleted !== undefined) [min, max] = [Math.min(min, deleted.min), Math.max(max, deleted.max)];
  if (min > max) return; // All rows were deleted, and nothing older is there to be hidden.
  const length = windowLengthFor(groupStart + BigInt(min), groupStart + BigInt(max), unit);
  const first = Number(floorTo(groupStart + BigInt(min), BigInt(length)) - groupStart);
  for (let windowStart = first; windowStart <= max; windowStart += length) {
    const rows = windowStart + length > max && windowStart <= min ? sorted : cutWindow(sorted, windowStart, windowStart + length);
    if (rows.rowCount === 0 && rows.tombstones === undefined) continue;
    files.push(await writeFile(job, group, rows, job.firstFileId + files.length, store));
    failPoint("flush.file-made");
  }
}

/** The rows of `sorted` with `start <= time < end`, in the same order, and its tombstones there. */
function cutWindow(sorted: SortedRows, start: number, end: number): SortedRows {
  const positionOf = new Uint32Array(sorted.rowCount).fill(DROPPED);
  const runBuckets: number[] = [];
  const runStarts: number[] = [];
  let out = 0;
  for (let run = 0; run < sorted.runBuckets.length; run++) {
    const runStart = out;
    const runEnd = sorted.runStarts[run + 1] as number;
    for (let i = sorted.runStarts[run] as number; i < runEnd; i++) {
      const time = sorted.times[i] as number;
      if (time >= start && time < end) positionOf[i] = out++;
    }
    if (out === runStart) continue;
    runBuckets.push(sorted.runBuckets[run] as number);
    runStarts.push(runStart);
  }
  runStarts.push(out);
  const times = new Float64Array(out);
  for (let i = 0; i < positionOf.length; i++) {
    const position = positionOf[i] as number;
    if (position !== DROPPED) times[position] = sorted.times[i] as number;
  }
  const chunks = sorted.chunks.map(({ chunk, rows, positions }) => ({
    chunk,
    rows,
    positions: positions.map((position) => (position === DROPPED ? DROPPED : (positionOf[position] as number))),
  }));
  const tombstones = sorted.tombstones?.within([{ min: start, max: end - 1 }]);
  return { rowCount: out, chunks, times, runBuckets: Uint32Array.from(runBuckets), runStarts: Uint32Array.from(runStarts), tombstones };
}

async function writeFile(job: FlushJob, group: SortedGroup, sorted: SortedRows, id: number, store: FileStore): Promise<DataFile> {
  const index = indexOf(group, sorted);
  const labels = labelsOf(index);
  const schema = fileSchemaOf(job.schema, new Set(labels.keys()));
  let sequence = 0;
  for (const { chunk } of sorted.chunks) sequence = Math.max(sequence, chunk.sequence);
  if (sorted.tombstones !== undefined) for (const chunk of job.chunks) sequence = Math.max(sequence, chunk.sequence);
  const writer = await DataFileWriter.create(schema, id, store, job.folder);
  try {
    if (sorted.rowCount > 0) {
      scratch.begin();
      writer.append(sorted.rowCount, columnInputs(schema, index, labels, group.base, sorted), index.ends);
      scratch.end();
    }
    const { tombstones } = sorted;
    return await writer.finish(index, sequence, tombstones === undefined ? undefined : { set: tombstones, tags: group.keys });
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Label columns that the rows have; none where series know their tags one by one. */
function labelsOf({ columnIds, dictionaries, codes, ends }: SeriesIndex): ReadonlyMap<number, TagRuns> {
  const position = columnIds.indexOf(LABELS_COLUMN_ID);
  return position < 0 ? new Map() : labelInputs(dictionaries[position] as TextTable, codes[position] as Uint32Array, ends);
}

function columnInputs(
  schema: TableSchema,
  index: SeriesIndex,
  labels: ReadonlyMap<number, TagRuns>,
  base: bigint,
  sorted: SortedRows,
): ColumnInput[] {
  return schema.columns.map((column) => {
    if (column.semantic === "timestamp") return { kind: "time", base, offsets: sorted.times, validity: undefined };
    if (column.semantic === "field") return fieldOf(sorted, column);
    const label = labels.get(column.id);
    if (label !== undefined) return label;
    const position = index.columnIds.indexOf(column.id);
    assert(position >= 0, `tag column ${column.name} is part of the series index`);
    return tagInput(column.type, index.dictionaries[position] as TextTable, index.codes[position] as Uint32Array, index.ends);
  });
}

/** The values of a field; as codes where each request says the same of all its rows, and no index asks for the values. */
function fieldOf(sorted: SortedRows, { id, type, former, indexes }: ColumnSchema): ColumnInput {
  const isText = type.kind === "string" || type.kind === "json";
  const coded = isText && (indexes ?? []).length === 0 ? scatterCoded(sorted, id) : undefined;
  return coded ?? fieldInput(scatterColumn(sorted, id, type, former, scratch.take), sorted.rowCount);
}

/** The series index of the rows, with only the tag values that occur. */
function indexOf({ keys, series, base }: SortedGroup, sorted: SortedRows): SeriesIndex {
  const runCount = sorted.runBuckets.length;
  const runSeries = sorted.runBuckets.map((bucket) => series[bucket] as number);
  const columns = keys.map(({ codes, texts }) => usedCodes(runSeries, codes, texts));
  const firstTimes = new Float64Array(runCount);
  const lastTimes = new Float64Array(runCount);
  for (let run = 0; run < runCount; run++) {
    firstTimes[run] = sorted.times[sorted.runStarts[run] as number] as number;
    lastTimes[run] = sorted.times[(sorted.runStarts[run + 1] as number) - 1] as number;
  }
  return {
    columnIds: keys.map(({ columnId }) => columnId),
    dictionaries: columns.map(({ texts }) => texts),
    codes: columns.map(({ codes }) => codes),
    ends: sorted.runStarts.slice(1),
    timeBase: base,
    firstTimes,
    lastTimes,
  };
}
