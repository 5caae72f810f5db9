/**
 * Merges files beside everything else: one merge at a time, in its own worker.
 *
 *   poke (flush, start, clock) ─► pick ─► worker: inputs → one file ─► one commit (new in, old out) ─► lists swapped ─► old files deleted
 *                                                                                                     when their last reader is done
 *
 * A crash leaves the old files or the new one: what the meta store does not name is deleted at the next start. A merge that fails is tried
 * again later and later; nothing waits for it. One that the disk has no room for does not begin. What a failed commit left is settled first
 * (file-swaps.ts).
 */
import type { OnBackgroundWork } from "../background-work.ts";
import { AssertionError } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { parseHumanSize } from "../../base/text/human-size.ts";
import type { Logger } from "../../base/log.ts";
import type { MemoryCounter } from "../../base/memory/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { SureSteps } from "../../base/process/sure-steps.ts";
import type { Troubles } from "../../base/process/troubles.ts";
import type { MergeExecutor } from "../../storage/compaction/merge-executor.ts";
import type { MergeJob } from "../../storage/compaction/merge.ts";
import { type PickedFiles, type PickOptions, pickAll, pickFiles } from "../../storage/compaction/picker.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import { initialValueOf } from "../../storage/region/default-value.ts";
import type { Region } from "../../storage/region/region.ts";
import type { SharedTables } from "../../storage/region/shared-tables.ts";
import { compareFiles, type DataFile } from "../../storage/sst/data-file.ts";
import { ALL_TIME, type TimeRange } from "../../table/scan.ts";
import type { TableSchema } from "../../table/schema.ts";
import { DueTables } from "./due-tables.ts";
import { type Expiry, timeUnitOf } from "../time/expiry.ts";
import { expiredFiles, livingFrom, olderOf } from "./file-expiry.ts";
import { FileSwaps } from "./file-swaps.ts";
import { mayWait, MergePatience } from "./merge-patience.ts";
import { type Commits, NOTHING_TO_TAKE } from "../schema/commits.ts";
import { uncleanKey } from "../schema/meta-codec.ts";

/** When and how much to merge, where a table's options do not say otherwise. */
export interface CompactionLimits extends PickOptions {
  /** False: only `ADMIN compact_table` merges. */
  readonly isAutomatic: boolean;
}

/** What the compactor needs of the engine. */
export interface CompactionHost {
  regions(): Iterable<Region>;
  /** False once the table is dropped. */
  isLive(region: Region): boolean;
  /** An id for a data file, never given out before. @throws DbError StorageUnavailable */
  takeFileId(): Promise<number>;
  /** Whether the disk has room for a file of so many bytes. */
  hasRoomFor(bytes: number): boolean;
}

/** What a compactor is made of. It owns the executor and closes it. */
export interface CompactorParts {
  readonly merger: MergeExecutor;
  readonly meta: MetaStore;
  readonly commits: Commits;
  readonly files: FileStore;
  readonly clock: Clock;
  readonly expiry: Expiry;
  readonly logger: Logger;
  readonly limits: CompactionLimits;
  readonly troubles: Troubles;
  readonly sure: SureSteps;
  /** Counts what the worker needs. */
  readonly workerMemory: MemoryCounter;
  readonly onWork?: OnBackgroundWork | undefined;
}

/** Work done since the start; write amplification is `bytesWritten` over the bytes of flushes, plus one. */
export interface CompactionTotals {
  merges: number;
  failures: number;
  inputFiles: number;
  rowsWritten: number;
  bytesRead: number;
  bytesWritten: number;
  seconds: number;
}

/** Option of a table: files of a window that merge at least. */
const TRIGGER_OPTION = "compaction.twcs.trigger_file_num";
/** How often all tables are looked at: rows expire without a write. */
const LOOK_MILLIS = 600_000;

/**
 * Files merge while their newest rows expire within this part of the ttl: what has expired takes an eighth of the room of what lives at
 * most, and about eight merged files live beside those that wait for their first merge.
 */
const EXPIRY_PARTS = 8n;

/** Files are written anew when more than this share of their rows are of dropped logical tables: they take twice their room at most. */
const DROPPED_SHARE = 0.5;
/** Memory of a merge: decoded pages, and a row group as columns, twice while it is joined (storage/compaction/merge.ts). */
const WORKER_BYTES: number = 192 * 1024 * 1024;

/** See the file header. */
export class Compactor {
  readonly totals: CompactionTotals = {
    merges: 0,
    failures: 0,
    inputFiles: 0,
    rowsWritten: 0,
    bytesRead: 0,
    bytesWritten: 0,
    seconds: 0,
  };
  private readonly parts: CompactorParts;
  private readonly host: CompactionHost;
  private readonly due: DueTables<Region> = new DueTables();
  private readonly swaps: FileSwaps;
  private readonly patience: MergePatience<Region>;
  private running: Promise<void> | undefined;
  private lastMerge: Promise<unknown> = Promise.resolve();
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private lookTimer: ReturnType<typeof setInterval> | undefined;
  private isClosed = false;

  constructor(parts: CompactorParts, host: CompactionHost) {
    this.parts = parts;
    this.host = host;
    this.swaps = new FileSwaps({ ...parts, isLive: (region) => host.isLive(region) });
    this.patience = new MergePatience(parts.clock);
  }

  /** Begins to look at all tables, now and from time to time: without automatic merges, for files that have expired. */
  start(): void {
    this.lookTimer = setInterval(() => this.look(), LOOK_MILLIS);
    this.lookTimer.unref();
    this.look();
  }

  /** Says that a flush gave a table new files. Returns at once. */
  flushed(region: Region): void {
    this.patience.flushed(region);
    this.poke(region);
  }

  /** Says that a table has other files than before. Returns at once. */
  poke(region: Region): void {
    if (this.isClosed) return;
    this.due.add(region);
    this.running ??= this.run();
  }

  /** Merges the files of each window that holds files of the range, and takes away rows that have expired. @throws DbError of a merge */
  async compactAll(region: Region, range: TimeRange = ALL_TIME): Promise<void> {
    await this.alone(async () => {
      await this.swaps.settle(region);
      const minTime = this.parts.expiry.before(region.schemaNow);
      await this.removeExpired(region, minTime);
      const picked = pickAll(region.dataFiles, timeUnitOf(region.schemaNow), this.optionsOf(region.schemaNow));
      const merged = new Set(picked.flat());
      const partly = region.dataFiles.filter((file) => minTime !== undefined && file.minTime < minTime && !merged.has(file));
      const isAsked = (file: DataFile): boolean => file.maxTime >= range.start && file.minTime < range.end;
      const work = [...picked, ...partly.map((file) => [file])].filter((files) => files.some(isAsked));
      work.sort(([a], [b]) => (a === undefined || b === undefined ? 0 : compareFiles(a, b))); // Rows leave the oldest files first.
      for (const files of work) {
        if (this.host.isLive(region) && region.hasFiles(files)) await this.merge(region, files, minTime);
      }
      if (region.sharedBy?.isUnclean() === true) await this.clean(region, region.sharedBy, 0, minTime);
      await this.removeExpired(region, minTime);
    });
  }

  /** Takes the rows out of files that must go on deleting rows of older ones. @throws DbError of a merge */
  async strip(region: Region, files: readonly DataFile[]): Promise<void> {
    await this.rewrite(region, files, ALL_TIME.end, true);
  }

  /** Writes files anew, each by itself, with the indexes of the schema and without rows that have expired. @throws DbError of a merge */
  async rewrite(
    region: Region,
    files: readonly DataFile[],
    minTime: bigint | undefined = this.parts.expiry.before(region.schemaNow),
    isStrict = false,
  ): Promise<void> {
    await this.alone(async () => {
      for (const file of files)
        if (this.host.isLive(region) && region.hasFiles([file])) await this.merge(region, [file], minTime, isStrict);
    });
  }

  /** Says that entries of a table's files are gone for good, all or those of `keys`: no failed commit may bring them back. */
  forget(region: Region, keys: ReadonlySet<string> | undefined): void {
    if (this.swaps.forget(region, keys)) this.poke(region); // To delete what is not named any more.
  }

  /** Resolves when no merge is under way or due now: for tests. */
  async idle(): Promise<void> {
    while (this.running !== undefined) await this.running;
    await this.lastMerge;
  }

  /** Gives up what runs and takes nothing more. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.lookTimer);
    clearTimeout(this.retryTimer);
    await this.parts.merger.close();
    await this.idle();
  }

  private look(): void {
    for (const region of this.host.regions()) this.poke(region);
  }

  /** One at a time, whoever asks. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.lastMerge.then(work);
    this.lastMerge = Promise.allSettled([run]); // The caller sees the error; the next one starts anyway.
    return run;
  }

  private async run(): Promise<void> {
    await Promise.resolve(); // So that `running` is set before this ends.
    const { clock, troubles } = this.parts;
    while (!this.isClosed) {
      const current = this.due.take(clock.monotonicMillis());
      if (current === undefined) break;
      try {
        const worked = await this.alone(() => this.compactOnce(current));
        if (this.due.worked(current)) troubles.works("compaction");
        if (worked) this.due.add(current);
      } catch (error) {
        if (error instanceof AssertionError) throw error; // A bug ends the process: trying again would not make it go away.
        if (!this.isClosed) this.postpone(current, error);
      }
    }
    this.running = undefined;
    this.waitForRetry();
  }

  private postpone(region: Region, error: unknown): void {
    const { clock, logger, troubles } = this.parts;
    const millis = this.due.failed(region, clock.monotonicMillis());
    this.totals.failures++;
    const why = errorText(error);
    const { name } = region.schemaNow;
    logger.debug({ table: name, error: why, retryMillis: millis }, "cannot compact; trying again later");
    troubles.failed("compaction", `table ${name}: ${why}`, { table: name });
  }

  private waitForRetry(): void {
    clearTimeout(this.retryTimer);
    const next = this.due.nextAt();
    if (this.isClosed || next === undefined) return;
    const wait = Math.max(1, next - this.parts.clock.monotonicMillis());
    this.retryTimer = setTimeout(() => {
      this.running ??= this.run();
    }, wait);
    this.retryTimer.unref();
  }

  /** The next piece of work of a table, if there is one. Returns whether there may be more. */
  private async compactOnce(region: Region): Promise<boolean> {
    if (!this.host.isLive(region)) return false;
    await this.swaps.settle(region);
    const { schemaNow: schema } = region;
    const minTime = this.parts.expiry.before(schema);
    await this.removeExpired(region, minTime);
    if (!this.parts.limits.isAutomatic) return false;
    const picked = this.pick(region);
    if (picked === undefined) {
      if (region.sharedBy?.isUnclean() === true) await this.clean(region, region.sharedBy, DROPPED_SHARE, minTime);
      return false;
    }
    await this.merge(region, picked, minTime);
    return true;
  }

  /** The files to merge now, if there are any. Fresh files of a busy table wait, unless its options say when they merge. */
  private pick(region: Region): PickedFiles | undefined {
    const { schemaNow: schema, dataFiles } = region;
    const options = this.optionsOf(schema);
    const picked = pickFiles(dataFiles, timeUnitOf(schema), options);
    const busyUntil = schema.options[TRIGGER_OPTION] === undefined ? this.patience.busyUntil(region) : undefined;
    if (busyUntil === undefined) return picked[0];
    const newest = dataFiles.reduce((highest, { sequence }) => Math.max(highest, sequence), 0);
    const due = picked.find((files) => !mayWait(files, newest, options.triggerFiles));
    if (due === undefined && picked.length > 0) this.due.wait(region, busyUntil);
    return due;
  }

  /** Writes files anew of which more than a share of the rows are of dropped logical tables. */
  private async clean(region: Region, tables: SharedTables, share: number, minTime: bigint | undefined): Promise<void> {
    tables.beginCleaning();
    for (const file of await tables.filesToClean(share)) {
      if (this.host.isLive(region) && region.hasFiles([file])) await this.merge(region, [file], minTime);
    }
    // Another table that was dropped meanwhile keeps its mark.
    const isClean = (): boolean => this.host.isLive(region) && !tables.isUnclean();
    await this.parts.commits.make(
      () => (isClean() ? [{ key: uncleanKey(region.schemaNow.id), value: undefined }] : undefined),
      NOTHING_TO_TAKE,
    );
    await this.parts.meta.settled();
  }

  /** Takes away files of which every row has expired, and those that delete rows of no other, without reading them. */
  private async removeExpired(region: Region, minTime: bigint | undefined): Promise<void> {
    const expired = expiredFiles(region.dataFiles, minTime);
    if (expired.length === 0 || !this.host.isLive(region)) return;
    if (!(await this.swaps.swap(region, expired, []))) return;
    this.parts.logger.debug({ table: region.schemaNow.name, files: expired.length }, "removed files whose rows have expired");
  }

  /** @param isStrict whether rows before `minTime` go even where an older version of them stays */
  private async merge(region: Region, inputs: PickedFiles, minTime: bigint | undefined, isStrict = false): Promise<void> {
    const { merger, clock, files, workerMemory, commits } = this.parts;
    const started = clock.monotonicMillis();
    commits.check();
    this.checkRoom(inputs);
    const release = region.retainFiles();
    workerMemory.take(WORKER_BYTES);
    try {
      const job = jobOf(region, inputs, minTime, await this.host.takeFileId(), clock);
      failPoint("compact.before-merge");
      const made = await merger.merge(isStrict ? { ...job, minTime } : job);
      if (!(await this.swaps.swap(region, inputs, made === undefined ? [] : [made]))) {
        // Dropped or emptied meanwhile: the rows are not wanted any more.
        failPoint("compact.before-discard");
        if (made !== undefined) await files.delete(made.name);
        return;
      }
      this.count(region, inputs, made, clock.monotonicMillis() - started);
    } finally {
      workerMemory.give(WORKER_BYTES);
      await release();
    }
  }

  /** A merge that cannot end would fill the disk up to the last byte each time. @throws DbError StorageUnavailable */
  private checkRoom(inputs: PickedFiles): void {
    const bytes = inputs.reduce((sum, file) => sum + file.byteLength, 0);
    if (this.host.hasRoomFor(bytes)) return;
    const size = Math.ceil(bytes / 1024 / 1024);
    throw new DbError(
      StatusCode.StorageUnavailable,
      `cannot merge ${inputs.length} files: that takes up to ${size} MiB, which the disk does not have beside its reserve`,
    );
  }

  private count(region: Region, inputs: PickedFiles, made: DataFile | undefined, millis: number): void {
    const { totals } = this;
    const bytesRead = inputs.reduce((sum, file) => sum + file.byteLength, 0);
    const bytesWritten = made?.byteLength ?? 0;
    totals.merges++;
    totals.inputFiles += inputs.length;
    totals.rowsWritten += made?.rowCount ?? 0;
    totals.bytesRead += bytesRead;
    totals.bytesWritten += bytesWritten;
    totals.seconds += millis / 1000;
    const { name } = region.schemaNow;
    const detail = { table: name, files: inputs.length, rows: made?.rowCount ?? 0, bytesRead, bytesWritten, millis: Math.round(millis) };
    this.parts.logger.debug(detail, "compacted");
    this.parts.onWork?.({ kind: "merge", table: name, millis, rows: detail.rows, files: inputs.length, bytes: bytesWritten });
  }

  private optionsOf(schema: TableSchema): PickOptions {
    const { limits, expiry } = this.parts;
    const options = expiry.compactionOptionsOf(schema);
    const lifetime = expiry.lifetimeOf(schema);
    const trigger = Number(options[TRIGGER_OPTION] ?? Number.NaN);
    const size = parseHumanSize(options["compaction.twcs.max_output_file_size"] ?? "");
    return {
      triggerFiles: Number.isSafeInteger(trigger) && trigger >= 2 ? trigger : limits.triggerFiles,
      outputBytesMax: size.ok && size.value > 0 ? size.value : limits.outputBytesMax,
      expiryApartMax: lifetime === undefined ? undefined : lifetime / EXPIRY_PARTS,
    };
  }
}

function jobOf(region: Region, inputs: PickedFiles, minTime: bigint | undefined, fileId: number, clock: Clock): MergeJob {
  const schema = region.schemaNow;
  const fields = schema.columns.filter(({ semantic }) => semantic === "field");
  const defaults = fields.map((column) => ({ columnId: column.id, value: initialValueOf(column, clock) }));
  const older = olderOf(inputs, region.dataFiles);
  return {
    schema,
    inputs,
    defaults: defaults.filter(({ value }) => value !== undefined),
    minTime: livingFrom(minTime, older),
    older: older.map((file) => ({ minTime: file.minTime, maxTime: file.maxTime })),
    liveTables: region.sharedBy?.liveIds(),
    fileId,
    folder: region.folder,
  };
}
