/**
 * One table's rows: the memtable being written, memtables being flushed, files, and the series they share.
 *
 *   build ─► log ─► publish ─► active ──freeze──► frozen ──flush──► files
 *
 * Readers take a `Snapshot`, which keeps memory and files in use until it is released, so writes, flushes and drops go on beside them.
 * Invariant: for equal rows, files are older than frozen memtables, those older than the active one; each list is oldest first.
 */
import type { Clock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Scalar } from "../../column/vector.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { FileStore } from "../file-store/file-store.ts";
import type { Arena, SlabPool } from "../memtable/arena.ts";
import type { Chunk, ChunkColumn } from "../memtable/chunk.ts";
import { buildChunk, type ChunkSource } from "../memtable/chunk-builder.ts";
import { Memtable } from "../memtable/memtable.ts";
import type { MemoryLease } from "../memtable/memory-lease.ts";
import type { MemtableView, TimeSpan } from "../memtable/pick-rows.ts";
import { SeriesRegistry } from "../series/series-registry.ts";
import { buildDeleteChunk, type DeleteSource } from "../tombstone/delete-chunk.ts";
import { compareFiles, type DataFile, tableFolder } from "../sst/data-file.ts";
import type { FlushJob } from "../sst/flush.ts";
import { startOfRun } from "../sst/series-sections.ts";
import { SstFile } from "../sst/sst-file.ts";
import { initialValueOf } from "./default-value.ts";
import type { SharedTables } from "./shared-tables.ts";

/** What a scan reads. */
export interface Snapshot {
  /** Oldest first, as are their chunks. */
  readonly memtables: readonly MemtableView[];
  readonly files: readonly SstFile[];
  /** Ends the use; call exactly once. */
  release(): Promise<void>;
}

/** A chunk that is built and not yet visible. Exactly one of the two calls follows. */
export interface PreparedChunk {
  readonly chunk: Chunk;
  publish(): void;
  abandon(): void;
}

/** Rows that are no longer part of their table. */
export interface TakenRows {
  /** Gives back their memory and files, as soon as the log and readers no longer need them. Call exactly once, after flushes of them. */
  end(): Promise<void>;
}

/** What a region works with. */
export interface RegionParts {
  readonly pool: SlabPool;
  readonly store: FileStore;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Whether rows come in the order of their sequences, so that small chunks may be joined; by default they do. */
  readonly mayJoin?: () => boolean;
}

export class Region {
  readonly registry: SeriesRegistry;
  schemaNow: TableSchema;
  /** Sequence up to which all rows are in files. */
  flushedSequence: number;
  /** Set where several logical tables share the region. */
  sharedBy: SharedTables | undefined;
  private readonly pool: SlabPool;
  private readonly store: FileStore;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly mayJoin: () => boolean;
  private active: Memtable;
  private frozen: Memtable[] = [];
  private files: SstFile[] = [];
  /** Fields that rows older than them take a default for. */
  private defaulted: readonly ColumnSchema[] = [];
  private readers = 0;
  private isDropped = false;

  constructor(schema: TableSchema, files: readonly DataFile[], flushedSequence: number, parts: RegionParts) {
    this.mayJoin = parts.mayJoin ?? (() => true);
    this.pool = parts.pool;
    this.store = parts.store;
    this.clock = parts.clock;
    this.logger = parts.logger ?? silentLogger;
    this.schemaNow = schema;
    this.flushedSequence = flushedSequence;
    this.registry = new SeriesRegistry(schema.name);
    this.active = new Memtable(parts.pool, this.mayJoin);
    this.setSchema(schema);
    this.files = files.map((file) => this.opened(file));
  }

  /** Takes a new version of the schema. Rows in memory get the defaults of its new fields; those in files get them when they are read. */
  setSchema(schema: TableSchema): void {
    this.schemaNow = schema;
    const tags = schema.primaryKey.flatMap((name) => schema.columns.find((column) => column.name === name) ?? []);
    this.registry.setColumns(tags);
    this.defaulted = schema.columns.filter((column) => column.semantic === "field" && (column.initial ?? column.default) !== undefined);
    if (this.defaulted.length === 0) return;
    for (const { chunks } of [...this.frozen, this.active]) {
      for (const [i, chunk] of chunks.entries()) chunks[i] = this.withDefaults(chunk);
    }
  }

  /** Bytes of the rows in the memtable being written. */
  get activeBytes(): number {
    return this.active.rowBytes;
  }

  /** Deleted stretches in the memtable being written. */
  get activeDeletes(): number {
    return this.active.deleteCount;
  }

  /** Whether a memtable waits for its flush, or for the next try after a failed one. */
  get hasFrozen(): boolean {
    return this.frozen.length > 0;
  }

  /** Memory of all memtables. */
  get memoryBytes(): number {
    let bytes = this.active.bytes;
    for (const memtable of this.frozen) bytes += memtable.bytes;
    return bytes;
  }

  /** When the oldest row that is only in memory was written, monotonic milliseconds; undefined when there is none. */
  get oldestWriteMillis(): number | undefined {
    const oldest = this.frozen[0] ?? this.active;
    return oldest.bytes === 0 ? undefined : oldest.firstWriteMillis;
  }

  get rowCount(): number {
    let count = this.active.rowCount;
    for (const memtable of this.frozen) count += memtable.rowCount;
    for (const file of this.files) count += file.meta.rowCount;
    return count;
  }

  /** Series known so far: those of files of which only some tables were opened are counted, if the files are like each other. */
  get seriesCount(): number {
    let count = this.registry.count;
    for (const { runCount } of this.files) if (runCount > count) count = runCount;
    return count;
  }

  /** The files now, oldest first. */
  get dataFiles(): readonly DataFile[] {
    return this.files.map((file) => file.meta);
  }

  /** Times of the rows in memory, a span a memtable. */
  get memorySpans(): readonly TimeSpan[] {
    return [...this.frozen, this.active].flatMap(({ times }) => times ?? []);
  }

  /** Copies rows into the active memtable; they are visible after `publish`. */
  prepare(source: ChunkSource): PreparedChunk {
    return this.prepareOn((arena) => buildChunk(source, arena));
  }

  /** Copies what a DELETE names into the active memtable; rows older than it are hidden after `publish`. */
  prepareDelete(source: DeleteSource): PreparedChunk {
    return this.prepareOn((arena) => buildDeleteChunk(source, arena));
  }

  /**
   * Takes a chunk that was read back from the log, in any order until `endRestore`; `place` puts it on the memtable's memory, or gives
   * nothing if it cannot be used.
   */
  restore(place: (memtable: Memtable) => Chunk | undefined): void {
    const { active } = this;
    active.reserve(this.clock.monotonicMillis());
    const chunk = place(active);
    if (chunk === undefined) active.abandon();
    else active.restore(this.withDefaults(chunk));
  }

  /** Ends the time of `restore`. */
  endRestore(): void {
    this.active.sort();
  }

  /**
   * Ends the active memtable and starts another. Returns undefined when there is nothing to flush.
   * The job may be asked for once `whenSettled` has resolved and every other thread has said what it did up to `sealedSequence`.
   *
   * @param sealedSequence the newest sequence that was given out: the rows up to it belong in the frozen memtable, also those that other
   *   threads tell of later
   * @param isShared whether other threads write: then rows may be under way that nothing here knows of
   */
  freeze(sealedSequence: number, isShared: boolean): Memtable | undefined {
    const memtable = this.active;
    // One that only failed writes used holds memory without rows: it goes the same way.
    if (memtable.bytes === 0 && !isShared) return undefined;
    this.active = new Memtable(this.pool, this.mayJoin);
    memtable.sealedSequence = sealedSequence;
    this.frozen.push(memtable);
    return memtable;
  }

  /**
   * Takes a chunk that another thread wrote to its log and that is durable, or, without a chunk, the memory of writes that failed. The
   * chunk finds its place by its sequence; it is dropped when rows of its sequence were truncated meanwhile.
   *
   * @param bytes what the thread took for this table since it last said so
   */
  adopt(sequence: number, chunk: Chunk | undefined, lease: MemoryLease, bytes: number): void {
    const memtable = this.frozen.find(({ sealedSequence }) => sequence <= sealedSequence) ?? this.active;
    memtable.lease(lease, bytes, this.clock.monotonicMillis());
    if (chunk !== undefined && sequence > this.flushedSequence) memtable.adopt(this.withDefaults(chunk));
  }

  /** The frozen memtable that must be flushed next. */
  oldestFrozen(): Memtable | undefined {
    return this.frozen[0];
  }

  /** What a worker needs to write a frozen memtable to files. */
  flushJob(memtable: Memtable, firstFileId: number): FlushJob {
    memtable.close();
    const { registry } = this;
    return {
      schema: this.schemaNow,
      chunks: memtable.chunks,
      tags: registry.view(),
      seriesCount: registry.count,
      liveTables: this.sharedBy?.liveIds(),
      older: this.files.map(({ meta: { minTime, maxTime } }) => ({ minTime, maxTime })),
      firstFileId,
    };
  }

  /** Replaces the oldest frozen memtable by the files that hold its rows. */
  finishFlush(memtable: Memtable, files: readonly DataFile[], sequence: number): void {
    this.frozen = this.frozen.filter((other) => other !== memtable);
    for (const file of files) this.files.push(this.opened(file));
    this.markFlushed(sequence);
    memtable.release();
  }

  /** Whether all of these files are still the table's. */
  hasFiles(files: readonly DataFile[]): boolean {
    const ids = new Set(this.files.map(({ meta }) => meta.id));
    return files.every(({ id }) => ids.has(id));
  }

  /** Rows of each file that are of series which `isWanted` accepts. All files are opened. @throws DbError StorageUnavailable */
  async countRows(cache: PageCache, isWanted: (series: number) => boolean): Promise<Map<DataFile, number>> {
    const counts = new Map<DataFile, number>();
    const snapshot = this.snapshot();
    try {
      for (const file of snapshot.files) {
        const { index, series } = await file.open(this.registry, cache);
        let rows = 0;
        for (let run = 0; run < series.length; run++) {
          if (isWanted(series[run] as number)) rows += (index.ends[run] as number) - startOfRun(index, run);
        }
        counts.set(file.meta, rows);
      }
    } finally {
      await snapshot.release();
    }
    return counts;
  }

  /** Keeps the files and their folder in place until the returned function is called, once, whatever is dropped meanwhile. */
  retainFiles(): () => Promise<void> {
    const files = [...this.files];
    for (const file of files) file.retain();
    this.readers++;
    return async () => {
      for (const file of files) await file.release();
      this.readers--;
      await this.deleteFolderIfUnused();
    };
  }

  /**
   * Puts files in the place of others that hold the same rows. New scans see the new list at once. Returns what takes the old files away:
   * each is deleted once the last scan of it ends. Call it when the change is durable.
   */
  replaceFiles(old: readonly DataFile[], made: readonly DataFile[]): () => Promise<void> {
    const ids = new Set(old.map(({ id }) => id));
    const gone = this.files.filter(({ meta }) => ids.has(meta.id));
    const kept = this.files.filter(({ meta }) => !ids.has(meta.id));
    const added = made.map((file) => this.opened(file));
    this.files = [...kept, ...added].sort((a, b) => compareFiles(a.meta, b.meta));
    return async () => {
      for (const file of gone) await file.drop();
    };
  }

  /** Says that no row up to `sequence` is only in memory. */
  markFlushed(sequence: number): void {
    this.flushedSequence = Math.max(this.flushedSequence, sequence);
  }

  /** Takes everything a reader needs and keeps it in use. */
  snapshot(): Snapshot {
    const memtables = [...this.frozen, this.active];
    const files = [...this.files];
    for (const memtable of memtables) memtable.retain();
    for (const file of files) file.retain();
    this.readers++;
    return {
      memtables: memtables.filter(({ chunks }) => chunks.length > 0).map((memtable) => memtable.view()),
      files,
      release: async () => {
        for (const memtable of memtables) memtable.release();
        for (const file of files) await file.release();
        this.readers--;
        await this.deleteFolderIfUnused();
      },
    };
  }

  /**
   * Takes files away and, with a `sequence`, all rows in memory, which are those up to it. Rows under way (built, not yet published) are
   * among them.
   */
  takeAway(files: readonly DataFile[], sequence: number | undefined): TakenRows {
    const names = new Set(files.map(({ name }) => name));
    const dropped = this.files.filter(({ meta }) => names.has(meta.name));
    this.files = this.files.filter(({ meta }) => !names.has(meta.name));
    const memtables = sequence === undefined ? [] : [...this.frozen, this.active];
    if (sequence !== undefined) {
      this.frozen = [];
      this.active = new Memtable(this.pool, this.mayJoin);
      this.markFlushed(sequence);
    }
    return {
      end: async () => {
        for (const memtable of memtables) {
          await memtable.whenSettled();
          memtable.release();
        }
        for (const file of dropped) await file.drop();
      },
    };
  }

  /** Ends the use of all memory and closes all files; with `deleteFiles` they and their folder are deleted once no reader is left. */
  async close(deleteFiles: boolean): Promise<void> {
    const files = this.files;
    this.files = [];
    for (const memtable of [...this.frozen, this.active]) {
      await memtable.whenSettled(); // The log may still be reading its memory.
      memtable.release();
    }
    this.frozen = [];
    this.active = new Memtable(this.pool, this.mayJoin);
    for (const file of files) await (deleteFiles ? file.drop() : file.release());
    this.isDropped = deleteFiles;
    await this.deleteFolderIfUnused();
  }

  private async deleteFolderIfUnused(): Promise<void> {
    if (this.isDropped && this.readers === 0) await this.store.deleteFolder(tableFolder(this.schemaNow.id));
  }

  private prepareOn(build: (arena: Arena) => Chunk): PreparedChunk {
    const memtable = this.active;
    memtable.reserve(this.clock.monotonicMillis());
    try {
      return this.prepared(memtable, build(memtable.arena));
    } catch (error) {
      memtable.abandon();
      throw error;
    }
  }

  private opened(file: DataFile): SstFile {
    return new SstFile(file, this.store, (why) => this.logger.warn({ table: this.schemaNow.name, file: file.name }, why));
  }

  private prepared(memtable: Memtable, chunk: Chunk): PreparedChunk {
    return {
      chunk,
      publish: () => memtable.publish(this.withDefaults(chunk)),
      abandon: () => memtable.abandon(),
    };
  }

  /**
   * The chunk with values for fields that are younger than it. A write that leaves out a field with a default has its value already, so
   * only rows from before the field was added are without.
   */
  private withDefaults(chunk: Chunk): Chunk {
    if (chunk.deletes === true) return chunk;
    const added: ChunkColumn[] = [];
    for (const column of this.defaulted) {
      const isOf = (columnId: number): boolean => columnId === column.id || column.former?.some(({ id }) => id === columnId) === true;
      if (chunk.columns.some(({ columnId }) => isOf(columnId))) continue;
      const value = initialValueOf(column, this.clock);
      if (value === undefined) continue;
      const vector = vectorOf(column.type, new Array<Scalar>(chunk.rowCount).fill(value));
      if (vector.kind !== "dictionary") added.push({ columnId: column.id, data: vector });
    }
    return added.length === 0 ? chunk : { ...chunk, columns: [...chunk.columns, ...added] };
  }
}
