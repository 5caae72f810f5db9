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
import { AssertionError, assert } from "../../base/assert.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { DbError, errorText, invalidArguments } from "../../base/error.ts";
import { failPoint } from "../../base/process/fail-point.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import type { Logger } from "../../base/log.ts";
import type { LogWatch } from "./log-metrics.ts";
import { StatusCode } from "../../base/status-code.ts";
import { Turns } from "../../base/scheduler/turns.ts";
import { makeFolder } from "../file-store/make-folder.ts";
import { type LogDisk, systemLogDisk } from "./log-disk.ts";
import { EndsFile } from "./ends-file.ts";
import type { LogEnds } from "./log-ends.ts";
import { LogFolder } from "./log-folder.ts";
import { type LogSource, replayLog } from "./log-replay.ts";
import { LogRepairs } from "./log-repair.ts";
import {
  completeRecordHeader,
  encodeRecordHeader,
  NO_SEGMENT,
  RECORD_HEADER_BYTES,
  RECORD_PAYLOAD_BYTES_MAX,
  SEGMENT_HEADER_BYTES,
} from "./record-header.ts";
import { type QueuedRecord, RecordQueue } from "./record-queue.ts";
import { type OpenSegment, SegmentWriter } from "./segment-writer.ts";
import type { Wal, WalQueue, WalRecord, WalRecovery, WalRecoveryReport, WalSegment, WalSync } from "./wal.ts";

/** Groups that fail one after another before the log stops to take records. Reason: one failure may have been of that segment alone. */
const FAILURES_MAX = 2;
/** Between two tries to set the log right: doubles from the first to the second. */
const HEAL_MILLIS_MIN = 100;
const HEAL_MILLIS_MAX = 1000;
/** How long nothing is written before the log says where it ends. */
const PAUSE_MILLIS = 1000;
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
  /** Whether somebody knows that a log was here: a folder without one is then no new log. Default: nobody does. */
  readonly isExpected?: boolean;
  /** How long nothing is written before the log says where it ends; default a second. */
  readonly pauseMs?: number;
  /** Default: the disk of this machine. */
  readonly disk?: LogDisk;
  /** Hears of writes and syncs. Default: nobody does. */
  readonly watch?: LogWatch;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
}

/** The report of a log that another object has read back. */
const NOTHING_REPLAYED: WalRecoveryReport = {
  segments: 0,
  records: 0,
  bytes: 0,
  tornTailBytes: 0,
  lostBytes: 0,
  lostSegments: 0,
  gaps: [],
};

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

/**
 * Invariants: what `queue` holds belongs to the segment being written or to later ones, up to `headId`. What changes the segment being
 * written (a commit, a rotation, healing, the end) takes a turn of `writing`; what deletes or repairs segments (trims, healing, the end)
 * takes one of `tending`, first where it takes both.
 */
class LocalWal implements Wal {
  private readonly options: LocalWalOptions;
  private readonly disk: LogDisk;
  private readonly folder: LogFolder;
  private readonly ends: EndsFile;
  private readonly repairs: LogRepairs;
  private readonly writer: SegmentWriter;
  private readonly clock: Clock;
  private state: "new" | "open" | "closed" = "new";
  /** Id that `beginRecord` gave out last, and the bytes queued or written for it. */
  private headId = 0;
  private headBytes = 0;
  private readonly queue: RecordQueue = new RecordQueue();
  private readonly writing: Turns = new Turns();
  private readonly tending: Turns = new Turns();
  private pumping: Promise<void> | undefined;
  private closing: Promise<void> | undefined;
  private trouble: Trouble | undefined;
  /** Groups that failed since the last one that did not. */
  private failures = 0;
  /** The segment that a try to heal made and that has no records. */
  private tried: OpenSegment | undefined;
  private healTimer: ReturnType<typeof setTimeout> | undefined;
  private syncTimer: ReturnType<typeof setInterval> | undefined;
  private pauseTimer: ReturnType<typeof setTimeout> | undefined;
  /** Groups committed since the start. */
  private commits = 0;

  constructor(options: LocalWalOptions) {
    this.options = options;
    this.disk = options.disk ?? systemLogDisk;
    this.folder = new LogFolder(options.directory, this.disk);
    this.ends = new EndsFile(this.disk, options.directory, options.sync !== "never");
    this.repairs = new LogRepairs(this.disk, this.ends);
    const { disk, folder, ends, repairs } = this;
    this.clock = options.clock ?? systemClock;
    const { clock } = this;
    const { sync, watch } = options;
    this.writer = new SegmentWriter({ disk, folder, ends, repairs, sync, clock, watch, onFailure: (reason) => this.fail(reason) });
  }

  async recover(
    onRecord: (record: WalRecord) => Promise<void> | void,
    onLost: (payload: Uint8Array | undefined) => void = () => undefined,
  ): Promise<WalRecoveryReport> {
    assert(this.state === "new", `a log is recovered once; got ${this.state}`);
    const { ids, hasEnds } = await this.folder.list();
    const ends = hasEnds ? await this.ends.read() : undefined;
    const report = await this.replay({ ids, ends }, onRecord, onLost);
    await this.ends.begin({ ...endsFound(this.writer.segments(), ends), end: this.writer.durableEnd ?? NO_SEGMENT }, hasEnds);
    failPoint(this.options.isRecovered === true ? "thread.log-taken" : "recover.log-synced");
    this.headId = Math.max(ids.at(-1) ?? 0, ends?.newest ?? 0);
    this.headBytes = Number.POSITIVE_INFINITY; // The next record starts a fresh segment.
    if (this.options.sync === "interval") {
      this.syncTimer = setInterval(() => this.syncInBackground(), this.options.syncIntervalMs);
    }
    this.state = "open";
    return report;
  }

  private async replay(
    found: Pick<LogSource, "ids" | "ends">,
    onRecord: (record: WalRecord) => Promise<void> | void,
    onLost: (payload: Uint8Array | undefined) => void,
  ): Promise<WalRecoveryReport> {
    const { folder, disk } = this;
    const { sync, recovery, isRecovered, isExpected = false } = this.options;
    const isDurable = sync !== "never";
    if (isRecovered === true) {
      for (const id of found.ids) this.writer.found(await this.folder.endOf(id, id === found.ids.at(-1)), isDurable);
      return { ...NOTHING_REPLAYED, segments: found.ids.length };
    }
    const { segments, newest, report } = await replayLog({ folder, disk, recovery, isExpected, ...found }, onRecord, onLost);
    if (newest !== undefined && isDurable) await folder.settle(newest);
    for (const segment of segments) this.writer.found(segment, isDurable);
    return report;
  }

  beginRecord(): number {
    assert(this.state !== "new", "a log is recovered before records begin");
    if (this.headBytes >= this.options.segmentBytes) {
      this.headId++;
      this.headBytes = SEGMENT_HEADER_BYTES;
    }
    return this.headId;
  }

  endSegment(): void {
    this.headBytes = Number.POSITIVE_INFINITY;
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
    this.pumping ??= this.pump();
    return promise;
  }

  queued(): WalQueue {
    return this.queue.held;
  }

  segments(): readonly WalSegment[] {
    return this.writer.segments();
  }

  async rotate(): Promise<void> {
    const segment = this.writer.current;
    if (segment === undefined || segment === this.tried || this.pumping !== undefined || this.state !== "open") return;
    this.headBytes = Number.POSITIVE_INFINITY;
    await this.writing.alone(async () => {
      if (this.writer.current === segment) await this.writer.finish();
    });
  }

  trim(segment: number): Promise<void> {
    return this.tending.alone(async () => {
      if (this.state !== "closed") await this.writer.trim(segment);
    });
  }

  failure(): string | undefined {
    return this.trouble?.reason;
  }

  close(): Promise<void> {
    this.state = "closed";
    clearInterval(this.syncTimer);
    clearTimeout(this.healTimer);
    clearTimeout(this.pauseTimer);
    if (this.closing !== undefined) return this.closing.then(ended, ended); // Who closed it first has the error.
    this.closing = this.tending.alone(() => this.end());
    return this.closing;
  }

  private async end(): Promise<void> {
    while (this.pumping !== undefined) await this.pumping;
    await this.writing.alone(() => this.endWriting());
  }

  private async endWriting(): Promise<void> {
    try {
      await this.writer.end();
    } catch (error) {
      throw this.unavailable(this.trouble?.reason ?? errorText(error), error);
    } finally {
      await this.lastRepair();
      await this.noteEnd(true);
      await this.ends.close();
    }
  }

  /** Waits for a pause of writes: then, once, the log says where it ends, so that what is damaged before is no torn tail. */
  private awaitPause(): void {
    if (this.options.sync === "never" || this.state === "closed") return; // Nothing is sure to be on disk.
    const { commits } = this;
    this.pauseTimer = setTimeout(() => {
      this.pauseTimer = undefined;
      if (this.commits !== commits || this.pumping !== undefined || !this.writer.isSettled) this.awaitPause();
      else void this.noteEnd(false); // Says what goes wrong to the log.
    }, this.options.pauseMs ?? PAUSE_MILLIS);
    this.pauseTimer.unref();
  }

  /** Says how the newest segment ends on disk, unless that was said. */
  private async noteEnd(isSynced: boolean): Promise<void> {
    const end = this.writer.durableEnd;
    const { end: said } = this.ends.ends;
    if (end === undefined || this.trouble !== undefined || (end.id === said.id && end.bytes === said.bytes)) return;
    try {
      await this.ends.note({ end }, isSynced || undefined);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.options.logger.warn(
        { error: errorText(error) },
        "cannot note where the log ends: damage to its end would pass for a torn write",
      );
    }
  }

  /** One more try, so that the next start finds the log in order; it copes with what is left. */
  private async lastRepair(): Promise<void> {
    try {
      await this.repairs.run();
    } catch (error) {
      this.options.logger.error({ error: errorText(error) }, "cannot set the log right before it closes");
    }
  }

  private async pump(): Promise<void> {
    while (!this.queue.isEmpty) {
      const group = this.queue.takeGroup();
      try {
        await this.writing.alone(() => this.commit(group));
        this.failures = 0;
        this.commits++;
        if (this.pauseTimer === undefined) this.awaitPause();
        for (const record of group) record.resolve();
      } catch (error) {
        if (error instanceof AssertionError) throw error; // Nobody waits for the pump: it ends the process.
        this.rejectFrom(group, error);
      }
      this.queue.forget(group);
    }
    this.pumping = undefined;
  }

  private async commit(group: readonly QueuedRecord[]): Promise<void> {
    this.refuseInTrouble();
    const segment = await this.openSegment((group[0] as QueuedRecord).segment);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    let check = 0;
    for (const record of group) {
      check = completeRecordHeader(record.parts[0] as Uint8Array, segment.stamp, segment.durable);
      for (const part of record.parts) if (part.length > 0) parts.push(part);
      bytes += record.bytes;
    }
    await this.writer.write(segment, parts, bytes, check);
    this.options.watch?.wroteGroup(group.length, bytes);
  }

  private async openSegment(id: number): Promise<OpenSegment> {
    const { current } = this.writer;
    if (current?.id === id) return current;
    await this.writer.finish();
    this.refuseInTrouble();
    return this.writer.begin(id);
  }

  /** A background sync may have failed while records waited. */
  private refuseInTrouble(): void {
    if (this.trouble !== undefined) throw this.unavailable(this.trouble.reason);
  }

  private syncInBackground(): void {
    if (this.trouble === undefined) this.writer.syncInBackground();
  }

  /** Rejects a failed group and everything queued for the same segment, which may rely on it; the next record starts a new segment. */
  private rejectFrom(group: readonly QueuedRecord[], error: unknown): void {
    const segment = (group[0] as QueuedRecord).segment;
    if (this.trouble === undefined) {
      if (++this.failures >= FAILURES_MAX) this.fail(errorText(error));
      else this.options.logger.warn({ segment, error: errorText(error) }, "cannot write the log; trying a new segment");
    }
    const failure = this.unavailable(this.trouble?.reason ?? errorText(error), error);
    for (const record of group) record.reject(failure);
    const lost = this.queue.takeAllOf(this.trouble === undefined ? segment : undefined);
    for (const record of lost) record.reject(failure);
    this.queue.forget(lost);
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
    // Nobody waits for it: what it rejects with is a bug, and ends the process.
    this.healTimer = setTimeout(() => void this.tending.alone(() => this.writing.alone(() => this.heal(millis))), millis);
    this.healTimer.unref();
  }

  /** Sets the disk right and tries a new segment. Nothing waits in the queue: records are refused meanwhile. */
  private async heal(millis: number): Promise<void> {
    if (this.state === "closed") return;
    const { trouble } = this;
    assert(trouble !== undefined, "only a log in trouble heals");
    let id = 0;
    try {
      await this.writer.leaveDoubtful();
      if (!(await this.repairs.run())) throw new Error(`log segment ${this.repairs.awaited} waits for its rows to be flushed`);
      id = await this.tryAgain();
    } catch (error) {
      if (error instanceof AssertionError) throw error;
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
    if (this.tried === undefined || this.tried !== this.writer.current) {
      await this.writer.finish();
      this.tried = await this.writer.begin(++this.headId);
    }
    await this.writer.probe(this.tried);
    const { id } = this.tried;
    this.tried = undefined;
    return id;
  }

  private unavailable(why: string, cause?: unknown): DbError {
    return new DbError(StatusCode.StorageUnavailable, `cannot write to the log: ${why}`, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** The next record starts a new segment, since later ones may rely on what this one defines. */
  private tooLong(payloadBytes: number): DbError {
    this.headBytes = Number.POSITIVE_INFINITY;
    return invalidArguments(
      `cannot log a write of ${payloadBytes} bytes: ${RECORD_PAYLOAD_BYTES_MAX} is the limit; send it in several requests`,
    );
  }
}

/**
 * What must be there at the next start: where segments are gone and this start goes on nevertheless, so will the next. A newest segment
 * without a header was not begun.
 */
function endsFound(segments: readonly WalSegment[], ends: LogEnds | undefined): Pick<LogEnds, "oldest" | "newest"> {
  const last = segments.findLast(({ bytes }) => bytes > 0)?.id ?? 0;
  const newest = Math.max(last, ends?.newest ?? 0);
  const oldest = Math.max(ends?.oldest ?? 1, segments[0]?.id ?? newest + 1);
  return { oldest, newest: newest < oldest ? newest : last };
}

function ended(): void {
  // Whoever asked first has the outcome.
}
