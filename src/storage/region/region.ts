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
import type { TimeRange } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import type { PageCache } from "../cache/page-cache.ts";
import type { FileStore, HeldFiles, NamedFile } from "../file-store/file-store.ts";
import type { Arena, SlabPool } from "../memtable/arena.ts";
import type { Chunk } from "../memtable/chunk.ts";
import { buildChunk, type ChunkSource } from "../memtable/chunk-builder.ts";
import { Memtable } from "../memtable/memtable.ts";
import type { MemoryLease } from "../memtable/memory-lease.ts";
import type { MemtableView, TimeSpan } from "../memtable/pick-rows.ts";
import type { SeriesRegistry, SeriesRoom } from "../series/series-registry.ts";
import { buildDeleteChunk, type DeleteSource } from "../memtable/delete-chunk.ts";
import { compareFiles, type DataFile, tableFolder } from "../sst/data-file.ts";
import type { FlushJob } from "../sst/write/flush.ts";
import { startOfRun } from "../sst/series/series-sections.ts";
import { SstFile } from "../sst/read/sst-file.ts";
import { Overwrites } from "./overwrites.ts";
import type { PreparedChunk } from "./prepared-chunk.ts";
import { SeriesNumbers } from "./series-numbers.ts";
import type { SharedTables } from "./shared-tables.ts";
import { YoungerFields } from "./younger-fields.ts";

/** What a scan reads. */
export interface Snapshot {
  /** Oldest first, as are their chunks. */
  readonly memtables: readonly MemtableView[];
  readonly files: readonly SstFile[];
  /** Ends the use; call exactly once. */
  release(): Promise<void>;
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
  /** Whether there is memory for new series; by default there is. */
  readonly seriesRoom?: SeriesRoom;
  /** What its folder lies in (`tableFolder`). */
  readonly folder?: string | undefined;
}

/** Of stores whose files are local. */
const ALWAYS_THERE: HeldFiles = { release: () => undefined };

export class Region {
  schemaNow: TableSchema;
  /** Sequence up to which all rows are in files. */
  flushedSequence: number;
  /** Set where several logical tables share the region. */
  sharedBy: SharedTables | undefined;
  /** What its folder lies in. */
  readonly folder: string | undefined;
  private readonly pool: SlabPool;
  private readonly store: FileStore;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly mayJoin: () => boolean;
  private active: Memtable;
  private frozen: Memtable[] = [];
  private files: SstFile[] = [];
  private younger: YoungerFields;
  /** Rows that are built and not yet published or abandoned, under the numbers of now. */
  private readonly underWay: Set<() => Chunk> = new Set();
  private readonly watches: Set<Overwrites> = new Set();
  private readers = 0;
  private isDropped = false;
  private isClosed = false;
  private readonly numbers: SeriesNumbers;

  constructor(schema: TableSchema, files: readonly DataFile[], flushedSequence: number, parts: RegionParts) {
    this.mayJoin = parts.mayJoin ?? (() => true);
    this.folder = parts.folder;
    this.pool = parts.pool;
    this.store = parts.store;
    this.clock = parts.clock;
    this.logger = parts.logger ?? silentLogger;
    this.schemaNow = schema;
    this.flushedSequence = flushedSequence;
    this.numbers = new SeriesNumbers(schema.name, parts.seriesRoom);
    this.younger = new YoungerFields(schema, parts.clock);
    this.active = new Memtable(parts.pool, this.mayJoin);
    this.setSchema(schema);
    this.files = files.map((file) => this.opened(file));
  }

  /** Takes a new version of the schema. Rows in memory get the defaults of its new fields; those in files get them when they are read. */
  setSchema(schema: TableSchema): void {
    this.schemaNow = schema;
    const tags = schema.primaryKey.flatMap((name) => schema.columns.find((column) => column.name === name) ?? []);
    this.numbers.setColumns(tags);
    this.younger = new YoungerFields(schema, this.clock);
    if (this.younger.isEmpty) return;
    for (const { chunks } of [...this.frozen, this.active]) {
      for (const [i, chunk] of chunks.entries()) chunks[i] = this.younger.completed(chunk);
    }
  }

  /** The series, under the numbers that rows in memory have now. */
  get registry(): SeriesRegistry {
    return this.numbers.now;
  }

  /** Bytes of the rows in the memtable being written. */
  get activeBytes(): number {
    return this.active.rowBytes;
  }

  /** Deleted ranges in the memtable being written. */
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
    const prepared = this.prepareOn((arena) => buildChunk(source, arena));
    for (const watch of this.watches) watch.add(prepared.chunk);
    return prepared;
  }

  /** Begins to watch which rows of some times are written. Those under way have a sequence already and are among them. To be ended. */
  watchOverwrites(range: TimeRange): Overwrites {
    const watch = new Overwrites(range, (ended) => this.watches.delete(ended));
    for (const current of this.underWay) watch.add(current());
    this.watches.add(watch);
    return watch;
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
    else active.restore(this.younger.completed(chunk));
  }

  /**
   * Takes a chunk that others wrote to a log and that is durable, in the order of the log; `place` puts it on the memtable's memory.
   *
   * @throws what `place` throws; nothing is taken then
   */
  follow(place: (memtable: Memtable) => Chunk): void {
    const { active } = this;
    active.reserve(this.clock.monotonicMillis());
    let chunk: Chunk;
    try {
      chunk = this.younger.completed(place(active));
    } catch (error) {
      active.abandon();
      throw error;
    }
    active.publish(chunk);
    for (const watch of this.watches) watch.add(chunk);
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
    if (memtable.bytes === 0) {
      if (!isShared) return undefined;
      const last = this.frozen.at(-1);
      if (last?.isUnused === true && !last.isBarrier) {
        // That of a flush that failed before takes what is under way: one more at each try would pile up.
        last.sealedSequence = sealedSequence;
        return last;
      }
    }
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
    if (chunk === undefined || sequence <= this.flushedSequence) return;
    memtable.adopt(this.younger.completed(chunk));
    for (const watch of this.watches) watch.add(chunk);
  }

  /** Whether a frozen memtable still waits for its flush: it was neither flushed nor taken away. */
  waits(memtable: Memtable): boolean {
    return this.frozen.includes(memtable);
  }

  /** The frozen memtable that must be flushed next. */
  oldestFrozen(): Memtable | undefined {
    return this.frozen[0];
  }

  /** What a worker needs to write a frozen memtable to files: all under the numbers of now, also where it begins later. */
  flushJob(memtable: Memtable, firstFileId: number): FlushJob {
    memtable.close();
    const { registry } = this;
    return {
      schema: this.schemaNow,
      chunks: [...memtable.chunks], // The job may wait, and a renewal puts others in their places, under other numbers.
      tags: registry.view(),
      seriesCount: registry.count,
      liveTables: this.sharedBy?.liveIds(),
      older: this.files.map(({ meta: { minTime, maxTime } }) => ({ minTime, maxTime })),
      firstFileId,
      folder: this.folder,
    };
  }

  /** Replaces the oldest frozen memtable by the files that hold its rows. */
  finishFlush(memtable: Memtable, files: readonly DataFile[], sequence: number): void {
    this.numbers.hasLostRows ||= rowsOf(files) < memtable.rowCount;
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
    const { registry } = this; // That the caller counts by, whatever comes.
    const snapshot = this.snapshot();
    try {
      for (const file of snapshot.files) {
        const { index, series } = await file.open(registry, cache);
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
    this.numbers.hasLostRows ||= rowsOf(made) < rowsOf(old);
    this.files = [...kept, ...added].sort((a, b) => compareFiles(a.meta, b.meta));
    return async () => {
      for (const file of gone) await file.drop();
    };
  }

  /** Says that no row up to `sequence` is only in memory. */
  markFlushed(sequence: number): void {
    this.flushedSequence = Math.max(this.flushedSequence, sequence);
  }

  /** Whether a new registry may be smaller: rows have gone, and at least half of the series came since the registry was new. */
  mayRenew(seriesMin: number): boolean {
    return this.numbers.mayRenew(seriesMin);
  }

  /**
   * Replaces the registry by one with the series of rows in memory; files bring theirs when they are opened next. Who has the old one goes
   * on with it: `snapshot` gives rows under its numbers.
   *
   * Series are carried over in turns, with writes between; then all rows get their new numbers at once.
   *
   * @param commit calls what puts the new registry in force, which must not end halfway, and voids what others hold by series numbers
   */
  async renewSeries(turn: () => Promise<void>, commit: (swap: () => void) => void): Promise<void> {
    const { numberOf, commit: renewed } = await this.numbers.renew([...this.frozen, this.active], turn);
    if (this.isClosed) return;
    const { active } = this;
    const renumber = [...this.frozen, active].map((memtable) => memtable.renumbering(numberOf, memtable === active && this.readers === 0));
    commit(() => {
      for (const each of renumber) each();
      renewed();
      for (const watch of this.watches) watch.overflow(); // What they noted has other numbers now.
    });
  }

  /** The number now of a series of an earlier registry, or of this one. */
  currentNumber(series: number, registry: SeriesRegistry): number {
    return this.numbers.numberOf(series, registry);
  }

  /**
   * Takes everything a reader needs and keeps it in use.
   *
   * @param registry whose numbers the reader has: the region's, or an earlier one
   */
  snapshot(registry: SeriesRegistry = this.registry): Snapshot {
    const memtables = [...this.frozen, this.active];
    const files = [...this.files];
    for (const memtable of memtables) memtable.retain();
    for (const file of files) file.retain();
    this.readers++;
    return {
      memtables: memtables.filter(({ chunks }) => chunks.length > 0).map((memtable) => this.numbers.viewFor(memtable.view(), registry)),
      files,
      release: async () => {
        for (const memtable of memtables) memtable.release();
        for (const file of files) await file.release();
        this.readers--;
        await this.deleteFolderIfUnused();
      },
    };
  }

  /** Keeps data files where other threads find them; undefined where the store has no room for that. @throws DbError StorageUnavailable */
  holdFiles(files: readonly NamedFile[]): Promise<HeldFiles | undefined> | HeldFiles {
    return this.store.hold?.(files) ?? ALWAYS_THERE;
  }

  /** What a snapshot would hold, for a reader that is done before anything else happens: nothing is kept for it. */
  present(registry: SeriesRegistry = this.registry): Omit<Snapshot, "release"> {
    const memtables: MemtableView[] = [];
    for (const memtable of [...this.frozen, this.active]) {
      if (memtable.chunks.length > 0) memtables.push(this.numbers.viewFor(memtable.view(), registry));
    }
    return { memtables, files: this.files };
  }

  /**
   * Takes files away and, with a `sequence`, the memtables that were frozen up to it (`freeze` first). Rows under way (built, not yet
   * published) are among them.
   */
  takeAway(files: readonly DataFile[], sequence: number | undefined): TakenRows {
    const names = new Set(files.map(({ name }) => name));
    const dropped = this.files.filter(({ meta }) => names.has(meta.name));
    this.files = this.files.filter(({ meta }) => !names.has(meta.name));
    this.numbers.hasLostRows = true;
    const memtables = sequence === undefined ? [] : this.frozen.filter(({ sealedSequence }) => sealedSequence <= sequence);
    if (sequence !== undefined) {
      this.frozen = this.frozen.filter((memtable) => !memtables.includes(memtable));
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
    this.isClosed = true;
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
    if (this.isDropped && this.readers === 0) await this.store.deleteFolder(tableFolder(this.schemaNow.id, this.folder));
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
    return new SstFile(file, this.store, (trouble, why) =>
      this.logger.warn({ table: this.schemaNow.name, file: file.name }, `${trouble}: ${why}`),
    );
  }

  private prepared(memtable: Memtable, chunk: Chunk): PreparedChunk {
    const { registry } = this;
    // The log has the chunk with the numbers that it was built with; by now rows may have others.
    const current = (): Chunk => this.numbers.ofNow(chunk, registry);
    this.underWay.add(current);
    return {
      chunk,
      publish: () => {
        this.underWay.delete(current);
        memtable.publish(this.orAbandon(memtable, current));
      },
      abandon: () => {
        this.underWay.delete(current);
        memtable.abandon();
      },
    };
  }

  /** The chunk as it is to be published. When that fails its memtable waits for it no longer. */
  private orAbandon(memtable: Memtable, current: () => Chunk): Chunk {
    try {
      return this.younger.completed(current());
    } catch (error) {
      memtable.abandon();
      throw error;
    }
  }
}

function rowsOf(files: readonly DataFile[]): number {
  return files.reduce((sum, { rowCount }) => sum + rowCount, 0);
}
