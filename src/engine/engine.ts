/**
 * The engine: tables over their storage. Implements the contracts of `table/` on one log, one meta store and one file store.
 *
 *   write:   schema (one commit) ─► chunk a table ─► one log record ─► durable ─► visible ─► acknowledged
 *   flush:   freeze ─► worker ─► files durable ─► one commit (files + flushed sequence) ─► log trimmed
 *   start:   schemas and files from the meta store ─► log replayed into memtables ─► orphan files deleted
 *
 * Order of shutdown: scheduler, compaction, flush worker, log, regions, meta store.
 */
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import { failPoint } from "../base/fail-point.ts";
import type { Logger } from "../base/log.ts";
import { MemoryCounter, ServerMemory } from "../base/server-memory.ts";
import { type Trouble, Troubles } from "../base/troubles.ts";
import { StatusCode } from "../base/status-code.ts";
import type { AdminOperations } from "../query/query-context.ts";
import { PageCache } from "../storage/cache/page-cache.ts";
import type { MergeExecutor } from "../storage/compaction/merge-executor.ts";
import type { FileStore } from "../storage/file-store/file-store.ts";
import { type LastingDeletes, lastingDeletes } from "../storage/file-store/lasting-deletes.ts";
import { SlabPool } from "../storage/memtable/arena.ts";
import type { MetaChange, MetaStore } from "../storage/meta-store/meta-store.ts";
import { Region } from "../storage/region/region.ts";
import { compareFiles, type DataFile } from "../storage/sst/data-file.ts";
import type { FlushExecutor } from "../storage/sst/flush-executor.ts";
import type { Wal, WalQueue, WalRecoveryReport } from "../storage/wal/wal.ts";
import type { Catalog, DatabaseInfo, Table } from "../table/catalog.ts";
import { isPhysicalTable, physicalTableOf } from "../table/metric.ts";
import type { TimeRange } from "../table/scan.ts";
import { mergeModeOf, onlyFieldOf, type SchemaChange, type TableDefinition, type TableSchema } from "../table/schema.ts";
import type { KnownColumn, SchemaLookup, WriteBatch, WriteOptions, Writer, WriteResult } from "../table/write-batch.ts";
import { type CompactionLimits, type CompactionTotals, Compactor } from "./compactor.ts";
import { Deleter } from "./deleter.ts";
import { type CheckedTable, DamagedFiles } from "./health/damaged-files.ts";
import { DiskWatch, type DiskWatchOptions, LOW_DISK_RETRY_SECONDS, systemFreeBytes } from "./health/disk-watch.ts";
import { EngineTable } from "./engine-table.ts";
import { Expiry } from "./expiry.ts";
import { FileCheck } from "./file-check.ts";
import { takeGroup } from "./flush-groups.ts";
import { type FlushLimits, FlushScheduler } from "./flush-scheduler.ts";
import { Flusher } from "./flusher.ts";
import { truncationOf } from "./file-expiry.ts";
import { LiveTables, TableEntry } from "./live-tables.ts";
import { LogLedger } from "./log-ledger.ts";
import type { ThreadLog } from "./log-stream.ts";
import { LogStreams } from "./log-streams.ts";
import { LogTrimmer } from "./log-trimmer.ts";
import { decodeFile, fileKey, flushedKey, numberOf, uncleanKey } from "./meta-codec.ts";
import { withPhysicalSteps } from "./metric/metric-steps.ts";
import { PhysicalTable } from "./metric/physical-table.ts";
import { storageSchemaOf } from "./metric/storage-schema.ts";
import { Replay } from "./replay.ts";
import { changedOptions } from "./schema-change.ts";
import { type SchemaStep, SchemaStore } from "./schema-store.ts";
import type { SequenceCounter } from "./sequence-counter.ts";
import { tableNotFound } from "./table-not-found.ts";
import { Upkeep } from "./health/upkeep.ts";
import { probeMetaStore, watchedMetaStore } from "./health/watched-meta-store.ts";
import { CatalogFeed } from "./threads/catalog-feed.ts";
import type { CatalogChange, CatalogNews } from "./threads/messages.ts";
import { SharedState } from "./threads/shared-state.ts";
import type { ThreadOwner } from "./threads/thread-host.ts";
import { ThreadHosts } from "./threads/thread-hosts.ts";
import type { OwnerLink } from "./threads/thread-link.ts";
import { WritePath } from "./write-path.ts";
import type { WriteTables } from "./write-target.ts";

/** What an engine is made of. The engine owns all of them and closes them. */
export interface EngineParts {
  readonly wal: Wal;
  /** What all threads share; by default there is only this one. */
  readonly shared?: SharedState;
  /** Logs of ingest threads that an earlier process left; none by default. */
  readonly threadLogs?: readonly ThreadLog[];
  readonly meta: MetaStore;
  readonly files: FileStore;
  readonly flusher: FlushExecutor;
  readonly merger: MergeExecutor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: FlushLimits;
  readonly compaction: CompactionLimits;
  /** Most bytes of decoded pages kept. */
  readonly pageCacheBytes: number;
  /** The memory of the whole server, in which the engine counts. Default: one without a limit. */
  readonly memory?: ServerMemory;
  /** Room that is kept on disks. Default: none. */
  readonly disk?: DiskWatchOptions;
}

/** No disk is watched. */
const NO_DISK: DiskWatchOptions = { paths: [], freeBytesMin: 0, freeBytesOf: systemFreeBytes };
/** After how many seconds a writer should come back when the log does not work. */
const LOG_RETRY_SECONDS = 5;

/** What the start found in the log. */
export interface EngineRecovery extends WalRecoveryReport {
  /** Rows that are known to be lost with damaged records. */
  readonly lostRows: number;
  /** Damaged places of which nobody knows how many rows they held. */
  readonly lostUnknown: number;
}

/** How long flushing may go on at shutdown. Reason: service managers kill after 10 s or more, and the log has everything anyway. */
const CLOSE_FLUSH_MILLIS = 5000;

/** See the file header. Invariant: `live` holds the tables of `schemas`, also while a drop or creation runs. */
export class Engine implements Catalog, Writer, SchemaLookup, AdminOperations {
  private readonly parts: EngineParts;
  private readonly schemas: SchemaStore;
  private readonly live: LiveTables = new LiveTables();
  private readonly shared: SharedState;
  private readonly sequences: SequenceCounter;
  private readonly streams: LogStreams;
  private readonly feed: CatalogFeed;
  private readonly threads: ThreadHosts;
  private readonly trimmer: LogTrimmer;
  private readonly writePath: WritePath;
  private readonly flusher: Flusher;
  private readonly scheduler: FlushScheduler<Region>;
  private readonly compactor: Compactor;
  private readonly expiry: Expiry;
  private readonly deleter: Deleter;
  private readonly pool: SlabPool;
  private readonly cache: PageCache;
  private readonly memory: ServerMemory;
  private readonly disk: DiskWatch;
  private readonly damaged: DamagedFiles;
  private readonly upkeep: Upkeep;
  /** What does not work, the log apart. */
  private readonly faults: Troubles;

  private constructor(bare: EngineParts) {
    const { wal, merger, clock, logger } = bare;
    const troubles = new Troubles(logger.child("health"), clock);
    const deletes = lastingDeletes(bare.files, (reason) => troubles.failed("file_delete", reason));
    const parts: EngineParts = { ...bare, meta: watchedMetaStore(bare.meta, troubles), files: deletes.store };
    const { meta, files } = parts;
    this.parts = parts;
    this.faults = troubles;
    this.memory = parts.memory ?? new ServerMemory(Number.POSITIVE_INFINITY);
    this.disk = new DiskWatch(parts.disk ?? NO_DISK, troubles);
    this.damaged = new DamagedFiles(files, troubles, logger);
    this.schemas = new SchemaStore(parts.meta);
    this.pool = new SlabPool(parts.limits.memtableBytes);
    this.cache = new PageCache(parts.pageCacheBytes);
    this.shared = parts.shared ?? new SharedState(0);
    this.sequences = this.shared.sequences;
    this.streams = new LogStreams(wal, parts.threadLogs ?? []);
    const { live, streams, sequences, schemas, disk, shared } = this;
    const workerMemory = new MemoryCounter();
    this.trimmer = new LogTrimmer(streams, live, troubles);
    this.feed = new CatalogFeed(
      shared,
      () => this.everyChange(),
      () => meta.settled(),
    );
    this.threads = new ThreadHosts(this.threadOwner());
    const { trimmer, threads } = this;
    const expiry = new Expiry(clock, (name) => schemas.database(name)?.options ?? {});
    this.expiry = expiry;
    this.writePath = new WritePath({
      wal,
      clock,
      tables: this.writeTables(),
      sequences,
      expiry,
      noteLogged: (segment, tableId, sequence) => streams.own.ledger.note(segment, tableId, sequence),
      noteExpired: (rows) => shared.addExpiredRows(rows),
    });
    const limits = parts.compaction;
    this.compactor = new Compactor(
      { merger, meta, files, clock, expiry, limits, troubles, workerMemory, logger: logger.child("compaction") },
      {
        regions: () => live.regions(),
        isLive: (region) => live.isLive(region),
        takeFileId: () => schemas.takeFileIds(1),
        hasRoomFor: (bytes) => disk.hasRoomFor(bytes),
      },
    );
    const onFlushed = (region: Region): void => this.compactor.poke(region);
    this.flusher = new Flusher({
      meta,
      files,
      executor: parts.flusher,
      clock,
      logger,
      tables: live,
      schemas,
      sequences,
      trimmer,
      workerMemory,
      threads,
      onFlushed,
    });
    this.scheduler = this.makeScheduler();
    this.deleter = this.makeDeleter();
    this.upkeep = this.makeUpkeep(deletes);
    this.countMemory(workerMemory);
  }

  /** Opens everything and replays the log. @throws DbError StorageUnavailable */
  static async open(parts: EngineParts): Promise<{ readonly engine: Engine; readonly recovery: EngineRecovery }> {
    const engine = new Engine(parts);
    const known = new Set<string>();
    const schemas = engine.schemas.allSchemas();
    for (const schema of schemas.filter((each) => physicalTableOf(each) === undefined)) {
      const entry = engine.addEntry(schema);
      for (const file of entry.table.region.dataFiles) known.add(file.name);
    }
    for (const schema of schemas) if (physicalTableOf(schema) !== undefined) engine.applySchema(schema);
    failPoint("recover.schemas-read");
    const flushed = new Map([...engine.live.regions()].map((region) => [region.schemaNow.id, region.flushedSequence]));
    const { nextFileId, nextTableId } = engine.schemas;
    const check = new FileCheck(engine.parts.files, { names: known, flushed, nextFileId, nextTableId }, parts.logger);
    await engine.damaged.find(engine.checkedTables(), await check.begin());
    failPoint("recover.files-checked");
    await engine.disk.look();
    const recovery = await engine.replay(check);
    failPoint("recover.done");
    engine.scheduler.start();
    engine.upkeep.start();
    engine.compactor.start();
    return { engine, recovery };
  }

  // ---- Catalog ----

  databases(): readonly DatabaseInfo[] {
    return this.schemas.databases();
  }

  database(name: string): DatabaseInfo | undefined {
    return this.schemas.database(name);
  }

  async createDatabase(name: string, options: Readonly<Record<string, string>>, ifNotExists: boolean): Promise<boolean> {
    if (ifNotExists && this.schemas.database(name) !== undefined) return false;
    failPoint("create.before-commit");
    this.schemas.createDatabase(name, options);
    failPoint("create.after-commit");
    this.feed.push(this.everyDatabase());
    await this.parts.meta.settled();
    return true;
  }

  async dropDatabase(name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.schemas.database(name) === undefined) return false;
    failPoint("drop.before-commit");
    const dropped = this.schemas.dropDatabase(name);
    this.feed.push(this.everyDatabase());
    await this.removeTables(dropped);
    return true;
  }

  tables(database: string): readonly Table[] {
    return this.schemas.schemas(database).flatMap((schema) => this.live.tableOfId(schema.id) ?? []);
  }

  table(database: string, name: string): Table | undefined {
    return this.live.table(database, name);
  }

  async createTable(definition: TableDefinition, ifNotExists: boolean): Promise<Table> {
    const existing = this.table(definition.database, definition.name);
    if (existing !== undefined && ifNotExists) return existing;
    failPoint("create.before-commit");
    const id = this.applySteps([{ kind: "create", definition }]);
    failPoint("create.after-commit");
    await this.parts.meta.settled();
    return this.tableOfId(id);
  }

  async dropTable(database: string, name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.schemas.schema(database, name) === undefined) return false;
    if ((this.live.find(database, name)?.physical?.logicalCount ?? 0) > 0) {
      throw new DbError(StatusCode.InvalidArguments, "Physical region is busy, there are still some logical regions using it");
    }
    failPoint("drop.before-commit");
    await this.removeTables([this.schemas.dropTable(database, name)]);
    return true;
  }

  async alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void> {
    failPoint("alter.before-commit");
    this.schemas.alterDatabase(name, options);
    failPoint("alter.after-commit");
    this.feed.push(this.everyDatabase());
    await this.parts.meta.settled();
  }

  async truncateTable(database: string, name: string, ranges?: readonly TimeRange[]): Promise<void> {
    const logical = this.live.logical(database, name);
    if (logical !== undefined) return this.truncateLogical(logical.schema, ranges);
    const entry = this.live.find(database, name);
    if (entry === undefined) throw tableNotFound(database, name);
    const { region } = entry.table;
    const { id } = region.schemaNow;
    const isChosen = (file: DataFile): boolean => ranges === undefined || ranges.some((range) => lies(file, range));
    if (ranges !== undefined) await this.compactor.strip(region, truncationOf(region.dataFiles, isChosen).stripped);
    const files = truncationOf(region.dataFiles, isChosen).removed;
    const { meta } = this.parts;
    // A flush whose commit has not settled has entries of files that the region does not know yet.
    const keys = ranges === undefined ? meta.list(fileKey(id)).map(({ key }) => key) : files.map((file) => fileKey(id, file.id));
    if (ranges === undefined) keys.push(...this.flusher.uncommittedKeys(region));
    const changes: MetaChange[] = keys.map((key) => ({ key, value: undefined }));
    // Everything that was appended to the log until now goes; what comes later has a higher sequence.
    const { newest } = this.sequences;
    if (ranges === undefined) changes.push({ key: flushedKey(id), value: newest });
    failPoint("truncate.before-commit");
    meta.commit(changes);
    failPoint("truncate.after-commit");
    this.compactor.forget(region, ranges === undefined ? undefined : new Set(keys));
    const taken = region.takeAway(files, ranges === undefined ? newest : undefined);
    await this.parts.meta.settled();
    await this.threads.barrier(id); // What threads wrote before is dropped as they tell of it, and its memory comes back.
    await this.flusher.idle(); // A flush of these rows, if it runs, still reads their memory.
    if (ranges === undefined) await this.flusher.forget(region);
    await taken.end();
    failPoint("truncate.files-deleted");
    await this.trimmer.trim();
  }

  /** A logical table begins anew under another id; its rows go with flushes and merges. */
  private async truncateLogical(schema: TableSchema, ranges: readonly TimeRange[] | undefined): Promise<void> {
    const { database, name } = schema;
    if (ranges !== undefined) {
      const why = "its files hold rows of other tables as well; truncate it without FILE RANGE, or delete rows";
      throw new DbError(StatusCode.Unsupported, `cannot truncate table ${name} by file range: ${why}`);
    }
    failPoint("truncate.before-commit");
    const renumbered = this.schemas.renumber(database, name);
    failPoint("truncate.after-commit");
    this.live.renumberLogical(schema, renumbered);
    this.feed.push({ kind: "dropped", tableId: schema.id });
    this.feed.push({ kind: "schema", schema: renumbered });
    await this.parts.meta.settled();
    this.compactor.poke(this.regionOf(database, name));
  }

  async alterTable(database: string, name: string, change: SchemaChange): Promise<Table> {
    const old = this.schemas.schema(database, name);
    if (old !== undefined && changesMerging(old, change)) await this.flushTable(database, name); // What it merged until now stays merged.
    failPoint(change.kind === "rename" ? "rename.before-commit" : "alter.before-commit");
    const id = this.applySteps([{ kind: "alter", database, table: name, change }]);
    failPoint(change.kind === "rename" ? "rename.after-commit" : "alter.after-commit");
    await this.parts.meta.settled();
    return this.tableOfId(id);
  }

  columnOf(database: string, table: string, column: string): KnownColumn | undefined {
    const target = this.live.find(database, table) ?? this.live.logical(database, table);
    return target?.plan.columnOf.get(column);
  }

  onlyFieldOf(database: string, table: string): string | undefined {
    const found = this.live.find(database, table);
    return found === undefined ? undefined : onlyFieldOf(found.schema);
  }

  // ---- Writer ----

  async write(database: string, batch: WriteBatch, options: WriteOptions): Promise<WriteResult> {
    this.checkWritable(database);
    this.refuseInTrouble();
    // From here to the append nothing waits: the batch's arrays are only valid until the decoder runs again.
    const { durable, prepared, rowCount } = this.writePath.log(database, batch, options);
    if (durable === undefined) return { rowCount };
    let bytes = 0;
    for (const { chunk } of prepared) bytes += chunk.payload.length;
    this.scheduler.written(bytes); // Now: on a disk that hangs they take memory long before they are durable.
    try {
      await durable;
    } catch (error) {
      this.faults.failures.log++;
      for (const chunk of prepared) chunk.abandon();
      throw error;
    }
    failPoint("write.durable");
    for (const chunk of prepared) chunk.publish();
    failPoint("write.published");
    await this.parts.meta.settled();
    return { rowCount };
  }

  async delete(database: string, batch: WriteBatch): Promise<WriteResult> {
    this.checkWritable(database);
    return this.deleter.deleteBatch(database, batch);
  }

  /** Rows that had expired when they came, and were taken and not kept, since the start. */
  get expiredRows(): number {
    return this.shared.expiredRows;
  }

  /**
   * Resolves when there is memory for another write; call it before decoding.
   *
   * @throws DbError StorageUnavailable when writes would fail; RateLimited; Cancelled when the signal fires
   */
  async admit(signal?: AbortSignal): Promise<void> {
    this.refuseInTrouble();
    await this.scheduler.admit(signal);
  }

  // ---- Ingest threads ----

  /** The catalogue as a new thread needs it. */
  catalogNews(): CatalogNews {
    return this.feed.whole();
  }

  /**
   * Takes an ingest thread in, before it takes its first write. Its log, if an earlier process left one, was replayed and is closed here,
   * so that the thread can open it.
   */
  async addThread(id: number, link: OwnerLink): Promise<void> {
    const left = this.streams.find(id);
    await left?.close();
    failPoint("thread.begun");
    this.streams.set(this.threads.add(id, link, left ?? { ledger: new LogLedger(), head: () => 0 }));
  }

  private threadOwner(): ThreadOwner {
    const { shared, feed, parts } = this;
    const countMemory = (): void => shared.setKnownBytes(this.scheduler.memoryBytes);
    return {
      shared,
      feed,
      regionOf: (tableId) => this.live.byTableId(tableId)?.table.region,
      evolve: (steps) => {
        this.applySteps(steps);
      },
      written: (bytes) => {
        this.scheduler.written(bytes);
        countMemory();
      },
      admit: async () => {
        await this.admit();
        countMemory();
      },
      durable: () => parts.meta.settled(),
    };
  }

  private everyChange(): CatalogChange[] {
    return [this.everyDatabase(), ...this.schemas.allSchemas().map((schema): CatalogChange => ({ kind: "schema", schema }))];
  }

  private everyDatabase(): CatalogChange {
    return { kind: "databases", databases: this.schemas.databases() };
  }

  // ---- Admin ----

  async flushTable(database: string, table: string): Promise<void> {
    await this.flusher.flush(this.regionOf(database, table));
  }

  async compactTable(database: string, table: string, range?: TimeRange): Promise<void> {
    await this.compactor.compactAll(this.regionOf(database, table), range);
  }

  /** What compactions have done since the start. */
  get compactionTotals(): Readonly<CompactionTotals> {
    return this.compactor.totals;
  }

  /** Resolves when no compaction is under way or due now. */
  compactionIdle(): Promise<void> {
    return this.compactor.idle();
  }

  /** Why writes fail, or undefined. */
  failure(): string | undefined {
    return this.streams.failure() ?? this.disk.refusal;
  }

  /** What does not work now; failures since the start, by part. */
  troubles(): { readonly now: readonly Trouble[]; readonly failures: Readonly<Troubles["failures"]> } {
    const log = this.streams.failure();
    const now = this.faults.list();
    if (log !== undefined) now.unshift({ part: "log", reason: log, sinceMillis: 0 });
    return { now, failures: this.faults.failures };
  }

  /** One round of upkeep, which otherwise runs once a second: for tests. */
  keepUp(): Promise<void> {
    return this.upkeep.tick();
  }

  /** Bytes free on the fullest disk that is watched, Infinity when none is; and what waits for the log. */
  get storageState(): { readonly freeBytes: number; readonly queued: WalQueue; readonly logBytes: number } {
    return { freeBytes: this.disk.freeBytes, queued: this.parts.wal.queued(), logBytes: this.trimmer.bytes };
  }

  /** Flushes tables and closes everything, in the order of the file header. @throws DbError of a flush; the log has its rows */
  async close(): Promise<void> {
    failPoint("close.begun");
    await this.upkeep.close();
    await this.scheduler.close();
    await this.compactor.close();
    try {
      await this.flushBeforeClose();
    } finally {
      await this.flusher.idle();
      await this.parts.flusher.close();
      failPoint("close.before-log");
      for (const stream of this.streams.all()) await stream.close();
      failPoint("close.log-closed");
      for (const { table } of this.live.entries()) await table.region.close(false);
      this.parts.meta.close();
      failPoint("close.done");
    }
  }

  /** Largest tables first, for a bounded time: ten thousand small tables are replayed faster than they are flushed. */
  private async flushBeforeClose(): Promise<void> {
    const { clock, logger } = this.parts;
    const deadline = clock.monotonicMillis() + CLOSE_FLUSH_MILLIS;
    let regions = [...this.live.regions()].sort((a, b) => b.memoryBytes - a.memoryBytes);
    while (regions.length > 0) {
      const group = takeGroup(regions, this.parts.limits.memtableBytes);
      const failures = await this.flusher.flushTogether(group);
      for (const failure of failures.values()) throw failure;
      failPoint("close.flushed");
      regions = regions.slice(group.length);
      if (clock.monotonicMillis() < deadline) continue;
      logger.info({ tables: regions.length }, "tables left in the log, to be replayed at the next start");
      return;
    }
  }

  /** @throws DbError StorageUnavailable when writes would fail */
  private refuseInTrouble(what: "write" | "delete" = "write"): void {
    const failure = this.parts.wal.failure() ?? this.disk.refusal; // Another thread's log is that thread's trouble.
    if (failure === undefined) return;
    const retryAfterSeconds = this.disk.refusal === failure ? LOW_DISK_RETRY_SECONDS : LOG_RETRY_SECONDS;
    throw new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${failure}`, { retryAfterSeconds });
  }

  /**
   * A delete makes room once its rows are merged away, so a disk that is nearly full does not refuse it: like a merge, it may use half of
   * the reserve.
   *
   * @throws DbError StorageUnavailable when it would fail
   */
  private refuseDelete(bytes: number): void {
    if (this.parts.wal.failure() === undefined && this.disk.hasRoomFor(bytes)) return;
    this.refuseInTrouble("delete");
  }

  private makeScheduler(): FlushScheduler<Region> {
    const { live, trimmer, faults: troubles } = this;
    const { wal, limits, clock, logger } = this.parts;
    const host = {
      regions: () => live.regions(),
      logBytes: () => trimmer.bytes,
      logHolders: () => trimmer.holders(),
      logRecords: () => wal.queued().records,
      isUrgent: () => this.failure() !== undefined,
      isOverMemory: () => this.memory.isOver(),
      flush: (regions: readonly Region[]) => this.flusher.flushTogether(regions),
      flushEnded: (reason: string | undefined) => (reason === undefined ? troubles.works("flush") : troubles.failed("flush", reason)),
    };
    return new FlushScheduler(limits, host, clock, logger.child("flush"));
  }

  private makeDeleter(): Deleter {
    const { live, sequences, streams, scheduler, flusher, threads, faults } = this;
    return new Deleter({
      wal: this.parts.wal,
      tables: live,
      sequences,
      noteLogged: (segment, tableId, sequence) => streams.own.ledger.note(segment, tableId, sequence),
      logFailed: () => {
        faults.failures.log++;
      },
      catchUp: () => threads.drain(),
      admit: () => scheduler.admit(),
      refuse: (bytes) => this.refuseDelete(bytes),
      written: (bytes) => scheduler.written(bytes),
      flush: (region) => flusher.flush(region),
    });
  }

  private makeUpkeep({ leftovers }: LastingDeletes): Upkeep {
    const { memory, disk, damaged, live, trimmer, streams, faults: troubles } = this;
    return new Upkeep({
      disk,
      onLooked: () => {
        this.shared.isRefusing = disk.refusal !== undefined;
      },
      memory,
      troubles,
      leftovers,
      logger: this.parts.logger,
      trimLog: () => trimmer.trim(),
      isLogFailing: () => streams.failure() !== undefined,
      probeMeta: () => probeMetaStore(this.parts.meta),
      lookAtFiles: async () => {
        const needed = new Set([...live.regions()].flatMap((region) => region.dataFiles.map(({ name }) => name)));
        await damaged.lookAgain(({ name }) => needed.has(name));
      },
    });
  }

  private countMemory(workerMemory: MemoryCounter): void {
    const { memory, cache, scheduler } = this;
    memory.register("page_cache", {
      bytes: () => cache.bytes,
      giveBack: (bytes) => cache.giveBack(bytes),
      mayGrow: () => cache.mayGrow(),
    });
    memory.register("memtables", { bytes: () => scheduler.memoryBytes });
    memory.register("workers", workerMemory);
  }

  // ---- Tables ----

  private checkWritable(database: string): void {
    if (this.schemas.database(database) === undefined) throw new DbError(StatusCode.DatabaseNotFound, `Database not found: ${database}`);
    if (database === "information_schema") {
      throw new DbError(StatusCode.Unsupported, "Schema `information_schema` is read-only");
    }
  }

  private *checkedTables(): Generator<CheckedTable> {
    for (const { table } of this.live.entries()) {
      const { database, name } = table.schema;
      yield { database, name, files: table.region.dataFiles };
    }
  }

  private addEntry(schema: TableSchema): TableEntry {
    const { meta, files, clock, logger } = this.parts;
    const dataFiles: DataFile[] = meta.list(fileKey(schema.id)).map(({ key, value }) => decodeFile(key, value));
    dataFiles.sort(compareFiles);
    const flushed = numberOf(flushedKey(schema.id), meta.get(flushedKey(schema.id)) ?? 0);
    this.sequences.sawUsed(flushed);
    const stored = storageSchemaOf(schema);
    // Rows of other threads, now or before a restart, find their place among others by their sequences.
    const mayJoin = (): boolean => !this.threads.isShared && this.streams.isSingle;
    const region = new Region(stored, dataFiles, flushed, { pool: this.pool, store: files, clock, logger, mayJoin });
    const { cache, expiry, deleter } = this;
    const table = new EngineTable(region, { cache, clock, expiry, deleter, catchUp: () => this.threads.drain() });
    const physical = isPhysicalTable(schema) ? new PhysicalTable(schema, table, meta.get(uncleanKey(schema.id)) === true) : undefined;
    const entry = new TableEntry(table, physical);
    this.live.add(entry);
    this.feed.push({ kind: "schema", schema });
    return entry;
  }

  private writeTables(): WriteTables {
    const { live, schemas } = this;
    return {
      get dropEpoch() {
        return live.dropEpoch;
      },
      find: (database, name) => live.find(database, name),
      logical: (database, name) => live.logical(database, name),
      schema: (database, name) => schemas.schema(database, name),
      entries: () => live.entries(),
      databaseOptions: (name) => schemas.database(name)?.options ?? {},
      evolve: (steps) => {
        this.applySteps(steps);
        return "applied";
      },
    };
  }

  private applySchema(schema: TableSchema): void {
    const physical = physicalTableOf(schema);
    const entry = this.live.byTableId(schema.id);
    if (physical === undefined && entry === undefined) {
      this.addEntry(schema);
      return;
    }
    if (physical !== undefined) this.live.setLogical(schema, physical);
    else if (entry !== undefined) this.live.setSchema(entry, schema);
    this.feed.push({ kind: "schema", schema });
  }

  /**
   * Commits a transaction of schemas, with what it means for physical tables, and puts it in force. Returns the id of the first step's
   * table.
   *
   * @throws DbError; nothing changed
   */
  private applySteps(steps: readonly SchemaStep[]): number {
    const schemas = this.schemas.applyAll(withPhysicalSteps(steps, this.schemas));
    for (const schema of schemas) this.applySchema(schema);
    const [first] = schemas;
    assert(first !== undefined, "a step gives a schema");
    return first.id;
  }

  private tableOfId(id: number): Table {
    const table = this.live.tableOfId(id);
    assert(table !== undefined, `table ${id} exists`);
    return table;
  }

  /** Where a table's rows are. @throws DbError TableNotFound */
  private regionOf(database: string, table: string): Region {
    const region = this.live.regionOf(database, table);
    if (region === undefined) throw tableNotFound(database, table);
    return region;
  }

  /** Forgets tables that the schema store has forgotten, all before the first wait: their names may be taken again meanwhile. */
  private async removeTables(schemas: readonly TableSchema[]): Promise<void> {
    failPoint("drop.after-commit");
    const unclean = new Set(schemas.flatMap((schema) => this.live.removeLogical(schema) ?? []));
    const removed = schemas.flatMap((schema) => this.live.remove(schema) ?? []);
    for (const { id } of schemas) this.feed.push({ kind: "dropped", tableId: id });
    await this.parts.meta.settled();
    for (const region of unclean) if (this.live.isLive(region)) this.compactor.poke(region);
    if (removed.length === 0) return; // Rows of logical tables go with flushes and merges of their physical table.
    await Promise.all(removed.map(({ table }) => this.threads.barrier(table.schema.id))); // Their memory comes back.
    await this.flusher.idle(); // A flush of one of them, if it runs, still reads its memory.
    for (const { table } of removed) {
      await this.flusher.forget(table.region);
      await table.region.close(true);
    }
    failPoint("drop.files-deleted");
    await this.trimmer.trim();
  }

  private async replay(check: FileCheck): Promise<EngineRecovery> {
    const reports: EngineRecovery[] = [];
    const { logger } = this.parts;
    const { nextTableId } = this.schemas;
    const regionOf = (tableId: number): Region | undefined => this.live.byTableId(tableId)?.table.region;
    const sawEntry = (tableId: number, sequence: number): void => check.sawRecord(tableId, sequence);
    for (const { wal, ledger } of this.streams.local()) {
      const replay = new Replay({ regionOf, nextTableId, ledger, logger, sawEntry });
      const report = await wal.recover(
        (record) => {
          this.sequences.sawUsed(record.sequence);
          replay.apply(record);
        },
        (payload) => replay.lose(payload),
      );
      reports.push({ ...report, lostRows: replay.lostRows, lostUnknown: replay.lostUnknown });
    }
    for (const region of this.live.regions()) region.endRestore();
    await check.end();
    failPoint("recover.before-trim");
    await this.trimmer.trim();
    return summed(reports);
  }
}

/** Whether all times of a file are in the range. */
function lies(file: DataFile, { start, end }: TimeRange): boolean {
  return file.minTime >= start && file.maxTime < end;
}

/** Whether rows of equal tags and time are treated in another way after a change. */
function changesMerging(schema: TableSchema, change: SchemaChange): boolean {
  if (change.kind === "several") return change.changes.some((one) => changesMerging(schema, one));
  if (change.kind !== "set-options") return false;
  return mergeModeOf(schema) !== mergeModeOf({ options: changedOptions(schema.options, change.options) });
}

function summed(reports: readonly EngineRecovery[]): EngineRecovery {
  const total = { segments: 0, records: 0, bytes: 0, tornTailBytes: 0, lostBytes: 0, lostRows: 0, lostUnknown: 0 };
  for (const report of reports) {
    total.segments += report.segments;
    total.records += report.records;
    total.bytes += report.bytes;
    total.tornTailBytes += report.tornTailBytes;
    total.lostBytes += report.lostBytes;
    total.lostRows += report.lostRows;
    total.lostUnknown += report.lostUnknown;
  }
  return total;
}
