/**
 * Files in, one file out: a scan in the order of (tags, time) over the inputs, gathered to row groups. Runs in a worker; knows nothing of
 * regions.
 *
 *   inputs ─► scanRows (merge mode, current schema) ─► batches ─► row group (1M rows or 64 MiB) ─► DataFileWriter
 *
 * Memory: decoded pages of the inputs (`PAGE_CACHE_BYTES_MAX`), one row group as columns and once more while it is joined, and the series.
 */
import { assert } from "../../base/assert.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import type { ScanRequest } from "../../table/scan.ts";
import { ALL_TIME } from "../../table/scan.ts";
import { type ColumnSchema, mergeModeOf, type TableSchema, timeIndexOf } from "../../table/schema.ts";
import { TABLE_ID_COLUMN } from "../../table/metric.ts";
import { PageCache } from "../cache/page-cache.ts";
import type { FileStore } from "../file-store/file-store.ts";
import type { OutputColumn } from "../scan/merge/assemble.ts";
import { ConstantColumn } from "../scan/runs/constant-column.ts";
import { scanRows } from "../scan/scan.ts";
import { LABELS_COLUMN_ID } from "../series/label-set.ts";
import { SeriesRegistry } from "../series/series-registry.ts";
import type { DataFile } from "../sst/data-file.ts";
import { DataFileWriter, type TaggedTombstones } from "../sst/write/data-file-writer.ts";
import { fileSchemaOf, labelIdsOf } from "../sst/label-columns.ts";
import { SstFile } from "../sst/read/sst-file.ts";
import { groupStartOf } from "../sst/time-window.ts";
import { TombstoneBuilder } from "../tombstone/tombstone-builder.ts";
import { RowGroupBuilder } from "./row-group-builder.ts";
import { SeriesIndexBuilder } from "./series-index-builder.ts";

/** Work for a compaction: everything a worker needs, cloneable between threads. */
export interface MergeJob {
  readonly schema: TableSchema;
  /** Oldest first, all within one 64-day window. They stay in place until the job ends. */
  readonly inputs: readonly DataFile[];
  /** What fields hold in rows that are older than them; a field that is not named holds NULL there. */
  readonly defaults: readonly { readonly columnId: number; readonly value: Scalar }[];
  /** Rows before this time are left out, in the unit of the time index. */
  readonly minTime: bigint | undefined;
  /** In a shared region, ids of the tables that exist; rows of others are left out. Undefined: the region has one table. */
  readonly liveTables?: readonly string[] | undefined;
  /** Times of older files that stay, inclusive: tombstones within them are kept, all others have done their work. */
  readonly older: readonly Pick<DataFile, "minTime" | "maxTime">[];
  readonly fileId: number;
  /** What the table's folder lies in (`tableFolder`). */
  readonly folder?: string | undefined;
}

/**
 * Bytes of decoded pages of the inputs that are kept: each is read once, in order, so a page a column and file, and the one after it, are
 * enough. The least is for pages of long texts, the most for very many columns. Six files of 11 columns: 64 MiB of pages before, 17 now.
 */
const PAGE_CACHE_BYTES_MIN = 16 * 1024 * 1024;
const PAGE_CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** Two pages of 16,384 values of 8 bytes. */
const PAGE_CACHE_BYTES_PER_COLUMN = 256 * 1024;

/**
 * Rows after which memory is collected. Reason: pages and batches leave arrays that the collector sees too late. The lighter form is for
 * these; the other one, after each row group, also gives the memory back at once, but throws compiled code away: merging 19.2M samples of
 * eight files took 3.2 s of processor time with it alone, every 262,144 rows, 2.15 s with the lighter one alone, and 2.45 s like this, in
 * 341, 469 and 367 MiB.
 */
const ROWS_PER_COLLECTION = 131_072;

/**
 * Writes the rows of the inputs to one file and returns it once it is durable; undefined when no row and no tombstone is left. On an error
 * no file stays.
 *
 * @throws DbError StorageUnavailable
 */
export async function mergeFiles(job: MergeJob, store: FileStore): Promise<DataFile | undefined> {
  failPoint("compact.job-begun");
  const files = job.inputs.map((file) => new SstFile(file, store));
  try {
    const made = await mergeOpened(job, files, store);
    failPoint("compact.job-done");
    return made;
  } finally {
    for (const file of files) await file.release();
  }
}

async function mergeOpened(job: MergeJob, files: readonly SstFile[], store: FileStore): Promise<DataFile | undefined> {
  const { schema } = job;
  const time = timeIndexOf(schema);
  assert(time.type.kind === "timestamp", `the time index is a timestamp; got ${time.type.kind}`);
  const registry = new SeriesRegistry(schema.name);
  const tags = schema.primaryKey.flatMap((name) => schema.columns.find((column) => column.name === name) ?? []);
  registry.setColumns(tags);
  const cache = new PageCache(pageCacheBytes(job));
  const bareSeconds = await bareSecondsOf(job, files, registry, cache);
  const base = groupStartOf(job.inputs[0]?.minTime ?? 0n, time.type.unit);
  const index = new SeriesIndexBuilder(registry, base);
  const request: ScanRequest = {
    projection: [],
    timeRange: { ...ALL_TIME, ...(job.minTime === undefined ? {} : { start: job.minTime }) },
    tagPredicates: job.liveTables === undefined ? [] : [{ kind: "in", column: TABLE_ID_COLUMN, values: job.liveTables }],
    fieldBounds: [],
    order: "series-time",
  };
  const fileSchema = fileSchemaOf(schema, await labelsOf(files, registry, cache));
  const writer = await DataFileWriter.create(fileSchema, job.fileId, store, job.folder, bareSeconds);
  try {
    const group = new RowGroupBuilder(fileSchema, registry, base);
    const batches = scanRows({
      memtables: [],
      files,
      registry,
      cache,
      mergeMode: mergeModeOf(schema),
      timeUnit: time.type.unit,
      timeColumnId: time.id,
      output: outputOf(schema, job.defaults),
      conditions: [],
      request,
      metrics: undefined,
    });
    let sinceCollection = 0;
    for await (const { rowCount, vectors, runs } of batches) {
      index.add(runs, timesOf(vectors, schema));
      group.add(rowCount, vectors, runs);
      sinceCollection += rowCount;
      const { isFull } = group;
      if (isFull) group.writeTo(writer);
      else if (sinceCollection < ROWS_PER_COLLECTION) continue;
      sinceCollection = 0;
      Bun.gc(isFull);
    }
    if (group.rowCount > 0) group.writeTo(writer);
    const tombstones = await tombstonesLeft(job, files, registry, cache, base);
    if (index.rowCount > 0 || tombstones !== undefined) {
      return await writer.finish(index.finish(), Math.max(...job.inputs.map(({ sequence }) => sequence)), tombstones);
    }
    await writer.abort();
    return undefined;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

function pageCacheBytes({ schema, inputs }: MergeJob): number {
  const bytes = schema.columns.length * inputs.length * PAGE_CACHE_BYTES_PER_COLUMN;
  return Math.min(PAGE_CACHE_BYTES_MAX, Math.max(PAGE_CACHE_BYTES_MIN, bytes));
}

/** What the inputs delete of older files that stay. */
async function tombstonesLeft(
  job: MergeJob,
  files: readonly SstFile[],
  registry: SeriesRegistry,
  cache: PageCache,
  base: bigint,
): Promise<TaggedTombstones | undefined> {
  if (job.older.length === 0) return undefined;
  const builder = new TombstoneBuilder(base);
  for (const file of files) {
    const { tombstones } = await file.open(registry, cache);
    if (tombstones !== undefined) builder.addSet(tombstones, 0);
  }
  const spans = job.older.map(({ minTime, maxTime }) => ({ min: Number(minTime - base), max: Number(maxTime - base) }));
  const set = builder.finish()?.within(spans);
  return set === undefined ? undefined : { set, tags: registry.view() };
}

/** All columns but tags, which the runs give. */
function outputOf(schema: TableSchema, defaults: MergeJob["defaults"]): OutputColumn[] {
  const missing = new Map(defaults.map(({ columnId, value }) => [columnId, value]));
  return schema.columns.flatMap((column): OutputColumn[] => {
    if (column.semantic === "tag") return [];
    if (column.semantic === "timestamp") return [{ kind: "time" }];
    const value = missing.get(column.id);
    const constant = value === undefined ? undefined : new ConstantColumn(column.type, value);
    return [{ kind: "field", column: { id: column.id, type: column.type, missing: constant, former: column.former } }];
  });
}

function timesOf(vectors: readonly Vector[], schema: TableSchema): Vector {
  const at = schema.columns.filter(({ semantic }) => semantic !== "tag").findIndex(({ semantic }) => semantic === "timestamp");
  const times = vectors[at];
  assert(times !== undefined, "a scan answers the columns that it was asked for");
  return times;
}

/** Label columns that a row of the inputs has; none where series know their tags one by one. */
async function labelsOf(files: readonly SstFile[], registry: SeriesRegistry, cache: PageCache): Promise<ReadonlySet<number>> {
  const position = registry.positionOf(LABELS_COLUMN_ID);
  if (position < 0) return new Set();
  for (const file of files) await file.open(registry, cache);
  return labelIdsOf(registry.textsAt(position));
}

/** Columns whose seconds do not fit milliseconds in one of the inputs, or in rows that take the default. */
async function bareSecondsOf(
  job: MergeJob,
  files: readonly SstFile[],
  registry: SeriesRegistry,
  cache: PageCache,
): Promise<ReadonlySet<number>> {
  const columns = job.schema.columns.filter(isSeconds);
  const bare = new Set<number>();
  if (columns.length === 0) return bare;
  for (const { columnId, value } of job.defaults) {
    if (columns.some(({ id }) => id === columnId) && typeof value === "bigint" && BigInt.asIntN(64, value * 1000n) !== value * 1000n) {
      bare.add(columnId);
    }
  }
  for (const file of files) {
    const sst = await file.open(registry, cache);
    for (const { id, former } of columns) {
      const isCast = former !== undefined && sst.columnOf(id) < 0; // What comes out of a cast is not known yet.
      if (isCast || sst.parquet.columns[sst.columnOf(id)]?.bareSeconds === true) bare.add(id);
    }
  }
  return bare;
}

function isSeconds({ type }: ColumnSchema): boolean {
  return (type.kind === "timestamp" || type.kind === "duration") && type.unit === "second";
}
