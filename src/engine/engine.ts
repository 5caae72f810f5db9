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
import { sameType } from "../column/data-type.ts";
import type { Logger } from "../base/log.ts";
import { StatusCode } from "../base/status-code.ts";
import type { AdminOperations } from "../query/query-context.ts";
import { PageCache } from "../storage/cache/page-cache.ts";
import type { MergeExecutor } from "../storage/compaction/merge-executor.ts";
import type { FileStore } from "../storage/file-store/file-store.ts";
import { SlabPool } from "../storage/memtable/arena.ts";
import { encodeWriteRecord, type RecordEntry } from "../storage/memtable/write-record.ts";
import type { MetaChange, MetaStore } from "../storage/meta-store/meta-store.ts";
import type { Memtable } from "../storage/memtable/memtable.ts";
import { type PreparedChunk, Region } from "../storage/region/region.ts";
import { compareFiles, type DataFile } from "../storage/sst/data-file.ts";
import { filesOfFlushMax } from "../storage/sst/flush.ts";
import type { FlushExecutor } from "../storage/sst/flush-executor.ts";
import type { Wal, WalRecoveryReport } from "../storage/wal/wal.ts";
import type { Catalog, DatabaseInfo, Table } from "../table/catalog.ts";
import type { TimeRange } from "../table/scan.ts";
import { mergeModeOf, type SchemaChange, type TableDefinition, type TableSchema } from "../table/schema.ts";
import type { SeriesDictionary } from "../table/series-dictionary.ts";
import type { KnownColumn, SchemaLookup, TableWrite, WriteBatch, WriteOptions, Writer, WriteResult } from "../table/write-batch.ts";
import { type CompactionLimits, type CompactionTotals, Compactor } from "./compactor.ts";
import { EngineTable } from "./engine-table.ts";
import { type FlushLimits, FlushScheduler } from "./flush-scheduler.ts";
import { LogLedger } from "./log-ledger.ts";
import { decodeFile, encodeFile, fileKey, flushedKey, numberOf } from "./meta-codec.ts";
import { Replay } from "./replay.ts";
import { changedOptions } from "./schema-change.ts";
import { checkMayExtend, columnsForNewTable, type KnownColumns, missingColumns, tableMissing, tagNamesOf } from "./schema-evolution.ts";
import { type SchemaStep, SchemaStore } from "./schema-store.ts";
import { mapRows, resolveKey, SegmentMarks, SeriesMapper, unresolvedKeys } from "./series-mapper.ts";
import { tableNotFound } from "./table-not-found.ts";
import { convertTimes, splitForUnit } from "./time-conversion.ts";
import { columnSources, type WritePlan, writePlanOf } from "./write-rows.ts";

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

interface TableEntry {
  readonly table: EngineTable;
  readonly marks: SegmentMarks;
  plan: WritePlan;
}

/** See the file header. Invariant: what `byId` and `entries` hold are the tables of `schemas`, also while a drop or creation runs. */
export class Engine implements Catalog, Writer, SchemaLookup, AdminOperations {
  private readonly parts: EngineParts;
  private readonly schemas: SchemaStore;
  private readonly entries: Map<string, TableEntry> = new Map();
  private readonly byId: Map<number, TableEntry> = new Map();
  private readonly mapper: SeriesMapper = new SeriesMapper();
  private readonly ledger: LogLedger = new LogLedger();
  private readonly scheduler: FlushScheduler<Region>;
  private readonly compactor: Compactor;
  private readonly pool: SlabPool;
  private readonly cache: PageCache;
  private sequence = 0;
  private dropEpoch = 0;
  private flushing: Promise<void> = Promise.resolve();
  private scratch: Uint32Array = new Uint32Array(16_384);

  private constructor(parts: EngineParts) {
    this.parts = parts;
    this.schemas = new SchemaStore(parts.meta);
    this.pool = new SlabPool(parts.limits.memtableBytes);
    this.cache = new PageCache(parts.pageCacheBytes);
    const host = {
      regions: () => this.regions(),
      logBytes: () => parts.wal.segments().reduce((sum, segment) => sum + segment.bytes, 0),
      logHolders: () => this.ledger.holders(this, this.logHead()).flatMap((id) => this.byId.get(id)?.table.region ?? []),
      flush: (region: Region) => this.flushRegion(region),
    };
    this.scheduler = new FlushScheduler(parts.limits, host, parts.clock, parts.logger.child("flush"));
    const { merger, meta, files, clock } = parts;
    const limits = parts.compaction;
    this.compactor = new Compactor(
      { merger, meta, files, clock, limits, logger: parts.logger.child("compaction") },
      {
        regions: () => this.regions(),
        isLive: (region) => this.isLive(region),
        takeFileId: () => this.schemas.takeFileIds(1),
        databaseOptions: (name) => this.schemas.database(name)?.options ?? {},
      },
    );
  }

  /** Opens everything and replays the log. @throws DbError StorageUnavailable */
  static async open(parts: EngineParts): Promise<{ readonly engine: Engine; readonly recovery: WalRecoveryReport }> {
    const engine = new Engine(parts);
    const known = new Set<string>();
    for (const schema of engine.schemas.allSchemas()) {
      const entry = engine.addEntry(schema);
      for (const file of entry.table.region.dataFiles) known.add(file.name);
    }
    for (const name of await parts.files.list("tables")) if (!known.has(name)) await parts.files.delete(name);
    const recovery = await engine.replay();
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
    this.schemas.createDatabase(name, options);
    await this.parts.meta.settled();
    return true;
  }

  async dropDatabase(name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.schemas.database(name) === undefined) return false;
    await this.removeTables(this.schemas.dropDatabase(name));
    return true;
  }

  tables(database: string): readonly Table[] {
    return this.schemas.schemas(database).flatMap((schema) => this.byId.get(schema.id)?.table ?? []);
  }

  table(database: string, name: string): Table | undefined {
    return this.entries.get(keyOf(database, name))?.table;
  }

  async createTable(definition: TableDefinition, ifNotExists: boolean): Promise<Table> {
    const existing = this.table(definition.database, definition.name);
    if (existing !== undefined && ifNotExists) return existing;
    const entry = this.addEntry(this.schemas.createTable(definition));
    await this.parts.meta.settled();
    return entry.table;
  }

  async dropTable(database: string, name: string, ifExists: boolean): Promise<boolean> {
    if (ifExists && this.schemas.schema(database, name) === undefined) return false;
    await this.removeTables([this.schemas.dropTable(database, name)]);
    return true;
  }

  async alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void> {
    this.schemas.alterDatabase(name, options);
    await this.parts.meta.settled();
  }

  async truncateTable(database: string, name: string, ranges?: readonly TimeRange[]): Promise<void> {
    const entry = this.entries.get(keyOf(database, name));
    if (entry === undefined) throw tableNotFound(database, name);
    const { region } = entry.table;
    const { id } = region.schemaNow;
    const files = region.dataFiles.filter((file) => ranges === undefined || ranges.some((range) => lies(file, range)));
    const { meta } = this.parts;
    // A flush whose commit has not settled has entries of files that the region does not know yet.
    const keys = ranges === undefined ? meta.list(fileKey(id)).map(({ key }) => key) : files.map((file) => fileKey(id, file.id));
    const changes: MetaChange[] = keys.map((key) => ({ key, value: undefined }));
    // Everything that was appended to the log until now goes; what comes later has a higher sequence.
    if (ranges === undefined) changes.push({ key: flushedKey(id), value: this.sequence });
    meta.commit(changes);
    this.compactor.forget(region, ranges === undefined ? undefined : new Set(keys));
    const taken = region.takeAway(files, ranges === undefined ? this.sequence : undefined);
    await this.parts.meta.settled();
    await this.flushing; // A flush of these rows, if it runs, still reads their memory.
    await taken.end();
    await this.trimLog();
  }

  async alterTable(database: string, name: string, change: SchemaChange): Promise<Table> {
    const old = this.schemas.schema(database, name);
    if (old !== undefined && changesMerging(old, change)) await this.flushTable(database, name); // What it merged until now stays merged.
    const [schema] = this.schemas.applyAll([{ kind: "alter", database, table: name, change }]);
    assert(schema !== undefined, "a change gives a schema");
    const entry = this.applySchema(schema);
    await this.parts.meta.settled();
    return entry.table;
  }

  columnOf(database: string, table: string, column: string): KnownColumn | undefined {
    return this.entries.get(keyOf(database, table))?.plan.columnOf.get(column);
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
    const { durable, prepared, rowCount } = this.logBatch(database, batch, options);
    if (durable === undefined) return { rowCount: 0 };
    try {
      await durable;
    } catch (error) {
      for (const chunk of prepared) chunk.abandon();
      throw error;
    }
    let bytes = 0;
    for (const chunk of prepared) {
      chunk.publish();
      bytes += chunk.chunk.payload.length;
    }
    this.scheduler.written(bytes);
    await this.parts.meta.settled();
    return { rowCount };
  }

  /** Resolves when there is memory for another write; call it before decoding. @throws DbError RateLimited */
  admit(): Promise<void> {
    return this.scheduler.admit();
  }

  // ---- Admin ----

  async flushTable(database: string, table: string): Promise<void> {
    const entry = this.entries.get(keyOf(database, table));
    if (entry === undefined) throw tableNotFound(database, table);
    await this.flushRegion(entry.table.region);
  }

  async compactTable(database: string, table: string): Promise<void> {
    const entry = this.entries.get(keyOf(database, table));
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

  /** Sequence up to which a table's rows are in files; Infinity when the table is gone. */
  flushedSequence(tableId: number): number {
    return this.byId.get(tableId)?.table.region.flushedSequence ?? Number.POSITIVE_INFINITY;
  }

  /** Flushes tables and closes everything, in the order of the file header. @throws DbError of a flush; the log has its rows */
  async close(): Promise<void> {
    await this.scheduler.close();
    await this.compactor.close();
    try {
      await this.flushBeforeClose();
    } finally {
      await this.flushing;
      await this.parts.flusher.close();
      await this.parts.wal.close();
      for (const { table } of this.byId.values()) await table.region.close(false);
      this.parts.meta.close();
    }
  }

  /** Largest tables first, for a bounded time: ten thousand small tables are replayed faster than they are flushed. */
  private async flushBeforeClose(): Promise<void> {
    const { clock, logger } = this.parts;
    const deadline = clock.monotonicMillis() + CLOSE_FLUSH_MILLIS;
    const regions = [...this.regions()].sort((a, b) => b.memoryBytes - a.memoryBytes);
    for (let i = 0; i < regions.length; i++) {
      await this.flushRegion(regions[i] as Region);
      if (clock.monotonicMillis() < deadline) continue;
      logger.info({ tables: regions.length - i - 1 }, "tables left in the log, to be replayed at the next start");
      return;
    }
  }

  // ---- Write path ----

  private logBatch(
    database: string,
    batch: WriteBatch,
    options: WriteOptions,
  ): { readonly durable: Promise<void> | undefined; readonly prepared: readonly PreparedChunk[]; readonly rowCount: number } {
    const writes = batch.tables.filter((write) => write.rowCount > 0);
    const prepared: PreparedChunk[] = [];
    if (writes.length === 0) return { durable: undefined, prepared, rowCount: 0 };
    const seriesOfKey = this.mapper.mapOf(batch.dictionary, database, this.dropEpoch);
    this.evolve(database, writes, batch.dictionary, seriesOfKey, options);
    const segment = this.parts.wal.beginRecord();
    const sequence = this.sequence + 1;
    const entries: RecordEntry[] = [];
    let rowCount = 0;
    try {
      for (const write of writes) {
        const entry = this.entryOf(database, write.table);
        for (const part of splitForUnit(write, entry.plan.timeUnit)) {
          const { chunk, record } = this.prepareChunk(entry, part, seriesOfKey, segment, sequence);
          prepared.push(chunk);
          entries.push(record);
        }
        rowCount += write.rowCount;
      }
    } catch (error) {
      for (const chunk of prepared) chunk.abandon();
      // Series marked for this record were not logged.
      for (const { marks } of this.byId.values()) marks.forget();
      throw error;
    }
    this.sequence = sequence;
    for (const { tableId } of entries) this.ledger.note(segment, tableId, sequence);
    return { durable: this.parts.wal.append(sequence, encodeWriteRecord(entries)), prepared, rowCount };
  }

  private prepareChunk(
    entry: TableEntry,
    write: TableWrite,
    seriesOfKey: Uint32Array,
    segment: number,
    sequence: number,
  ): { readonly chunk: PreparedChunk; readonly record: RecordEntry } {
    const { region } = entry.table;
    const columns = columnSources(region.schemaNow, entry.plan, write, this.parts.clock);
    const times = convertTimes(write.times, write.rowCount, write.timeUnit, entry.plan.timeUnit);
    if (this.scratch.length < write.rowCount) this.scratch = new Uint32Array(write.rowCount * 2);
    const marks = entry.marks.reserve(region.registry.count);
    const newSeries: number[] = [];
    const seriesMax = mapRows(write.keys, write.rowCount, seriesOfKey, marks, segment, this.scratch, newSeries);
    const chunk = region.prepare({
      sequence,
      rowCount: write.rowCount,
      series: this.scratch,
      seriesMax,
      timeBase: times.base,
      timeOffsets: times.offsets,
      columns,
    });
    return { chunk, record: { tableId: region.schemaNow.id, registry: region.registry, newSeries, chunk: chunk.chunk } };
  }

  /** Creates what the batch needs, in one commit, and gives every new key its series. */
  private evolve(
    database: string,
    writes: readonly TableWrite[],
    dictionary: SeriesDictionary,
    seriesOfKey: Uint32Array,
    options: WriteOptions,
  ): void {
    const pending = writes.map((write) => ({ write, keys: unresolvedKeys(write.keys, write.rowCount, seriesOfKey) }));
    const steps = this.schemaSteps(database, pending, dictionary, options);
    if (steps.length > 0) for (const schema of this.schemas.applyAll(steps)) this.applySchema(schema);
    for (const { write, keys } of pending) {
      if (keys.length === 0) continue;
      const { registry } = this.entryOf(database, write.table).table.region;
      for (const key of keys) resolveKey(key, dictionary.tagsOf(key), registry, seriesOfKey);
    }
  }

  private schemaSteps(
    database: string,
    pending: readonly { readonly write: TableWrite; readonly keys: readonly number[] }[],
    dictionary: SeriesDictionary,
    options: WriteOptions,
  ): SchemaStep[] {
    const steps: SchemaStep[] = [];
    const growing = new Map<string, KnownColumns>(); // Tables that earlier steps create or extend, as they will be.
    for (const { write, keys } of pending) {
      const tagNames = keys.length === 0 ? [] : tagNamesOf(dictionary, keys);
      const entry = this.entries.get(keyOf(database, write.table));
      const schema = growing.get(write.table) ?? entry?.table.schema;
      if (entry !== undefined && tagNames.length === 0 && fieldsMatch(entry.plan, write)) continue;
      if (schema === undefined) {
        const refused = tableMissing(database, write.table, options);
        if (refused !== undefined) throw refused;
        const definition = newTable(database, write, dictionary, tagNames, options);
        growing.set(write.table, definition);
        steps.push({ kind: "create", definition });
        continue;
      }
      const missing = missingColumns(schema, tagNames, write.fields);
      checkMayExtend(schema, missing, options);
      if (missing.length === 0) continue;
      growing.set(write.table, { name: write.table, columns: [...schema.columns, ...missing] });
      steps.push({ kind: "alter", database, table: write.table, change: { kind: "add-columns", columns: missing, ifNotExists: true } });
    }
    return steps;
  }

  // ---- Tables ----

  private *regions(): Generator<Region> {
    for (const { table } of this.byId.values()) yield table.region;
  }

  private entryOf(database: string, table: string): TableEntry {
    const entry = this.entries.get(keyOf(database, table));
    assert(entry !== undefined, `table ${database}.${table} exists`);
    return entry;
  }

  private addEntry(schema: TableSchema): TableEntry {
    const { meta, files, clock } = this.parts;
    const dataFiles: DataFile[] = meta.list(fileKey(schema.id)).map(({ key, value }) => decodeFile(key, value));
    dataFiles.sort(compareFiles);
    const flushed = numberOf(flushedKey(schema.id), meta.get(flushedKey(schema.id)) ?? 0);
    this.sequence = Math.max(this.sequence, flushed);
    const region = new Region(schema, dataFiles, flushed, { pool: this.pool, store: files, clock });
    const entry = { table: new EngineTable(region, this.cache, clock), marks: new SegmentMarks(), plan: writePlanOf(schema) };
    this.entries.set(keyOf(schema.database, schema.name), entry);
    this.byId.set(schema.id, entry);
    return entry;
  }

  private applySchema(schema: TableSchema): TableEntry {
    const entry = this.byId.get(schema.id);
    if (entry === undefined) return this.addEntry(schema);
    const { name, database } = entry.table.schema;
    if (name !== schema.name) {
      this.entries.delete(keyOf(database, name));
      this.entries.set(keyOf(database, schema.name), entry);
      this.dropEpoch++; // Keys of a decoder say the old name.
    }
    entry.table.region.setSchema(schema);
    entry.plan = writePlanOf(schema);
    return entry;
  }

  /** Forgets tables that the schema store has forgotten, all before the first wait: their names may be taken again meanwhile. */
  private async removeTables(schemas: readonly TableSchema[]): Promise<void> {
    const removed = schemas.flatMap((schema) => this.detach(schema) ?? []);
    await this.parts.meta.settled();
    await this.flushing; // A flush of one of them, if it runs, still reads its memory.
    for (const { table } of removed) await table.region.close(true);
    await this.trimLog();
  }

  private detach(schema: TableSchema): TableEntry | undefined {
    const entry = this.byId.get(schema.id);
    if (entry === undefined) return undefined;
    this.byId.delete(schema.id);
    this.entries.delete(keyOf(schema.database, schema.name));
    this.dropEpoch++;
    entry.table.markDropped();
    return entry;
  }

  // ---- Flush and log ----

  /** Writes what the region has in memory to files. One flush runs at a time. */
  private flushRegion(region: Region): Promise<void> {
    const run = this.flushing.then(() => this.flushNow(region));
    this.flushing = Promise.allSettled([run]).then(() => undefined); // The caller sees the error; the next flush starts anyway.
    return run;
  }

  private async flushNow(region: Region): Promise<void> {
    const sealed = this.sequence;
    region.freeze();
    for (let memtable = region.oldestFrozen(); memtable !== undefined; memtable = region.oldestFrozen()) {
      await memtable.whenSettled();
      if (!this.isLive(region)) return; // It was dropped while it waited.
      if (region.oldestFrozen() !== memtable) continue; // Its rows were removed while it waited.
      if (memtable.chunks.length === 0) region.finishFlush(memtable, [], 0);
      else if (!(await this.flushMemtable(region, memtable))) return;
    }
    // Everything up to `sealed` is in a file or failed. Without this, a failed write would keep its log segment for ever.
    region.markFlushed(sealed);
    await this.trimLog();
  }

  /** Returns false when the table was dropped or its rows were removed meanwhile: nothing of the flush stays. */
  private async flushMemtable(region: Region, memtable: Memtable): Promise<boolean> {
    const { meta, flusher, clock, logger } = this.parts;
    const started = clock.monotonicMillis();
    const sequence = memtable.maxSequence;
    const idCount = filesOfFlushMax(region.schemaNow, memtable.chunks);
    const firstFileId = this.schemas.takeFileIds(idCount);
    const made = await flusher.flush(region.flushJob(memtable, firstFileId));
    const isWanted = (): boolean => this.isLive(region) && region.oldestFrozen() === memtable;
    if (!isWanted()) return this.discard(made);
    const tableId = region.schemaNow.id;
    // If this fails, whether it took effect is only known after a restart: until then the files stay and their ids are not used again.
    meta.commit([
      ...made.map((file) => ({ key: fileKey(tableId, file.id), value: encodeFile(file) })),
      { key: flushedKey(tableId), value: sequence },
    ]);
    await meta.settled();
    this.schemas.returnFileIds(firstFileId + made.length, firstFileId + idCount);
    if (this.isLive(region) && !isWanted()) return this.discard(made); // Removed with its entries while the commit settled.
    const rows = memtable.rowCount;
    region.finishFlush(memtable, made, sequence);
    this.compactor.poke(region);
    const bytes = made.reduce((sum, file) => sum + file.byteLength, 0);
    const millis = Math.round(clock.monotonicMillis() - started);
    logger.debug({ table: region.schemaNow.name, rows, files: made.length, bytes, millis }, "flushed");
    return true;
  }

  /** Deletes files that a flush made of rows that are no longer wanted. */
  private async discard(made: readonly DataFile[]): Promise<false> {
    for (const file of made) await this.parts.files.delete(file.name);
    return false;
  }

  private isLive(region: Region): boolean {
    return this.byId.get(region.schemaNow.id)?.table.region === region;
  }

  /** The segment being written; those before it may go. */
  private logHead(): number {
    return this.parts.wal.segments().at(-1)?.id ?? 0;
  }

  private async trimLog(): Promise<void> {
    const head = this.logHead();
    const needed = this.ledger.oldestNeeded(this, head + 1);
    if (needed > head) await this.parts.wal.rotate(); // Nothing in the log is needed: let the newest segment go as well.
    await this.parts.wal.trim(needed);
  }

  private async replay(): Promise<WalRecoveryReport> {
    const replay = new Replay((tableId) => this.byId.get(tableId)?.table.region, this.ledger, this.parts.logger);
    const report = await this.parts.wal.recover((record) => {
      this.sequence = Math.max(this.sequence, record.sequence);
      replay.apply(record);
    });
    await this.trimLog();
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

function keyOf(database: string, table: string): string {
  return `${database}\0${table}`;
}

/** Whether all fields exist with their types: the usual case, without building anything. */
function fieldsMatch(plan: WritePlan, write: TableWrite): boolean {
  for (const field of write.fields) {
    const column = plan.columnOf.get(field.name);
    if (column === undefined || column.semantic !== "field") return false;
    if (!sameType(column.type, field.type)) return false;
  }
  return true;
}

function newTable(
  database: string,
  write: TableWrite,
  dictionary: SeriesDictionary,
  tagNames: readonly string[],
  options: WriteOptions,
): TableDefinition {
  const columns = columnsForNewTable(write, dictionary, tagNames);
  return {
    database,
    name: write.table,
    columns,
    primaryKey: columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name),
    engine: "mito",
    options: options.tableOptions,
  };
}
