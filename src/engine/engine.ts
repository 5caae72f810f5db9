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
import { StatusCode } from "../base/status-code.ts";
import type { AdminOperations } from "../query/query-context.ts";
import { PageCache } from "../storage/cache/page-cache.ts";
import type { MergeExecutor } from "../storage/compaction/merge-executor.ts";
import type { FileStore } from "../storage/file-store/file-store.ts";
import { SlabPool } from "../storage/memtable/arena.ts";
import type { MetaChange, MetaStore } from "../storage/meta-store/meta-store.ts";
import { Region } from "../storage/region/region.ts";
import { compareFiles, type DataFile } from "../storage/sst/data-file.ts";
import type { FlushExecutor } from "../storage/sst/flush-executor.ts";
import type { Wal, WalRecoveryReport } from "../storage/wal/wal.ts";
import type { Catalog, DatabaseInfo, Table } from "../table/catalog.ts";
import type { TimeRange } from "../table/scan.ts";
import { mergeModeOf, type SchemaChange, type TableDefinition, type TableSchema } from "../table/schema.ts";
import type { KnownColumn, SchemaLookup, WriteBatch, WriteOptions, Writer, WriteResult } from "../table/write-batch.ts";
import { type CompactionLimits, type CompactionTotals, Compactor } from "./compactor.ts";
import { EngineTable } from "./engine-table.ts";
import { FileCheck } from "./file-check.ts";
import { type FlushLimits, FlushScheduler } from "./flush-scheduler.ts";
import { Flusher } from "./flusher.ts";
import { LiveTables, type TableEntry } from "./live-tables.ts";
import { LogLedger } from "./log-ledger.ts";
import { LogTrimmer } from "./log-trimmer.ts";
import { decodeFile, fileKey, flushedKey, numberOf } from "./meta-codec.ts";
import { Replay } from "./replay.ts";
import { changedOptions } from "./schema-change.ts";
import { SchemaStore } from "./schema-store.ts";
import { SequenceCounter } from "./sequence-counter.ts";
import { SegmentMarks } from "./series-mapper.ts";
import { tableNotFound } from "./table-not-found.ts";
import { WritePath } from "./write-path.ts";
import { writePlanOf } from "./write-rows.ts";

/** What an engine is made of. The engine owns all of them and closes them. */
export interface EngineParts {
  readonly wal: Wal;
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
}

/** How long flushing may go on at shutdown. Reason: service managers kill after 10 s or more, and the log has everything anyway. */
const CLOSE_FLUSH_MILLIS = 5000;

/** See the file header. Invariant: `live` holds the tables of `schemas`, also while a drop or creation runs. */
export class Engine implements Catalog, Writer, SchemaLookup, AdminOperations {
  private readonly parts: EngineParts;
  private readonly schemas: SchemaStore;
  private readonly live: LiveTables = new LiveTables();
  private readonly sequences: SequenceCounter = new SequenceCounter();
  private readonly ledger: LogLedger = new LogLedger();
  private readonly trimmer: LogTrimmer;
  private readonly writePath: WritePath;
  private readonly flusher: Flusher;
  private readonly scheduler: FlushScheduler<Region>;
  private readonly compactor: Compactor;
  private readonly pool: SlabPool;
  private readonly cache: PageCache;

  private constructor(parts: EngineParts) {
    this.parts = parts;
    this.schemas = new SchemaStore(parts.meta);
    this.pool = new SlabPool(parts.limits.memtableBytes);
    this.cache = new PageCache(parts.pageCacheBytes);
    const { live, ledger, sequences, schemas } = this;
    const { wal, merger, meta, files, clock, logger } = parts;
    this.trimmer = new LogTrimmer(wal, ledger, live);
    const { trimmer } = this;
    this.writePath = new WritePath({ wal, clock, tables: live, schemas, ledger, sequences, apply: (schema) => this.applySchema(schema) });
    const limits = parts.compaction;
    this.compactor = new Compactor(
      { merger, meta, files, clock, limits, logger: logger.child("compaction") },
      {
        regions: () => live.regions(),
        isLive: (region) => live.isLive(region),
        takeFileId: () => schemas.takeFileIds(1),
        databaseOptions: (name) => schemas.database(name)?.options ?? {},
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
      onFlushed,
    });
    const host = {
      regions: () => live.regions(),
      logBytes: () => trimmer.bytes,
      logHolders: () => trimmer.holders(),
      flush: (region: Region) => this.flusher.flush(region),
    };
    this.scheduler = new FlushScheduler(parts.limits, host, clock, logger.child("flush"));
  }

  /** Opens everything and replays the log. @throws DbError StorageUnavailable */
  static async open(parts: EngineParts): Promise<{ readonly engine: Engine; readonly recovery: WalRecoveryReport }> {
    const engine = new Engine(parts);
    const known = new Set<string>();
    for (const schema of engine.schemas.allSchemas()) {
      const entry = engine.addEntry(schema);
      for (const file of entry.table.region.dataFiles) known.add(file.name);
    }
    failPoint("recover.schemas-read");
    const flushed = new Map([...engine.live.regions()].map((region) => [region.schemaNow.id, region.flushedSequence]));
    const { nextFileId, nextTableId } = engine.schemas;
    const check = new FileCheck(parts.files, { names: known, flushed, nextFileId, nextTableId }, parts.logger);
    await check.begin();
    failPoint("recover.files-checked");
    const recovery = await engine.replay(check);
    failPoint("recover.done");
    engine.scheduler.start();
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
    await this.parts.meta.settled();
    return true;
  }

  async dropDatabase(name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.schemas.database(name) === undefined) return false;
    failPoint("drop.before-commit");
    await this.removeTables(this.schemas.dropDatabase(name));
    return true;
  }

  tables(database: string): readonly Table[] {
    return this.schemas.schemas(database).flatMap((schema) => this.live.byTableId(schema.id)?.table ?? []);
  }

  table(database: string, name: string): Table | undefined {
    return this.live.find(database, name)?.table;
  }

  async createTable(definition: TableDefinition, ifNotExists: boolean): Promise<Table> {
    const existing = this.table(definition.database, definition.name);
    if (existing !== undefined && ifNotExists) return existing;
    failPoint("create.before-commit");
    const schema = this.schemas.createTable(definition);
    failPoint("create.after-commit");
    const entry = this.addEntry(schema);
    await this.parts.meta.settled();
    return entry.table;
  }

  async dropTable(database: string, name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.schemas.schema(database, name) === undefined) return false;
    failPoint("drop.before-commit");
    await this.removeTables([this.schemas.dropTable(database, name)]);
    return true;
  }

  async alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void> {
    failPoint("alter.before-commit");
    this.schemas.alterDatabase(name, options);
    failPoint("alter.after-commit");
    await this.parts.meta.settled();
  }

  async truncateTable(database: string, name: string, ranges?: readonly TimeRange[]): Promise<void> {
    const entry = this.live.find(database, name);
    if (entry === undefined) throw tableNotFound(database, name);
    const { region } = entry.table;
    const { id } = region.schemaNow;
    const files = region.dataFiles.filter((file) => ranges === undefined || ranges.some((range) => lies(file, range)));
    const { meta } = this.parts;
    // A flush whose commit has not settled has entries of files that the region does not know yet.
    const keys = ranges === undefined ? meta.list(fileKey(id)).map(({ key }) => key) : files.map((file) => fileKey(id, file.id));
    const changes: MetaChange[] = keys.map((key) => ({ key, value: undefined }));
    // Everything that was appended to the log until now goes; what comes later has a higher sequence.
    if (ranges === undefined) changes.push({ key: flushedKey(id), value: this.sequences.newest });
    failPoint("truncate.before-commit");
    meta.commit(changes);
    failPoint("truncate.after-commit");
    this.compactor.forget(region, ranges === undefined ? undefined : new Set(keys));
    const taken = region.takeAway(files, ranges === undefined ? this.sequences.newest : undefined);
    await this.parts.meta.settled();
    await this.flusher.idle(); // A flush of these rows, if it runs, still reads their memory.
    await taken.end();
    failPoint("truncate.files-deleted");
    await this.trimmer.trim();
  }

  async alterTable(database: string, name: string, change: SchemaChange): Promise<Table> {
    const old = this.schemas.schema(database, name);
    if (old !== undefined && changesMerging(old, change)) await this.flushTable(database, name); // What it merged until now stays merged.
    failPoint(change.kind === "rename" ? "rename.before-commit" : "alter.before-commit");
    const [schema] = this.schemas.applyAll([{ kind: "alter", database, table: name, change }]);
    failPoint(change.kind === "rename" ? "rename.after-commit" : "alter.after-commit");
    assert(schema !== undefined, "a change gives a schema");
    const entry = this.applySchema(schema);
    await this.parts.meta.settled();
    return entry.table;
  }

  columnOf(database: string, table: string, column: string): KnownColumn | undefined {
    return this.live.find(database, table)?.plan.columnOf.get(column);
  }

  // ---- Writer ----

  async write(database: string, batch: WriteBatch, options: WriteOptions): Promise<WriteResult> {
    if (this.schemas.database(database) === undefined) throw new DbError(StatusCode.DatabaseNotFound, `Database not found: ${database}`);
    if (database === "information_schema") {
      throw new DbError(StatusCode.Unsupported, "Schema `information_schema` is read-only");
    }
    const failure = this.parts.wal.failure();
    if (failure !== undefined) throw new DbError(StatusCode.StorageUnavailable, `cannot write: ${failure}`);
    // From here to the append nothing waits: the batch's arrays are only valid until the decoder runs again.
    const { durable, prepared, rowCount } = this.writePath.log(database, batch, options);
    if (durable === undefined) return { rowCount: 0 };
    // Now, since rows that wait for the log take memory too: a disk that stands still must hold writers back.
    this.scheduler.written(prepared.reduce((bytes, { chunk }) => bytes + chunk.payload.length, 0));
    try {
      await durable;
    } catch (error) {
      for (const chunk of prepared) chunk.abandon();
      throw error;
    }
    failPoint("write.durable");
    for (const chunk of prepared) chunk.publish();
    failPoint("write.published");
    await this.parts.meta.settled();
    return { rowCount };
  }

  /** Resolves when there is memory for another write; call it before decoding. @throws DbError RateLimited */
  admit(): Promise<void> {
    return this.scheduler.admit();
  }

  // ---- Admin ----

  async flushTable(database: string, table: string): Promise<void> {
    const entry = this.live.find(database, table);
    if (entry === undefined) throw tableNotFound(database, table);
    await this.flusher.flush(entry.table.region);
  }

  async compactTable(database: string, table: string): Promise<void> {
    const entry = this.live.find(database, table);
    if (entry === undefined) throw tableNotFound(database, table);
    await this.compactor.compactAll(entry.table.region);
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
    return this.parts.wal.failure();
  }

  /** Flushes tables and closes everything, in the order of the file header. @throws DbError of a flush; the log has its rows */
  async close(): Promise<void> {
    failPoint("close.begun");
    await this.scheduler.close();
    await this.compactor.close();
    try {
      await this.flushBeforeClose();
    } finally {
      await this.flusher.idle();
      await this.parts.flusher.close();
      failPoint("close.before-log");
      await this.parts.wal.close();
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
    const regions = [...this.live.regions()].sort((a, b) => b.memoryBytes - a.memoryBytes);
    for (let i = 0; i < regions.length; i++) {
      await this.flusher.flush(regions[i] as Region);
      failPoint("close.flushed");
      if (clock.monotonicMillis() < deadline) continue;
      logger.info({ tables: regions.length - i - 1 }, "tables left in the log, to be replayed at the next start");
      return;
    }
  }

  // ---- Tables ----

  private addEntry(schema: TableSchema): TableEntry {
    const { meta, files, clock } = this.parts;
    const dataFiles: DataFile[] = meta.list(fileKey(schema.id)).map(({ key, value }) => decodeFile(key, value));
    dataFiles.sort(compareFiles);
    const flushed = numberOf(flushedKey(schema.id), meta.get(flushedKey(schema.id)) ?? 0);
    this.sequences.sawUsed(flushed);
    const region = new Region(schema, dataFiles, flushed, { pool: this.pool, store: files, clock });
    const entry = { table: new EngineTable(region, this.cache, clock), marks: new SegmentMarks(), plan: writePlanOf(schema) };
    this.live.add(entry);
    return entry;
  }

  private applySchema(schema: TableSchema): TableEntry {
    const entry = this.live.byTableId(schema.id);
    if (entry === undefined) return this.addEntry(schema);
    this.live.setSchema(entry, schema);
    return entry;
  }

  /** Forgets tables that the schema store has forgotten, all before the first wait: their names may be taken again meanwhile. */
  private async removeTables(schemas: readonly TableSchema[]): Promise<void> {
    failPoint("drop.after-commit");
    const removed = schemas.flatMap((schema) => this.live.remove(schema) ?? []);
    await this.parts.meta.settled();
    await this.flusher.idle(); // A flush of one of them, if it runs, still reads its memory.
    for (const { table } of removed) await table.region.close(true);
    failPoint("drop.files-deleted");
    await this.trimmer.trim();
  }

  private async replay(check: FileCheck): Promise<WalRecoveryReport> {
    const regionOf = (tableId: number): Region | undefined => this.live.byTableId(tableId)?.table.region;
    const sawEntry = (tableId: number, sequence: number): void => check.sawRecord(tableId, sequence);
    const replay = new Replay({
      regionOf,
      nextTableId: this.schemas.nextTableId,
      ledger: this.ledger,
      logger: this.parts.logger,
      sawEntry,
    });
    const report = await this.parts.wal.recover((record) => {
      this.sequences.sawUsed(record.sequence);
      replay.apply(record);
    });
    await check.end();
    failPoint("recover.before-trim");
    await this.trimmer.trim();
    return report;
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
