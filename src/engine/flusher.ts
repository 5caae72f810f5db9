/**
 * Turns what a table has in memory into files.
 *
 *   freeze ─► wait for rows being logged ─► worker ─► files durable ─► one commit (files + flushed sequence) ─► log trimmed
 */
import type { Clock } from "../base/clock.ts";
import { failPoint } from "../base/fail-point.ts";
import type { Logger } from "../base/log.ts";
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
  /** Called when a table has new files. */
  onFlushed(region: Region): void;
}

/** See the file header. One flush runs at a time. */
export class Flusher {
  private readonly parts: FlusherParts;
  private running: Promise<void> = Promise.resolve();

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

  private async flushNow(region: Region): Promise<void> {
    const { tables, sequences, trimmer } = this.parts;
    failPoint("flush.before-freeze");
    const sealed = sequences.newest;
    region.freeze();
    failPoint("flush.after-freeze");
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
    const { meta, executor, clock, logger, schemas, tables } = this.parts;
    const started = clock.monotonicMillis();
    const sequence = memtable.maxSequence;
    const idCount = filesOfFlushMax(region.schemaNow, memtable.chunks);
    const firstFileId = schemas.takeFileIds(idCount);
    const made = await executor.flush(region.flushJob(memtable, firstFileId));
    const isWanted = (): boolean => tables.isLive(region) && region.oldestFrozen() === memtable;
    if (!isWanted()) return this.discard(made);
    const tableId = region.schemaNow.id;
    failPoint("flush.before-commit");
    // If this fails, whether it took effect is only known after a restart: until then the files stay and their ids are not used again.
    meta.commit([
      ...made.map((file) => ({ key: fileKey(tableId, file.id), value: encodeFile(file) })),
      { key: flushedKey(tableId), value: sequence },
    ]);
    failPoint("flush.after-commit");
    await meta.settled();
    failPoint("flush.after-settled");
    schemas.returnFileIds(firstFileId + made.length, firstFileId + idCount);
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

  /** Deletes files that a flush made of rows that are no longer wanted. */
  private async discard(made: readonly DataFile[]): Promise<false> {
    failPoint("flush.before-discard");
    for (const file of made) await this.parts.files.delete(file.name);
    return false;
  }
}
