/**
 * The log on a local disk: segments in one directory, group commit.
 *
 *   append ──► queue ──► pump: take all ► writev ► fdatasync ► resolve      while the disk works, the next group forms
 *
 * Sketch at 100 requests/s of 10,000 rows: 100 records of about 200 KiB; one writev and one fdatasync a group; no copy of a payload.
 * Measured on the reference machine: 0.2 ms a sync of 4 KiB, 3.7 ms of 1 MiB.
 *
 * Failure: a failed write is cut off the file again and its records rejected; the segment is closed, since later records may rely on
 * the lost ones. After a failed sync or cut, or two failed writes in a row, the log takes no records. It then sets its disk right
 * (log-repair.ts) and tries a new segment, 0.1 s to 1 s apart and whatever the load is, and goes on by itself once that works.
 */
import { assert } from "../../base/assert.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { DbError, errorText } from "../../base/error.ts";
import { failPoint } from "../../base/fail-point.ts";
import { crc32 } from "../../base/hash.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { makeFolder } from "../file-store/make-folder.ts";
import { type LogDisk, systemLogDisk, writeAll } from "./log-disk.ts";
import { LogFolder } from "./log-folder.ts";
import { LogRepairs } from "./log-repair.ts";
import {
  completeRecordHeader,
  encodeRecordHeader,
  encodeSegmentHeader,
  RECORD_HEADER_BYTES,
  RECORD_PAYLOAD_BYTES_MAX,
  SEGMENT_HEADER_BYTES,
} from "./record-header.ts";
import { replaySegment } from "./replay.ts";
import type { Wal, WalQueue, WalRecord, WalRecovery, WalRecoveryReport, WalSegment, WalSync } from "./wal.ts";

/** Most bytes written between two syncs, so that one huge group does not delay all others. */
const GROUP_BYTES_MAX = 16 * 1024 * 1024;
/** Groups that fail one after another before the log stops to take records. Reason: one failure may have been of that segment alone. */
const FAILURES_MAX = 2;
/** Between two tries to set the log right: doubles from the first to the second. */
const HEAL_MILLIS_MIN = 100;
const HEAL_MILLIS_MAX = 1000;
/** Bytes that a try has to write before the log takes records again. Reason: a full disk has room for a header all the time. */
const PROBE_BYTES: number = 256 * 1024;
/** After how many seconds a refused client should come back. */
const RETRY_AFTER_SECONDS = 5;

/** How a local log works. */
export interface LocalWalOptions {
  readonly directory: string;
  readonly sync: WalSync;
  /** Delay of the background sync in mode "interval". */
  readonly syncIntervalMs: number;
  /** A segment that reached this many bytes takes no more records. */
  readonly segmentBytes: number;
  readonly recovery: WalRecovery;
  readonly logger: Logger;
  /** True when another log object has read the records back: `recover` then reads none. */
  readonly isRecovered?: boolean;
  /** Default: the disk of this machine. */
  readonly disk?: LogDisk;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
}

interface Pending {
  readonly segment: number;
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface OpenSegment {
  readonly id: number;
  readonly stamp: number;
  readonly fd: number;
  /** Bytes known to be written. */
  written: number;
  /** Bytes that a sync has covered. */
  durable: number;
}

/** Why the log takes no records, and since when. */
interface Trouble {
  readonly reason: string;
  readonly sinceMillis: number;
}

/** Opens (or makes) the log directory. Nothing is read before `recover`. @throws DbError StorageUnavailable when it cannot be made */
export async function openLocalWal(options: LocalWalOptions): Promise<Wal> {
  try {
    await makeFolder(options.directory);
  } catch (cause) {
    const why = errorText(cause);
    throw new DbError(StatusCode.StorageUnavailable, `cannot make the log directory ${options.directory}: ${why}`, { cause });
  }
  return new LocalWal(options);
}

/** Invariant: records of `queue` are in the order of their sequences and belong to `segment` or to later segments, in order. */
class LocalWal implements Wal {
  private readonly options: LocalWalOptions;
  private readonly disk: LogDisk;
  private readonly folder: LogFolder;
  private state: "new" | "open" | "closed" = "new";
  /** Complete segments, oldest first. */
  private readonly complete: WalSegment[] = [];
  private current: OpenSegment | undefined;
  /** Id that `beginRecord` gave out last, and the bytes queued or written for it. */
  private headId = 0;
  private headBytes = 0;
  private queue: Pending[] = [];
  private queuedBytes = 0;
  private queuedRecords = 0;
  private pumping: Promise<void> | undefined;
  private trouble: Trouble | undefined;
  private readonly repairs: LogRepairs;
  private readonly clock: Clock;
  /** Groups that failed since the last one that did not. */
  private failures = 0;
  private healing: Promise<void> | undefined;
  /** The segment that a try to heal made and that has no records. */
  private tried: OpenSegment | undefined;
  private healTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether bytes were written that no sync has covered yet; only in modes "interval" and "never". */
  private dirty = false;
  private backgroundSyncing: Promise<void> = Promise.resolve();
  private syncTimer: ReturnType<typeof setInterval> | undefined;

  constructor(options: LocalWalOptions) {
    this.options = options;
    this.disk = options.disk ?? systemLogDisk;
    this.folder = new LogFolder(options.directory, this.disk);
    this.clock = options.clock ?? systemClock;
    this.repairs = new LogRepairs(this.disk);
  }

  async recover(
    onRecord: (record: WalRecord) => Promise<void> | void,
    onLost?: (payload: Uint8Array | undefined) => void,
  ): Promise<WalRecoveryReport> {
    assert(this.state === "new", `a log is recovered once; got ${this.state}`);
    const ids = await this.folder.segments();
    let records = 0;
    let bytes = 0;
    let tornTailBytes = 0;
    let lostBytes = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] as number;
      if (this.options.isRecovered === true) {
        this.complete.push({ id, bytes: await this.folder.sizeOf(id) });
        continue;
      }
      const count = async (record: WalRecord): Promise<void> => {
        records++;
        bytes += record.payload.length;
        await onRecord(record);
      };
      const found = await replaySegment(this.folder.pathOf(id), id, i === ids.length - 1, this.options.recovery, count, onLost, this.disk);
      failPoint("recover.segment-read");
      tornTailBytes += found.tornTailBytes;
      lostBytes += found.lostBytes;
      this.complete.push({ id, bytes: found.intactBytes });
      if (i === ids.length - 1 && this.options.sync !== "never") await this.folder.settle(id, found);
    }
    failPoint(this.options.isRecovered === true ? "thread.log-taken" : "recover.log-synced");
    this.headId = ids.at(-1) ?? 0;
    this.headBytes = Number.POSITIVE_INFINITY; // The next record starts a fresh segment.
    if (this.options.sync === "interval") {
      this.syncTimer = setInterval(() => this.startBackgroundSync(), this.options.syncIntervalMs);
    }
    this.state = "open";
    return { segments: ids.length, records, bytes, tornTailBytes, lostBytes };
  }

  beginRecord(): number {
    assert(this.state !== "new", "a log is recovered before records begin");
    if (this.headBytes >= this.options.segmentBytes) {
      this.headId++;
      this.headBytes = SEGMENT_HEADER_BYTES;
    }
    return this.headId;
  }

  append(sequence: number, parts: readonly Uint8Array[]): Promise<void> {
    assert(this.headId > 0, "beginRecord comes before append");
    if (this.trouble !== undefined || this.state === "closed") {
      this.headBytes = Number.POSITIVE_INFINITY; // Later records must not rely on what this one would have defined.
      return Promise.reject(this.unavailable(this.trouble?.reason ?? "it is closed"));
    }
    let payloadBytes = 0;
    let payloadCrc = 0;
    for (const part of parts) {
      payloadBytes += part.length;
      payloadCrc = crc32(part, payloadCrc);
    }
    if (payloadBytes > RECORD_PAYLOAD_BYTES_MAX) return Promise.reject(this.tooLong(payloadBytes));
    const header = encodeRecordHeader({ payloadBytes, payloadCrc, sequence });
    const bytes = RECORD_HEADER_BYTES + payloadBytes;
    this.headBytes += bytes;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.queue.push({ segment: this.headId, parts: [header, ...parts], bytes, resolve, reject });
    this.queuedBytes += bytes;
    this.queuedRecords++;
    this.pumping ??= this.pump();
    return promise;
  }

  queued(): WalQueue {
    return { records: this.queuedRecords, bytes: this.queuedBytes };
  }

  segments(): readonly WalSegment[] {
    const current = this.current;
    return current === undefined ? [...this.complete] : [...this.complete, { id: current.id, bytes: current.written }];
  }

  async rotate(): Promise<void> {
    if (this.current === undefined || this.pumping !== undefined || this.state !== "open") return;
    this.headBytes = Number.POSITIVE_INFINITY;
    await this.closeCurrent();
  }

  async trim(segment: number): Promise<void> {
    while (this.complete.length > 0 && (this.complete[0] as WalSegment).id < segment) {
      const oldest = this.complete.shift() as WalSegment;
      try {
        failPoint("log.before-delete");
        await this.disk.delete(this.folder.pathOf(oldest.id));
      } catch (cause) {
        this.complete.unshift(oldest); // The next trim tries again.
        throw new DbError(StatusCode.StorageUnavailable, `cannot delete log segment ${oldest.id}: ${errorText(cause)}`, { cause });
      }
      await this.repairs.deleted(oldest.id);
      failPoint("log.deleted");
    }
  }

  failure(): string | undefined {
    return this.trouble?.reason;
  }

  async close(): Promise<void> {
    this.state = "closed";
    clearInterval(this.syncTimer);
    clearTimeout(this.healTimer);
    while (this.pumping !== undefined) await this.pumping;
    await this.healing;
    await this.backgroundSyncing;
    try {
      if (this.dirty && this.current !== undefined) await this.sync(this.current);
    } catch (error) {
      throw this.unavailable(this.trouble?.reason ?? errorText(error), error);
    } finally {
      const current = this.takeCurrent();
      if (current !== undefined) await this.disk.close(current.fd);
      await this.lastRepair();
    }
  }

  /** One more try, so that the next start finds the log in order; it copes with what is left. */
  private async lastRepair(): Promise<void> {
    try {
      await this.repairs.run();
    } catch (error) {
      this.options.logger.error({ error: errorText(error) }, "cannot set the log right before it closes");
    }
    await this.repairs.close();
  }

  private async pump(): Promise<void> {
    while (this.queue.length > 0) {
      const group = this.takeGroup();
      try {
        await this.commit(group);
        this.failures = 0;
        for (const record of group) record.resolve();
      } catch (error) {
        this.rejectFrom(group, error);
      }
      this.forgetQueued(group);
    }
    this.pumping = undefined;
  }

  /** The oldest records that share a segment, up to the group limit; at least one. */
  private takeGroup(): Pending[] {
    const first = this.queue[0] as Pending;
    let count = 0;
    let bytes = 0;
    while (count < this.queue.length) {
      const next = this.queue[count] as Pending;
      if (next.segment !== first.segment || (count > 0 && bytes + next.bytes > GROUP_BYTES_MAX)) break;
      bytes += next.bytes;
      count++;
    }
    return this.queue.splice(0, count);
  }

  private forgetQueued(records: readonly Pending[]): void {
    this.queuedRecords -= records.length;
    for (const { bytes } of records) this.queuedBytes -= bytes;
  }

  private async commit(group: readonly Pending[]): Promise<void> {
    this.refuseInTrouble();
    const segment = await this.openSegment((group[0] as Pending).segment);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for (const record of group) {
      completeRecordHeader(record.parts[0] as Uint8Array, segment.stamp, segment.durable);
      for (const part of record.parts) if (part.length > 0) parts.push(part);
      bytes += record.bytes;
    }
    try {
      failPoint("log.before-write");
      await writeAll(this.disk, segment.fd, parts, segment.written);
    } catch (error) {
      await this.cutBack(segment, error);
      throw error;
    }
    segment.written += bytes;
    failPoint("log.written");
    if (this.options.sync === "always") await this.sync(segment);
    else this.dirty = true;
    failPoint("log.synced");
  }

  private async openSegment(id: number): Promise<OpenSegment> {
    if (this.current?.id === id) return this.current;
    await this.closeCurrent();
    this.refuseInTrouble();
    return this.beginSegment(id);
  }

  /** Makes a segment file and goes on in it. */
  private async beginSegment(id: number): Promise<OpenSegment> {
    const path = this.folder.pathOf(id);
    const stamp = crypto.getRandomValues(new Uint32Array(1))[0] as number;
    const fd = await this.disk.create(path);
    try {
      failPoint("log.segment-made");
      await writeAll(this.disk, fd, [encodeSegmentHeader(id, stamp)], 0);
    } catch (error) {
      await this.removeStart(id, fd, error);
      throw error;
    }
    failPoint("log.header-written");
    if (this.options.sync !== "never") await this.syncStart(id, fd);
    failPoint("log.folder-synced");
    const durable = this.options.sync === "never" ? 0 : SEGMENT_HEADER_BYTES;
    const segment = { id, stamp, fd, written: SEGMENT_HEADER_BYTES, durable };
    this.current = segment;
    return segment;
  }

  /** The header first: what then lies behind a header that cannot be read was never a record of this segment. */
  private async syncStart(id: number, fd: number): Promise<void> {
    try {
      await this.disk.sync(fd);
      await this.disk.syncFolder(this.folder.path);
    } catch (error) {
      this.repairs.add({ kind: "remove", segment: id, fd, path: this.folder.pathOf(id) }); // A power loss may take the file, or not.
      this.fail(`cannot sync the log: ${errorText(error)}`);
      throw error;
    }
  }

  private async closeCurrent(): Promise<void> {
    await this.backgroundSyncing;
    if (this.current !== undefined && this.dirty && this.options.sync === "interval") await this.sync(this.current);
    const current = this.takeCurrent();
    if (current === undefined) return;
    await this.disk.close(current.fd);
    failPoint("log.segment-closed");
  }

  /** The segment being written, now complete; from here on no background sync starts on it. */
  private takeCurrent(): OpenSegment | undefined {
    const current = this.current;
    this.current = undefined;
    if (current !== undefined) this.complete.push({ id: current.id, bytes: current.written });
    return current;
  }

  /** A background sync may have failed while records waited. */
  private refuseInTrouble(): void {
    if (this.trouble !== undefined) throw this.unavailable(this.trouble.reason);
  }

  /** Takes away a segment whose header could not be written: a segment that is not the newest must begin with one. */
  private async removeStart(id: number, fd: number, why: unknown): Promise<void> {
    const path = this.folder.pathOf(id);
    try {
      await this.disk.delete(path);
    } catch (error) {
      this.repairs.add({ kind: "remove", segment: id, fd, path });
      this.fail(`cannot remove a log segment that could not be begun (${errorText(why)}): ${errorText(error)}`);
      return;
    }
    await this.disk.close(fd);
  }

  /** A failed sync leaves unknown bytes on disk: the segment takes no more records, and what it holds beyond the last sync is in doubt. */
  private async sync(segment: OpenSegment): Promise<void> {
    const { written } = segment;
    try {
      await this.disk.sync(segment.fd);
    } catch (error) {
      this.giveUp(segment);
      this.fail(`cannot sync the log: ${errorText(error)}`);
      throw error;
    }
    segment.durable = written;
    this.dirty = false;
  }

  /** Leaves the segment being written to its repair. */
  private giveUp(segment: OpenSegment): void {
    const { id, fd } = segment;
    const { sync } = this.options;
    if (this.current === segment) this.takeCurrent();
    this.dirty = false;
    if (sync === "interval") this.repairs.add({ kind: "trim", segment: id, fd });
    else
      this.repairs.add({
        kind: "cut",
        segment: id,
        fd,
        length: sync === "always" ? segment.durable : segment.written,
        isSynced: sync === "always",
      });
  }

  private startBackgroundSync(): void {
    if (!this.dirty || this.current === undefined || this.trouble !== undefined) return;
    const segment = this.current;
    this.dirty = false; // What is written from here on waits for the next round.
    this.backgroundSyncing = this.backgroundSyncing.then(() => this.backgroundSync(segment));
  }

  private async backgroundSync(segment: OpenSegment): Promise<void> {
    const { written } = segment;
    try {
      await this.disk.sync(segment.fd);
      segment.durable = written;
    } catch (error) {
      // The engine makes the rows durable in files. Until then a crash of the machine may take what was acknowledged since the last sync.
      this.giveUp(segment);
      this.fail(`cannot sync the log: ${errorText(error)}`);
    }
  }

  /**
   * Removes what a failed write may have left, so that the segment ends with an intact record. Synced, since whole records of the
   * group may lie there and a power loss must not bring them back after their writers were told that they failed.
   */
  private async cutBack(segment: OpenSegment, why: unknown): Promise<void> {
    try {
      await this.disk.truncate(segment.fd, segment.written);
      failPoint("log.cut");
      if (this.options.sync !== "never") await this.disk.sync(segment.fd);
    } catch (error) {
      this.giveUp(segment);
      this.fail(`cannot cut a failed write (${errorText(why)}) off the log: ${errorText(error)}`);
    }
  }

  /** Rejects a failed group and everything queued for the same segment, which may rely on it; the next record starts a new segment. */
  private rejectFrom(group: readonly Pending[], error: unknown): void {
    const segment = (group[0] as Pending).segment;
    if (this.trouble === undefined) {
      if (++this.failures >= FAILURES_MAX) this.fail(errorText(error));
      else this.options.logger.warn({ segment, error: errorText(error) }, "cannot write the log; trying a new segment");
    }
    const failure = this.unavailable(this.trouble?.reason ?? errorText(error), error);
    for (const record of group) record.reject(failure);
    const isLost = (record: Pending): boolean => this.trouble !== undefined || record.segment === segment;
    const lost = this.queue.filter(isLost);
    for (const record of lost) record.reject(failure);
    this.queue = this.queue.filter((record) => !isLost(record));
    this.forgetQueued(lost);
    if (this.trouble !== undefined || this.headId === segment) this.headBytes = Number.POSITIVE_INFINITY;
  }

  /** From now on the log takes no records, until it has healed. */
  private fail(reason: string): void {
    if (this.trouble !== undefined) return;
    this.trouble = { reason, sinceMillis: this.clock.monotonicMillis() };
    this.headBytes = Number.POSITIVE_INFINITY;
    this.options.logger.error({ reason }, "the log takes no writes; it goes on by itself once its disk works");
    this.healLater(HEAL_MILLIS_MIN);
  }

  private healLater(millis: number): void {
    if (this.state === "closed") return;
    this.healTimer = setTimeout(() => {
      this.healing = this.heal(millis);
    }, millis);
    this.healTimer.unref();
  }

  /** Sets the disk right and tries a new segment. Nothing waits in the queue: records are refused meanwhile. */
  private async heal(millis: number): Promise<void> {
    while (this.pumping !== undefined) await this.pumping;
    await this.backgroundSyncing;
    const { trouble } = this;
    assert(trouble !== undefined, "only a log in trouble heals");
    let id = 0;
    try {
      if (!(await this.repairs.run())) throw new Error(`log segment ${this.repairs.awaited} waits for its rows to be flushed`);
      id = await this.tryAgain();
    } catch (error) {
      this.options.logger.debug({ error: errorText(error) }, "the log does not work yet");
      this.headBytes = Number.POSITIVE_INFINITY;
      this.healLater(Math.min(millis * 2, HEAL_MILLIS_MAX));
      return;
    }
    failPoint("log.healed");
    this.trouble = undefined;
    this.failures = 0;
    this.headBytes = this.headId === id ? SEGMENT_HEADER_BYTES : Number.POSITIVE_INFINITY;
    const lasted = Math.round(this.clock.monotonicMillis() - trouble.sinceMillis);
    this.options.logger.info({ reason: trouble.reason, millis: lasted }, "the log takes writes again");
  }

  /** Makes a new segment, or takes the one of the last try, and writes to it. Returns its id. @throws the system's error */
  private async tryAgain(): Promise<number> {
    if (this.tried === undefined || this.tried !== this.current) {
      await this.closeCurrent();
      this.tried = await this.beginSegment(++this.headId);
    }
    await this.probe(this.tried);
    const { id } = this.tried;
    this.tried = undefined;
    return id;
  }

  /** Writes as much as an ordinary group has and takes it away again. */
  private async probe(segment: OpenSegment): Promise<void> {
    try {
      await writeAll(this.disk, segment.fd, [new Uint8Array(PROBE_BYTES)], segment.written);
      if (this.options.sync !== "never") await this.disk.sync(segment.fd);
    } finally {
      await this.cutBack(segment, "a try");
    }
    segment.durable = this.options.sync === "never" ? 0 : segment.written;
    if (this.current !== segment) throw new Error("the try could not be cut off again");
  }

  private unavailable(why: string, cause?: unknown): DbError {
    return new DbError(StatusCode.StorageUnavailable, `cannot write to the log: ${why}`, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** The next record starts a new segment, since later ones may rely on what this one defines. */
  private tooLong(payloadBytes: number): DbError {
    this.headBytes = Number.POSITIVE_INFINITY;
    return new DbError(
      StatusCode.InvalidArguments,
      `cannot log a write of ${payloadBytes} bytes: ${RECORD_PAYLOAD_BYTES_MAX} is the limit; send it in several requests`,
    );
  }
}
