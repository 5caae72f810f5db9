/**
 * What an ingest thread does with batches: the write path over a mirror of the tables, a log of its own, and word of every record to the
 * owner of the tables.
 *
 *   decode ─► mirror ─► chunk on shared memory ─► own log ─► durable ─► told to the owner ─► acknowledged
 *
 * An acknowledged row is in the owner's queue, which it empties before it looks at a table; so whoever hears of the acknowledgement sees
 * the row, on whatever connection.
 */
import { targetOf } from "../table/write-target.ts";
import { AssertionError } from "../../base/assert.ts";
import { errorOfTold, type ToldError, toldError } from "../../base/told-error.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { SureSteps } from "../../base/process/sure-steps.ts";
import { StatusCode } from "../../base/status-code.ts";
import { SlabPool } from "../../storage/memtable/arena.ts";
import { abandonAll, publishAll } from "../../storage/region/prepared-chunk.ts";
import type { Wal } from "../../storage/wal/wal.ts";
import { onlyFieldOf, type TableSchema } from "../../table/schema.ts";
import { databaseNotFound } from "../../table/not-found.ts";
import type { KnownColumn, RowWriter, SchemaLookup, WriteBatch, WriteOptions, WriteResult } from "../../table/write-batch.ts";
import { LogWriter } from "../log/log-writer.ts";
import { Expiry } from "../time/expiry.ts";
import { checkLogQueue } from "../write/too-many-writes.ts";
import { LocalLog } from "../write/batch-log.ts";
import { changedMeanwhile, type LoggedBatch, WritePath } from "../write/write-path.ts";
import { type CatalogNews, type FromThread, type Task, type ToThread } from "./messages.ts";
import type { SharedState } from "./shared-state.ts";
import type { ThreadLink } from "./thread-link.ts";
import { ThreadArenas } from "./thread-memory.ts";
import { Shards } from "../schema/shards.ts";
import { ThreadTables } from "./thread-tables.ts";

const HELD = "cannot write: rows are being deleted by their values; send it again";

/** What a message takes besides the head of its record, about. */
const MESSAGE_BYTES = 1024;

/** What the owner is asked, without the number of the question. */
type Question = { readonly what: "admit" | "durable" } | { readonly what: "made"; readonly ticket: number };

/** What an ingest thread is made of. */
export interface IngestThreadParts {
  /** From 1. */
  readonly id: number;
  readonly shared: SharedState;
  readonly link: ThreadLink;
  /** Recovered already; the thread closes it. */
  readonly wal: Wal;
  readonly clock: Clock;
  /** The catalog as it is. */
  readonly news: CatalogNews;
  /** Shards of the engine; 1 by default. */
  readonly shards?: number;
  /** Bytes of memtables over which writers wait. */
  readonly writeBufferBytes: number;
  /** Most bytes of memory that is kept for later chunks. */
  readonly pooledBytes: number;
  /**
   * Called when the owner cannot be told of what is stored: has to end the process. Should it return, the thread acknowledges nothing any
   * more.
   */
  readonly onBug: (error: Error) => void;
}

/** See the file header. */
export class IngestThread implements RowWriter, SchemaLookup {
  private readonly parts: IngestThreadParts;
  private readonly arenas: ThreadArenas;
  private readonly tables: ThreadTables;
  private readonly path: WritePath;
  private readonly sure: SureSteps;
  /** Writes whose record is not told of yet. Each resolves when it is. */
  private readonly pending: Set<Promise<unknown>> = new Set();
  /** Records told of. */
  private told = 0;
  private readonly asked: Map<number, (error: ToldError | undefined) => void> = new Map();
  private lastAsk = 0;
  private toldFailure: string | undefined;

  constructor(parts: IngestThreadParts) {
    this.parts = parts;
    const { shared, link, wal, clock } = parts;
    this.sure = new SureSteps(parts.onBug);
    this.arenas = new ThreadArenas(new SlabPool(parts.pooledBytes), shared, (message) => link.post(message));
    const shards = new Shards(parts.shards ?? 1);
    this.tables = new ThreadTables({ shared, shards, link, arenas: this.arenas, news: parts.news }, (ticket) =>
      this.ask({ what: "made", ticket }),
    );
    const { tables, sure } = this;
    const log = new LocalLog({
      wal,
      writer: new LogWriter(() => tables.catalogVersion),
      sequences: shared.sequences,
      sure,
      noteLogged: () => undefined, // The owner notes it when it is told.
    });
    this.path = new WritePath({
      log,
      clock,
      tables,
      shards,
      expiry: new Expiry(clock, (name) => tables.databaseOptions(name)),
      noteExpired: (rows) => shared.addExpiredRows(rows),
    });
    link.listen((message) => this.take(message));
    this.noteLogBytes();
  }

  /** Names of all databases, as of the last `admit`. */
  get databases(): ReadonlySet<string> {
    return this.tables.databases;
  }

  /** Follows changes of the catalog: what was acknowledged before the call is seen after it. */
  refresh(): void {
    this.tables.refresh();
  }

  columnOf(database: string, table: string, column: string): KnownColumn | undefined {
    return targetOf(this.tables, database, table)?.plan.columnOf.get(column);
  }

  onlyFieldOf(database: string, table: string): string | undefined {
    const found = targetOf(this.tables, database, table);
    return found === undefined ? undefined : onlyFieldOf(found.schema);
  }

  rolesOf(database: string, table: string): Pick<TableSchema, "engine" | "options"> | undefined {
    return this.tables.schema(database, table);
  }

  /**
   * Resolves when there is memory for another write, with the catalog as it is then; call it right before decoding.
   *
   * @throws DbError RateLimited; StorageUnavailable while the owner refuses writes
   */
  async admit(): Promise<void> {
    const { shared, wal, writeBufferBytes } = this.parts;
    checkLogQueue(wal.queued().records);
    if (shared.memoryBytes > writeBufferBytes || shared.isRefusing || shared.isHolding) await this.ask({ what: "admit" });
    this.tables.refresh();
  }

  /** Why writes fail, or undefined. */
  failure(): string | undefined {
    return this.parts.wal.failure();
  }

  /** Tells the owner whether the log takes writes, if that changed. Called after each record, and now and then. */
  tellHealth(): void {
    const failure = this.failure();
    if (failure === this.toldFailure) return;
    this.toldFailure = failure;
    this.parts.link.post({ kind: "health", failure });
  }

  /** Says how much memory series take. Called once a second. */
  countSeries(): void {
    this.parts.shared.setSeriesBytes(this.parts.id, this.tables.seriesBytes);
  }

  async write(database: string, batch: WriteBatch, options: WriteOptions): Promise<WriteResult> {
    if (!this.tables.databases.has(database)) throw databaseNotFound(database);
    if (database === "information_schema") {
      throw new DbError(StatusCode.Unsupported, "Schema `information_schema` is read-only");
    }
    const failure = this.failure();
    if (failure !== undefined) throw new DbError(StatusCode.StorageUnavailable, `cannot write: ${failure}`);
    // From here to the record's number nothing waits. Nothing was written: the batch may be decoded again.
    if (this.parts.shared.isHolding) throw new DbError(StatusCode.RegionBusy, HELD, { retryAfterSeconds: 1 });
    const logged = this.log(database, batch, options);
    if (logged.later !== undefined) {
      await waitWithin(logged.later, { signal: options.signal });
      throw changedMeanwhile(database);
    }
    const version = this.tables.catalogVersion;
    const written = this.finish(logged);
    const done = Promise.allSettled([written]); // The caller sees the error.
    this.pending.add(done);
    await written.finally(() => this.pending.delete(done));
    // A restart must find the tables that the record names.
    if (this.parts.shared.durableVersion < version) await this.ask({ what: "durable" });
    this.sure.check();
    if (logged.refused !== undefined) throw logged.refused;
    return { rowCount: logged.rowCount };
  }

  private log(database: string, batch: WriteBatch, options: WriteOptions): LoggedBatch {
    try {
      return this.path.log(database, batch, options);
    } catch (error) {
      // Nothing was logged, but chunks may have been built before it went wrong.
      this.sure.run("the owner is told of a failed write's memory", () => {
        const chunks = this.arenas.takePlaces();
        if (chunks.length > 0) this.tell({ kind: "failed", sequence: this.parts.shared.sequences.newest, chunks });
      });
      throw error;
    }
  }

  /** Waits for the log and tells the owner how it went. */
  private async finish({ durable, prepared, record }: LoggedBatch): Promise<void> {
    if (durable === undefined || record === undefined) return;
    try {
      await durable;
    } catch (error) {
      this.sure.run("the owner is told of a failed write", () => {
        this.noteLog();
        abandonAll(prepared);
        this.tell({ kind: "failed", sequence: record.sequence, chunks: this.arenas.takePlaces() });
      });
      throw error;
    }
    this.sure.run("the owner is told of a write", () => {
      failPoint("thread.durable");
      this.noteLog();
      publishAll(prepared);
      const queuedBytes = record.head.length + MESSAGE_BYTES;
      this.parts.shared.addUntoldBytes(queuedBytes); // So that an owner that is held up is not buried under small requests.
      this.tell({ kind: "logged", ...record, chunks: this.arenas.takePlaces(), queuedBytes });
    });
    failPoint("thread.told");
  }

  private noteLog(): void {
    this.noteLogBytes();
    this.tellHealth();
  }

  private tell(message: Extract<FromThread, { kind: "logged" | "failed" }>): void {
    this.told++;
    this.parts.link.post(message);
  }

  private noteLogBytes(): void {
    const bytes = this.parts.wal.segments().reduce((sum, segment) => sum + segment.bytes, 0);
    this.parts.shared.setLogBytes(this.parts.id, bytes);
  }

  private async ask(what: Question): Promise<void> {
    const id = ++this.lastAsk;
    const { promise, resolve } = Promise.withResolvers<ToldError | undefined>();
    this.asked.set(id, resolve);
    this.parts.link.post({ kind: "ask", id, ...what });
    const error = await promise;
    if (error !== undefined) throw errorOfTold(error);
  }

  private take(message: ToThread): void {
    switch (message.kind) {
      case "task":
        void this.run(message.id, message.task); // Answers whatever happens.
        return;
      case "release":
        this.arenas.release(message.arena);
        return;
      case "told":
        this.asked.get(message.id)?.(message.error);
        this.asked.delete(message.id);
    }
  }

  private async run(id: number, task: Task): Promise<void> {
    let error: ToldError | undefined;
    try {
      await this.perform(task);
    } catch (thrown) {
      if (thrown instanceof AssertionError) this.parts.onBug(thrown);
      error = toldError(thrown);
    }
    this.parts.link.post({ kind: "answer", id, error });
  }

  private async perform(task: Task): Promise<void> {
    const { wal } = this.parts;
    switch (task.kind) {
      case "barrier":
        this.tables.rotate(task.tableId);
        await Promise.all(this.pending);
        this.sure.check(); // A record that the owner was not told of must not pass for one that failed.
        return;
      case "settle":
        await Promise.all(this.pending);
        this.sure.check();
        return;
      case "renew":
        this.tables.renew(task.tableId);
        wal.endSegment(); // As the owner's log does.
        await Promise.all(this.pending);
        return;
      case "trim": {
        const isAllSeen = this.pending.size === 0 && this.told === task.seen;
        if (isAllSeen && task.needed > task.head) await wal.rotate();
        await wal.trim(isAllSeen ? task.needed : Math.min(task.needed, task.head));
        this.noteLogBytes();
        return;
      }
      case "close":
        await Promise.all(this.pending);
        await wal.close();
    }
  }
}
