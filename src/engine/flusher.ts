/**
 * Turns what a table has in memory into files.
 *
 *   freeze ─► wait for rows being logged ─► worker ─► files durable ─► one commit (files + flushed sequence) ─► log trimmed
 *
 * A flush whose commit fails keeps its files, and the next try commits the same ones again: whether the commit took effect is not known,
 * and a full disk must not get fuller with each try. Nothing newer of the table, such as deletes of those rows, reaches a file before. If
 * the rows are removed meanwhile, the commit that removes them takes the entries away.
 */
import type { Clock } from "../base/clock.ts";
import { failPoint } from "../base/fail-point.ts";
import type { Logger } from "../base/log.ts";
import type { MemoryCounter } from "../base/server-memory.ts";
import type { FileStore } from "../storage/file-store/file-store.ts";
import type { Memtable } from "../storage/memtable/memtable.ts";
import type { MetaStore } from "../storage/meta-store/meta-store.ts";
import type { Region } from "../storage/region/region.ts";
import type { DataFile } from "../storage/sst/data-file.ts";
import { filesOfFlushMax } from "../storage/sst/flush.ts";
import type { FlushExecutor } from "../storage/sst/flush-executor.ts";
import type { LiveTables } from "./live-tables.ts";
import type { LogTrimmer } from "./log-trimmer.ts";
import { encodeFile, fileKey, flushedKey } from "./meta-codec.ts";
import type { SchemaStore } from "./schema-store.ts";
import type { SequenceCounter } from "./sequence-counter.ts";
import type { ThreadHosts } from "./threads/thread-hosts.ts";

/** What a flusher works with. */
export interface FlusherParts {
  readonly meta: MetaStore;
  readonly files: FileStore;
  readonly executor: FlushExecutor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tables: LiveTables;
  readonly schemas: SchemaStore;
  readonly sequences: SequenceCounter;
  readonly trimmer: LogTrimmer;
  /** Counts what the worker needs. */
  readonly workerMemory: MemoryCounter;
  readonly threads: ThreadHosts;
  /** Called when a table has new files. */
  onFlushed(region: Region): void;
}

/** Memory of a flush beside the chunks, for each of their bytes: the columns of a file while it is made. */
const WORKER_BYTES_PER_BYTE = 1;

/** See the file header. One flush runs at a time. */
export class Flusher {
  private readonly parts: FlusherParts;
  private running: Promise<void> = Promise.resolve();
  /** Files of memtables that were made and could not be committed yet. */
  private readonly uncommitted: Map<Memtable, { readonly region: Region; readonly made: readonly DataFile[] }> = new Map();

  constructor(parts: FlusherParts) {
    this.parts = parts;
  }

  /** Resolves when no flush that was asked for until now still runs; never rejects. */
  idle(): Promise<void> {
    return this.running;
  }

  /** Writes what the region has in memory to files. @throws DbError; its rows stay in memory and in the log */
  flush(region: Region): Promise<void> {
    const run = this.running.then(() => this.flushNow(region));
    this.running = Promise.allSettled([run]).then(() => undefined); // The caller sees the error; the next flush starts anyway.
    return run;
  }

  /**
   * Keys of entries of a table that may or may not be there, since their commit failed. Whoever removes the table's rows takes them away in
   * the commit that does so, or a restart could find rows that were removed.
   */
  uncommittedKeys(region: Region): string[] {
    const keys: string[] = [];
    for (const { region: owner, made } of this.uncommitted.values()) {
      if (owner === region) keys.push(...made.map(({ id }) => fileKey(region.schemaNow.id, id)));
    }
    return keys;
  }

  /** Deletes files of flushes of a table whose rows are gone, once that is durable; call it when `idle` has resolved. */
  async forget(region: Region): Promise<void> {
    for (const [memtable, { region: owner, made }] of this.uncommitted) {
      if (owner !== region) continue;
      this.uncommitted.delete(memtable);
      await this.discard(made);
    }
  }

  private async flushNow(region: Region): Promise<void> {
    const { tables, sequences, trimmer, threads } = this.parts;
    failPoint("flush.before-freeze");
    const sealed = sequences.newest;
    region.freeze(sealed, threads.isShared);
    failPoint("flush.after-freeze");
    await threads.barrier(region.schemaNow.id); // From here on rows up to `sealed` are in the memtable, or failed.
    for (let memtable = region.oldestFrozen(); memtable !== undefined; memtable = region.oldestFrozen()) {
      await memtable.whenSettled();
      failPoint("flush.rows-durable");
      if (!tables.isLive(region)) return; // It was dropped while it waited.
      if (region.oldestFrozen() !== memtable) continue; // Its rows were removed while it waited.
      if (memtable.chunks.length === 0) region.finishFlush(memtable, [], 0);
      else if (!(await this.flushMemtable(region, memtable))) return;
    }
    // Everything up to `sealed` is in a file or failed. Without this, a failed write would keep its log segment for ever.
    region.markFlushed(sealed);
    failPoint("flush.before-trim");
    await trimmer.trim();
  }

  /** Returns false when the table was dropped or its rows were removed meanwhile: nothing of the flush stays. */
  private async flushMemtable(region: Region, memtable: Memtable): Promise<boolean> {
    const { meta, clock, logger, tables } = this.parts;
    const started = clock.monotonicMillis();
    const sequence = memtable.maxSequence;
    const made = this.uncommitted.get(memtable)?.made ?? (await this.write(region, memtable));
    const isWanted = (): boolean => tables.isLive(region) && region.oldestFrozen() === memtable;
    this.uncommitted.delete(memtable);
    if (!isWanted()) return this.discard(made);
    const tableId = region.schemaNow.id;
    failPoint("flush.before-commit");
    this.uncommitted.set(memtable, { region, made });
    meta.commit([
      ...made.map((file) => ({ key: fileKey(tableId, file.id), value: encodeFile(file) })),
      { key: flushedKey(tableId), value: sequence },
    ]);
    failPoint("flush.after-commit");
    await meta.settled();
    failPoint("flush.after-settled");
    this.uncommitted.delete(memtable);
    if (tables.isLive(region) && !isWanted()) return this.discard(made); // Removed with its entries while the commit settled.
    const rows = memtable.rowCount;
    region.finishFlush(memtable, made, sequence);
    failPoint("flush.after-swap");
    this.parts.onFlushed(region);
    const bytes = made.reduce((sum, file) => sum + file.byteLength, 0);
    const millis = Math.round(clock.monotonicMillis() - started);
    logger.debug({ table: region.schemaNow.name, rows, files: made.length, bytes, millis }, "flushed");
    return true;
  }

  /** Makes the files of a memtable. */
  private async write(region: Region, memtable: Memtable): Promise<readonly DataFile[]> {
    const { executor, schemas, workerMemory } = this.parts;
    const idCount = filesOfFlushMax(region.schemaNow, memtable.chunks);
    const firstFileId = schemas.takeFileIds(idCount);
    const bytes = memtable.bytes * WORKER_BYTES_PER_BYTE;
    workerMemory.take(bytes);
    try {
      const made = await executor.flush(region.flushJob(memtable, firstFileId));
      schemas.returnFileIds(firstFileId + made.length, firstFileId + idCount);
      return made;
    } finally {
      workerMemory.give(bytes);
    }
  }

  /** Deletes files that a flush made of rows that are no longer wanted. */
  private async discard(made: readonly DataFile[]): Promise<false> {
    failPoint("flush.before-discard");
    for (const file of made) await this.parts.files.delete(file.name);
    return false;
  }
}
