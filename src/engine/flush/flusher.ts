/**
 * Turns what a table has in memory into files.
 *
 *   freeze ─► wait for rows being logged ─► worker ─► files durable ─► one commit (files + flushed sequence) ─► log trimmed
 *
 * A flush whose commit fails keeps its files, and the next try commits the same ones again: whether the commit took effect is not known,
 * and a full disk must not get fuller with each try. Nothing newer of the table, such as deletes of those rows, reaches a file before. If
 * the rows are removed meanwhile, the commit that removes them takes the entries away.
 */
import type { OnBackgroundWork } from "../background-work.ts";
import type { Clock } from "../../base/clock.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import type { Logger } from "../../base/log.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { MemoryCounter } from "../../base/memory/server-memory.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import type { Memtable } from "../../storage/memtable/memtable.ts";
import type { MetaChange, MetaStore } from "../../storage/meta-store/meta-store.ts";
import type { Region } from "../../storage/region/region.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import { filesOfFlushMax } from "../../storage/sst/write/flush.ts";
import type { FlushExecutor } from "../../storage/sst/write/flush-executor.ts";
import type { LiveTables } from "../catalog/live-tables.ts";
import type { LogTrimmer } from "./log-trimmer.ts";
import { encodeFile, fileKey, flushedKey } from "../schema/meta-codec.ts";
import type { Commits } from "../schema/commits.ts";
import type { FileIds } from "../schema/file-ids.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import type { ThreadHosts } from "../threads/thread-hosts.ts";

/** What a flusher works with. */
export interface FlusherParts {
  readonly meta: MetaStore;
  readonly commits: Commits;
  readonly files: FileStore;
  readonly executor: FlushExecutor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tables: LiveTables;
  readonly fileIds: FileIds;
  readonly sequences: SequenceCounter;
  readonly trimmer: LogTrimmer;
  readonly sure: SureSteps;
  /** Counts what the worker needs. */
  readonly workerMemory: MemoryCounter;
  readonly threads: ThreadHosts;
  readonly onWork?: OnBackgroundWork | undefined;
  /** Called when a table has new files. */
  onFlushed(region: Region): void;
}

/**
 * Memory of a flush beside the chunks, for each of their bytes: times and places of rows as 8 and 4 bytes, the columns of a file while it
 * is made. Measured: 115 MiB for 36 MiB of chunks, 2.4M rows of ten small integers.
 */
const WORKER_BYTES_PER_BYTE = 3;

/** See the file header. One flush runs at a time, of one table or of some small ones. */
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

  /** Writes what regions have in memory to files. @throws DbError of the first that failed; its rows stay in memory and in the log */
  async flush(...regions: readonly Region[]): Promise<void> {
    for (const failure of (await this.flushTogether(regions)).values()) throw failure;
  }

  /**
   * As `flush` of several regions: their files are written side by side and become known with one commit. For small ones.
   *
   * @returns why regions could not be flushed: DbErrors mostly. The others are flushed
   */
  flushTogether(regions: readonly Region[]): Promise<ReadonlyMap<Region, unknown>> {
    const run = this.running.then(() => this.flushNow(regions));
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
    // A flush of newer rows may begin while files are deleted: what it makes stays.
    for (const [memtable, { region: owner, made }] of Array.from(this.uncommitted)) {
      if (owner !== region || (this.parts.tables.isLive(region) && region.waits(memtable))) continue;
      this.uncommitted.delete(memtable);
      await this.discard(made);
    }
  }

  private async flushNow(regions: readonly Region[]): Promise<ReadonlyMap<Region, unknown>> {
    const { sequences, trimmer, threads, sure, commits } = this.parts;
    sure.check();
    commits.check();
    failPoint("flush.before-freeze");
    const sealed = sequences.newest;
    for (const region of regions) region.freeze(sealed, threads.isShared);
    failPoint("flush.after-freeze");
    // From here on rows up to `sealed` are in the memtables, or failed.
    await Promise.all(regions.map((region) => threads.barrier(region.schemaNow.id)));
    const failures = new Map<Region, unknown>();
    for (let left = regions; left.length > 0; ) {
      const work: FlushWork[] = [];
      for (const region of left) {
        const memtable = await this.nextMemtable(region);
        if (memtable === "gone") continue;
        // Everything up to `sealed` is in a file or failed. Without this, a failed write would keep its log segment for ever.
        if (memtable === undefined) region.markFlushed(sealed);
        else work.push({ region, memtable, sequence: memtable.maxSequence });
      }
      left = work.length === 0 ? [] : await this.flushMemtables(work, failures);
    }
    failPoint("flush.before-trim");
    if (failures.size < regions.length) await trimmer.trim();
    return failures;
  }

  /** The memtable that the region must flush next; undefined when there is none left, "gone" when the table was dropped. */
  private async nextMemtable(region: Region): Promise<Memtable | undefined | "gone"> {
    for (;;) {
      const memtable = region.oldestFrozen();
      if (memtable === undefined) return undefined;
      await memtable.whenSettled();
      failPoint("flush.rows-durable");
      if (!this.parts.tables.isLive(region)) return "gone"; // It was dropped while it waited.
      if (region.oldestFrozen() !== memtable) continue; // Its rows were removed while it waited.
      if (memtable.chunks.length > 0) return memtable;
      region.finishFlush(memtable, [], 0);
    }
  }

  /** Returns the regions that may have more to flush: those whose rows are in files now. */
  private async flushMemtables(work: readonly FlushWork[], failures: Map<Region, unknown>): Promise<readonly Region[]> {
    const { meta, commits, clock, logger } = this.parts;
    const started = clock.monotonicMillis();
    const written = await this.writeAll(work, failures);
    // Until all is done: who removes rows meanwhile takes these entries away as well.
    for (const { region, memtable, made } of written) this.uncommitted.set(memtable, { region, made });
    let wanted: readonly FlushedWork[] = written; // None is given up before its turn.
    try {
      await commits.make(
        () => {
          wanted = written.filter((flushed) => this.isWanted(flushed));
          if (wanted.length === 0) return undefined;
          failPoint("flush.before-commit");
          this.parts.sure.check(); // A row that is stored and not in memory would count as being in these files.
          return wanted.flatMap(changesOf);
        },
        () => failPoint("flush.after-commit"),
      );
      await meta.settled();
      failPoint("flush.after-settled");
    } catch (error) {
      for (const { region } of wanted) failures.set(region, error);
      await this.discardAll(written, wanted);
      return [];
    }
    for (const { memtable } of wanted) this.uncommitted.delete(memtable);
    const done: Region[] = [];
    for (const flushed of wanted) {
      const { region, memtable, made, sequence } = flushed;
      if (this.parts.tables.isLive(region) && !this.isWanted(flushed)) {
        await this.discard(made); // Removed with its entries while the commit settled.
        continue;
      }
      const { rowCount: rows } = memtable;
      this.parts.sure.run("flushed files take the place of memory", () => {
        region.finishFlush(memtable, made, sequence);
        failPoint("flush.after-swap");
        this.parts.onFlushed(region);
      });
      done.push(region);
      const bytes = made.reduce((sum, file) => sum + file.byteLength, 0);
      const millis = Math.round(clock.monotonicMillis() - started);
      logger.debug({ table: region.schemaNow.name, rows, files: made.length, bytes, millis, tables: work.length }, "flushed");
      this.parts.onWork?.({ kind: "flush", table: region.schemaNow.name, millis, rows, files: made.length, bytes });
    }
    await this.discardAll(written, wanted);
    return done;
  }

  /** The files of all memtables that can be written, made now or by a flush whose commit failed. */
  private async writeAll(work: readonly FlushWork[], failures: Map<Region, unknown>): Promise<readonly FlushedWork[]> {
    const results = await Promise.allSettled(
      work.map(async ({ region, memtable }) => this.uncommitted.get(memtable)?.made ?? this.write(region, memtable)),
    );
    const written: FlushedWork[] = [];
    for (const [i, result] of results.entries()) {
      const one = work[i] as FlushWork;
      if (result.status === "fulfilled") written.push({ ...one, made: result.value });
      else failures.set(one.region, result.reason);
    }
    return written;
  }

  /** Whether the rows are still the table's, and only in memory. */
  private isWanted({ region, memtable }: FlushWork): boolean {
    return this.parts.tables.isLive(region) && region.oldestFrozen() === memtable;
  }

  /** Makes the files of a memtable. */
  private async write(region: Region, memtable: Memtable): Promise<readonly DataFile[]> {
    const { executor, fileIds, workerMemory } = this.parts;
    const idCount = filesOfFlushMax(region.schemaNow, memtable.chunks, memtable.times);
    const firstFileId = await fileIds.take(idCount);
    const bytes = memtable.bytes * WORKER_BYTES_PER_BYTE;
    workerMemory.take(bytes);
    try {
      const made = await executor.flush(region.flushJob(memtable, firstFileId));
      fileIds.giveBack(firstFileId + made.length, firstFileId + idCount);
      return made;
    } finally {
      workerMemory.give(bytes);
    }
  }

  /** Deletes what was written for rows that are no longer wanted. */
  private async discardAll(written: readonly FlushedWork[], wanted: readonly FlushedWork[]): Promise<void> {
    for (const { memtable, made } of written.filter((flushed) => !wanted.includes(flushed))) {
      this.uncommitted.delete(memtable);
      await this.discard(made);
    }
  }

  /** Deletes files that a flush made of rows that are no longer wanted. */
  private async discard(made: readonly DataFile[]): Promise<void> {
    failPoint("flush.before-discard");
    for (const file of made) await this.parts.files.delete(file.name);
  }
}

/** A memtable on its way to files. */
interface FlushWork {
  readonly region: Region;
  readonly memtable: Memtable;
  readonly sequence: number;
}

interface FlushedWork extends FlushWork {
  readonly made: readonly DataFile[];
}

function changesOf({ region, made, sequence }: FlushedWork): MetaChange[] {
  const tableId = region.schemaNow.id;
  return [
    ...made.map((file) => ({ key: fileKey(tableId, file.id), value: encodeFile(file) })),
    { key: flushedKey(tableId), value: sequence },
  ];
}
