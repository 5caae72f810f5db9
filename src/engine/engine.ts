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
import type { TableId } from "../base/units.ts";
import { DbError } from "../base/error.ts";
import { waitWithin } from "../base/scheduler/wait-within.ts";
import { failPoint } from "../base/process/fail-point.ts";
import { StatusCode } from "../base/status-code.ts";
import type { Trouble, Troubles } from "../base/process/troubles.ts";
import type { AdminOperations, BackupOperations } from "../query/query-context.ts";
import { filesWithoutIndexes } from "../storage/region/missing-indexes.ts";
import { abandonAll, publishAll } from "../storage/region/prepared-chunk.ts";
import type { WalQueue } from "../storage/wal/wal.ts";
import type { Catalog, DatabaseInfo, Table } from "../table/catalog.ts";
import { databaseNotFound, tableNotFound } from "../table/not-found.ts";
import type { TimeRange } from "../table/scan.ts";
import type { SchemaChange, TableDefinition, TableSchema } from "../table/schema.ts";
import type { ViewDefinition, ViewInfo } from "../table/view.ts";
import type { KnownColumn, SchemaLookup, WriteBatch, WriteOptions, Writer, WriteResult } from "../table/write-batch.ts";
import type { CompactionTotals } from "./compaction/compactor.ts";
import type { EngineParts } from "./engine-parts.ts";
import { FileCheck } from "./recovery/file-check.ts";
import { checkFooters } from "./recovery/footer-check.ts";
import { openAhead, type OpenedAhead, type Turn } from "./recovery/open-ahead.ts";
import type { FollowedMessage } from "./follow/followed-source.ts";
import type { Follower } from "./follow/follower.ts";
import { flushAll } from "./flush/flush-all.ts";
import type { CheckedTable } from "./health/damaged-files.ts";
import type { LiveTables } from "./catalog/live-tables.ts";
import { LogLedger } from "./log/log-ledger.ts";
import { type MetaStore, SHARDS_KEY } from "../storage/meta-store/meta-store.ts";
import { NOTHING_TO_TAKE } from "./schema/commits.ts";
import { decodeFile, LOG_KEY } from "./schema/meta-codec.ts";
import { removalsOf, storedRegions } from "./schema/storage-entries.ts";
import { type EngineRecovery, recoverLogs } from "./recovery/recovery.ts";
import type { CatalogNews } from "./threads/messages.ts";
import type { OwnerLink } from "./threads/thread-link.ts";
import { type Wiring, wired } from "./wiring/wiring.ts";
import { changedMeanwhile } from "./write/write-path.ts";

/** How long flushing may go on at shutdown. Reason: service managers kill after 10 s or more, and the log has everything anyway. */
const CLOSE_FLUSH_MILLIS = 5000;

/** See the file header. */
export class Engine implements Catalog, Writer, SchemaLookup, AdminOperations {
  private readonly parts: Wiring;

  private constructor(parts: Wiring) {
    this.parts = parts;
  }

  /** Opens everything and replays the log. @throws DbError StorageUnavailable */
  static async open(parts: EngineParts): Promise<{ readonly engine: Engine; readonly recovery: EngineRecovery }> {
    if (parts.elsewhere !== undefined) checkRowless(parts);
    const made = wired(parts);
    try {
      return await Engine.opened(made, parts);
    } catch (error) {
      // Whoever shares the process goes on.
      await made.catalog.close();
      made.forget();
      throw error;
    }
  }

  private static async opened(made: Wiring, parts: EngineParts): Promise<{ readonly engine: Engine; readonly recovery: EngineRecovery }> {
    const { inForce, live, streams, sequences } = made;
    const { count: shards } = made.shards;
    // Up to here nothing waits where others have the catalogue, too: what they change is told of tables that are open.
    const { follower } = made;
    if (parts.catalogue === undefined && shards > 1 && made.meta.get(SHARDS_KEY) === undefined)
      await made.commits.make(() => [{ key: SHARDS_KEY, value: shards }], NOTHING_TO_TAKE);
    inForce.openAll();
    failPoint("recover.schemas-read");
    const { nextTableId } = made.schemas;
    const nextFileId = made.fileIds.unknownFrom;
    const flushed = new Map([...live.regions()].map((region) => [region.schemaNow.id, region.flushedSequence]));
    const tableOf = (region: TableId): TableId => made.shards.tableOf(region);
    const isOwned = follower !== undefined;
    if (isOwned) await forgetDropped(made, nextTableId);
    const names = isOwned ? storedFileNames(made.meta) : live.fileNames();
    const check = new FileCheck(
      made.files,
      { names, flushed, nextFileId, nextTableId, tableOf, isOwned, folder: parts.folder },
      parts.logger,
    );
    await made.damaged.find(checkedTables(live), await check.begin());
    await checkFooters(made.meta, made.files, checkedTables(live));
    failPoint("recover.files-checked");
    await made.disk.look();
    const recovery = await recoverLogs({ streams, live, sequences, nextTableId, shards: made.shards, logger: parts.logger }, check);
    if (!isOwned && made.meta.get(LOG_KEY) === undefined) await made.commits.make(() => [{ key: LOG_KEY, value: true }], NOTHING_TO_TAKE);
    failPoint("recover.before-trim");
    await made.trimmer.trim();
    inForce.begin();
    const engine = new Engine(made);
    // Others may be filling theirs.
    if (parts.catalogue === undefined) await engine.dropUnfinished(Number.POSITIVE_INFINITY);
    failPoint("recover.done");
    made.places.begin();
    made.flushes.start();
    made.upkeep.start();
    made.compactor.start();
    return { engine, recovery };
  }

  /**
   * Drops tables that were being filled when their process ended. Where others have the catalogue, too, nobody knows whose still runs:
   * it is for one that takes statements, and for tables that are so old that no statement fills them any more.
   *
   * @param beforeMillis drops those that were made before; wall-clock time
   */
  async dropUnfinished(beforeMillis: number): Promise<void> {
    const { schemas, changes } = this.parts;
    for (const { database, name, isUnfinished, createdMillis = 0 } of schemas.allSchemas()) {
      if (isUnfinished === true && createdMillis < beforeMillis) await changes.dropTable(database, name, true);
    }
  }

  // ---- Catalog ----

  databases(): readonly DatabaseInfo[] {
    return this.parts.schemas.databases();
  }

  database(name: string): DatabaseInfo | undefined {
    return this.parts.schemas.database(name);
  }

  createDatabase(name: string, options: Readonly<Record<string, string>>, ifNotExists: boolean): Promise<boolean> {
    return this.parts.changes.createDatabase(name, options, ifNotExists);
  }

  alterDatabase(name: string, options: Readonly<Record<string, string | undefined>>): Promise<void> {
    return this.parts.changes.alterDatabase(name, options);
  }

  dropDatabase(name: string, ifExists: boolean): Promise<boolean> {
    return this.parts.changes.dropDatabase(name, ifExists);
  }

  /** Tables of each database, by its name. */
  get tableCounts(): ReadonlyMap<string, number> {
    const { schemas } = this.parts;
    return new Map(schemas.databases().map(({ name }) => [name, schemas.tableCount(name)]));
  }

  tables(database: string): readonly Table[] {
    return this.parts.schemas.schemas(database).flatMap((schema) => this.parts.live.tableOfId(schema.id) ?? []);
  }

  table(database: string, name: string): Table | undefined {
    return this.parts.live.table(database, name);
  }

  createTable(definition: TableDefinition, ifNotExists: boolean): Promise<Table> {
    return this.parts.changes.createTable(definition, ifNotExists);
  }

  alterTable(database: string, name: string, change: SchemaChange): Promise<Table> {
    return this.parts.changes.alterTable(database, name, change);
  }

  dropTable(database: string, name: string, ifExists: boolean): Promise<boolean> {
    return this.parts.changes.dropTable(database, name, ifExists);
  }

  truncateTable(database: string, name: string, ranges?: readonly TimeRange[]): Promise<void> {
    return this.parts.truncation.table(database, name, ranges);
  }

  views(database: string): readonly ViewInfo[] {
    return this.parts.schemas.views(database);
  }

  view(database: string, name: string): ViewInfo | undefined {
    return this.parts.schemas.view(database, name);
  }

  createView(definition: ViewDefinition, orReplace: boolean): Promise<void> {
    return this.parts.changes.createView(definition, orReplace);
  }

  dropView(database: string, name: string, ifExists: boolean): Promise<boolean> {
    return this.parts.changes.dropView(database, name, ifExists);
  }

  columnOf(database: string, table: string, column: string): KnownColumn | undefined {
    return this.parts.inForce.columnOf(database, table, column);
  }

  onlyFieldOf(database: string, table: string): string | undefined {
    return this.parts.inForce.onlyFieldOf(database, table);
  }

  rolesOf(database: string, table: string): Pick<TableSchema, "engine" | "options"> | undefined {
    return this.parts.schemas.schema(database, table);
  }

  // ---- Writer ----

  async write(database: string, batch: WriteBatch, options: WriteOptions): Promise<WriteResult> {
    const { gate, writePath, flushes, troubles, meta, sure, elsewhere } = this.parts;
    this.checkWritable(database);
    if (this.parts.follower !== undefined) throw new DbError(StatusCode.Unsupported, "cannot write: rows come by the log of the shard");
    gate.check();
    // From here to the append nothing waits: the batch's arrays are only valid until the decoder runs again.
    const logged = writePath.log(database, batch, options);
    const { later, durable, prepared, rowCount, refused } = logged;
    if (later !== undefined) {
      await waitWithin(later, { signal: options.signal });
      throw changedMeanwhile(database);
    }
    if (durable === undefined && refused !== undefined) throw refused;
    if (durable === undefined) return { rowCount };
    let bytes = 0;
    for (const { chunk } of prepared) bytes += chunk.payload.length;
    // Now: on a disk that hangs they take memory long before they are durable.
    sure.run("a write's memory is counted", () => flushes.written(bytes));
    // Beside the log: what was dropped before the write came must not take its rows along.
    const fresh = elsewhere === undefined ? undefined : settled(elsewhere.refreshed());
    try {
      await durable;
    } catch (error) {
      troubles.failures.log++;
      sure.run("the rows of a failed write are dropped", () => abandonAll(prepared));
      throw error;
    }
    sure.run("the rows of a write become visible", () => {
      failPoint("write.durable");
      if (elsewhere === undefined) publishAll(prepared);
      else abandonAll(prepared); // They are where the lanes took them.
    });
    failPoint("write.published");
    await meta.settled();
    sure.check();
    if (fresh !== undefined) {
      (await fresh)();
      if (!logged.isCurrent()) throw changedMeanwhile(database);
    }
    if (refused !== undefined) throw refused;
    return { rowCount };
  }

  /**
   * Makes a commit that changes nothing: one of a store that is another's by now is refused, and `onFenced` is told.
   *
   * @throws DbError StorageUnavailable; Fenced
   */
  async confirmStore(): Promise<void> {
    await this.parts.commits.make(
      () => [],
      () => undefined,
    );
  }

  async delete(database: string, batch: WriteBatch): Promise<WriteResult> {
    this.checkWritable(database);
    const { elsewhere, deleter } = this.parts;
    return (elsewhere ?? deleter).deleteBatch(database, batch);
  }

  /** Rows that had expired when they came, and were taken and not kept, since the start. */
  get expiredRows(): number {
    return this.parts.shared.expiredRows;
  }

  /**
   * Resolves when there is memory for another write; call it before decoding.
   *
   * @throws DbError StorageUnavailable when writes would fail; RateLimited; Cancelled when the signal fires
   */
  async admit(signal?: AbortSignal): Promise<void> {
    const { gate, flushes, elsewhere } = this.parts;
    gate.check();
    await flushes.admit(signal);
    if (elsewhere?.lanes.some(({ isBusy }) => isBusy) !== true) return;
    // Which shards the rows go to is not known before they are decoded.
    await Promise.all(elsewhere.lanes.map((lane) => lane.admit(signal)));
  }

  // ---- A log that others write ----

  /** What is known of the log that this engine follows. */
  get followed(): Pick<Follower, "applied" | "start" | "wholeFrom" | "skipped" | "losses"> {
    return this.follower;
  }

  /**
   * Takes the next message of the log that this engine follows: its rows are visible. The catalogue has what its records name.
   *
   * @throws AssertionError when memory lacks something of it: `EngineParts.onBug` was told, and nothing is committed any more
   */
  follow(message: FollowedMessage): void {
    const { sure, flushes } = this.parts;
    const bytes = sure.run("a message of the log is taken", () => this.follower.take(message));
    if (bytes > 0) flushes.written(bytes);
  }

  /**
   * Goes on with that log behind `to`, since it has lost messages that were taken, or that files have rows of. All that is in memory goes
   * to files, so that nothing needs the log; what is known of writers stays, so that what they send again does not count twice. Nothing
   * is taken meanwhile.
   *
   * @param to above the number of each message that there ever was
   * @throws DbError StorageUnavailable of a flush or a commit: to be called again; Fenced
   */
  async passLoss(to: number): Promise<void> {
    this.follower.endOfLog();
    await flushAll(this.parts, Number.POSITIVE_INFINITY);
    for (const stream of this.parts.streams.all()) await stream.goOnBehind?.(to);
  }

  /** Says that files have rows of messages that the log has lost, before any of it is taken. */
  doubtFlushed(): void {
    this.follower.isDoubted = true;
  }

  /** Resolves when there is memory for more of that log. @throws DbError RateLimited after `stallMillis`; Cancelled */
  async room(signal?: AbortSignal): Promise<void> {
    await this.parts.flushes.admit(signal);
  }

  /** Bytes of memtables. */
  get memtableBytes(): number {
    return this.parts.flushes.memoryBytes;
  }

  /** A table by its id, of any kind. */
  tableOfId(id: TableId): Table | undefined {
    return this.parts.live.tableOfId(id);
  }

  /** The id of a table by that of what it has in a shard, which its schema here may name. */
  tableIdOf(id: TableId): TableId {
    return this.parts.shards.tableOf(id);
  }

  private get follower(): Follower {
    const { follower } = this.parts;
    assert(follower !== undefined, "an engine that follows a log");
    return follower;
  }

  // ---- Ingest threads ----

  /** The catalog as a new thread needs it. */
  catalogNews(): CatalogNews {
    return this.parts.feed.whole();
  }

  /**
   * Takes an ingest thread in, before it takes its first write. Its log, if an earlier process left one, was replayed and is closed here,
   * so that the thread can open it.
   */
  async addThread(id: number, link: OwnerLink): Promise<void> {
    const { streams, threads } = this.parts;
    const left = streams.local().find((stream) => stream.id === id);
    await left?.close();
    failPoint("thread.begun");
    streams.set(threads.add(id, link, left ?? { ledger: new LogLedger(), head: () => 0, newestKnown: () => undefined }));
  }

  /** Says that an ingest thread is gone: nothing waits for it any more, flushes fail, and its log is read back by the next start. */
  threadDied(id: number, why: string): void {
    this.parts.threads.died(id, why);
  }

  // ---- Admin ----

  async flushTable(database: string, table: string): Promise<void> {
    const { elsewhere, flusher, inForce } = this.parts;
    if (elsewhere !== undefined) await elsewhere.flush(this.schemaOf(database, table));
    else await flusher.flush(...inForce.regionsOf(database, table));
  }

  async compactTable(database: string, table: string, range?: TimeRange): Promise<void> {
    const { elsewhere, compactor, inForce } = this.parts;
    if (elsewhere !== undefined) return elsewhere.compact(this.schemaOf(database, table), range);
    for (const region of inForce.regionsOf(database, table)) await compactor.compactAll(region, range);
  }

  async buildIndexes(database: string, table: string): Promise<void> {
    const { inForce, compactor, cache, elsewhere } = this.parts;
    if (elsewhere !== undefined) return elsewhere.buildIndexes(this.schemaOf(database, table));
    for (const region of inForce.regionsOf(database, table)) await compactor.rewrite(region, await filesWithoutIndexes(region, cache));
  }

  get backups(): BackupOperations {
    return this.parts.backups;
  }

  /** What compactions have done since the start. */
  get compactionTotals(): Readonly<CompactionTotals> {
    return this.parts.compactor.totals;
  }

  /** Resolves when no compaction is under way or due now. */
  compactionIdle(): Promise<void> {
    return this.parts.compactor.idle();
  }

  /** Opens the newest data files before queries ask for them (`recovery/open-ahead.ts`). */
  openAhead(turn: Turn): Promise<OpenedAhead> {
    return openAhead(this.parts.live.regionsByTable(), this.parts.cache, turn);
  }

  /** Why writes fail, or undefined. */
  failure(): string | undefined {
    return this.parts.gate.failure();
  }

  /** What does not work now; failures since the start, by part. */
  troubles(): { readonly now: readonly Trouble[]; readonly failures: Readonly<Troubles["failures"]> } {
    const { streams, troubles, elsewhere } = this.parts;
    const log = streams.failure() ?? elsewhere?.lanes.map((lane) => lane.failure()).find((failure) => failure !== undefined);
    const now = troubles.list();
    if (log !== undefined) now.unshift({ part: "log", reason: log, sinceMillis: 0 });
    return { now, failures: troubles.failures };
  }

  /** Series that are held, dead ones among them, as of the last round of upkeep, and how often a table's were begun anew. */
  get seriesState(): { readonly count: number; readonly renewals: number } {
    const { seriesCount: count, renewals } = this.parts.series;
    return { count, renewals };
  }

  /** One round of upkeep, which otherwise runs once a second: for tests. */
  keepUp(): Promise<void> {
    return this.parts.upkeep.tick();
  }

  /** Bytes free on the fullest disk that is watched, Infinity when none is; and what waits for the log. */
  get storageState(): { readonly freeBytes: number; readonly queued: WalQueue; readonly logBytes: number } {
    const { disk, wal, trimmer } = this.parts;
    return { freeBytes: disk.freeBytes, queued: wal.queued(), logBytes: trimmer.bytes };
  }

  /**
   * Flushes tables and closes everything, in the order of the file header.
   *
   * @param flushes whether what is in memory goes to files first; never where the meta store is another's
   * @throws DbError of a flush; the log has its rows
   */
  async close(flushes = true): Promise<void> {
    const { upkeep, backups, flushes: scheduler, compactor, flusher, flushExecutor, streams, live, meta, commits } = this.parts;
    failPoint("close.begun");
    await upkeep.close();
    await backups.close();
    await scheduler.close();
    await compactor.close();
    const failures: unknown[] = [];
    let isAllInFiles = false;
    try {
      isAllInFiles = flushes && commits.fenced === undefined && (await this.flushBeforeClose());
      if (isAllInFiles && this.parts.follower !== undefined) {
        for (const stream of streams.all()) stream.ending?.();
        await this.parts.trimmer.trim(); // The next owner has less to read.
      }
    } catch (error) {
      failures.push(error); // Said once all is closed.
    }
    await flusher.idle();
    await flushExecutor.close();
    await this.parts.catalog.close();
    failPoint("close.before-log");
    // All of them, whatever one of them says: the others' last records are to be synced.
    for (const closed of await Promise.allSettled(streams.all().map((stream) => stream.close()))) {
      if (closed.status === "rejected") failures.push(closed.reason);
    }
    failPoint("close.log-closed");
    // Nobody needs it now.
    if (isAllInFiles && failures.length === 0 && this.parts.follower === undefined)
      await commits.make(() => [{ key: LOG_KEY, value: undefined }], NOTHING_TO_TAKE);
    commits.end(); // A delete under way, for one, would be flushed as if there were no rows that it could hide.
    for (const { table } of live.entries()) await table.region.close(false);
    meta.close();
    this.parts.forget();
    failPoint("close.done");
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Brings what is in memory to files while all goes on, so that a close right behind it has little to do. For a bounded time.
   *
   * @throws DbError of a flush; the log has its rows
   */
  async flushAhead(): Promise<void> {
    await this.flushBeforeClose();
  }

  /**
   * Largest tables first, for a bounded time: ten thousand small tables are replayed faster than they are flushed. Says whether all of
   * them were.
   */
  private async flushBeforeClose(): Promise<boolean> {
    const tables = await flushAll(this.parts, CLOSE_FLUSH_MILLIS);
    if (tables > 0) this.parts.logger.info({ tables }, "tables left in the log, to be replayed at the next start");
    return tables === 0;
  }

  /** @throws DbError TableNotFound */
  private schemaOf(database: string, table: string): TableSchema {
    const schema = this.parts.schemas.schema(database, table);
    if (schema === undefined) throw tableNotFound(database, table);
    return schema;
  }

  private checkWritable(database: string): void {
    const isThere = this.parts.schemas.database(database) !== undefined;
    if (!isThere) throw databaseNotFound(database);
    if (database === "information_schema") {
      throw new DbError(StatusCode.Unsupported, "Schema `information_schema` is read-only");
    }
  }
}

/** Resolves when a promise has settled, with what throws its failure: nobody may wait for it before something else has failed. */
async function settled(promise: Promise<unknown>): Promise<() => void> {
  const [outcome] = await Promise.allSettled([promise]);
  return () => {
    if (outcome.status === "rejected") throw outcome.reason;
  };
}

/** @throws DbError Unsupported for what an engine cannot have whose rows are elsewhere */
function checkRowless({ shared, threadLogs = [] }: EngineParts): void {
  if ((shared?.threads ?? 0) === 0 && threadLogs.length === 0) return;
  throw new DbError(StatusCode.Unsupported, "cannot open an engine whose rows are elsewhere with ingest threads: only one thread writes");
}

/** Takes away what a manifest has of tables that were dropped while nobody followed. Of later ids the catalogue here may not know yet. */
async function forgetDropped({ meta, commits, live, shards }: Wiring, nextTableId: number): Promise<void> {
  const isGone = (region: TableId): boolean => live.byRegionId(region) === undefined && shards.tableOf(region) < nextTableId;
  const removals = removalsOf(meta, [...storedRegions(meta)].filter(isGone));
  if (removals.length > 0) await commits.make(() => removals, NOTHING_TO_TAKE);
}

/** Names of all files that a manifest has, those of tables that the catalogue here does not know yet among them. */
function storedFileNames(meta: MetaStore): Set<string> {
  return new Set(meta.list("file/").map(({ key, value }) => decodeFile(key, value).name));
}

/** The files that tables have, by table. */
function* checkedTables(live: LiveTables): Generator<CheckedTable> {
  for (const { table } of live.entries()) {
    const { database, name } = table.schema;
    yield { database, name, files: table.region.dataFiles };
  }
}
