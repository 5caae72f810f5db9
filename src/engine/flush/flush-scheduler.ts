/**
 * Decides when memtables become files, and holds writers back while memory is full.
 *
 * | when                                                              | what                                                  |
 * |-------------------------------------------------------------------|-------------------------------------------------------|
 * | a flush failed before                                             | that table is flushed again, 1 s to 5 s later         |
 * | rows in memtables being written together reach `memtableBytes`    | the largest is flushed                                |
 * | the log reaches `logBytesMax`                                     | the tables that hold its oldest segment are flushed   |
 * | a table's oldest row in memory is older than `idleMillis`         | that table is flushed                                 |
 * | all memtables together exceed 3/4 of `writeBufferBytes`           | the largest is flushed                                |
 * | they exceed `writeBufferBytes`                                    | the same; writers wait, then get 429                  |
 * | the server is over its memory limit, though others gave way       | likewise, where a flush gives enough back             |
 * | the log does not work, or its disk is nearly full                 | one table after another: rows get safe, the log short |
 *
 * Memory is more than rows: slabs that are not full, and objects. Where ten thousand tables have a few rows each it is mostly that, and a
 * flush at each 32 MiB of it would make files of three rows. Where tables are small, those that the rule names next are flushed with the
 * first: ten thousand tables of ten rows would otherwise be ten thousand flushes.
 *
 * Writers wait in the order in which they came, and go on one at a time: what one adds is counted before the next is let in.
 */
import { AssertionError } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { type Waiter, WaitingLine } from "../../base/scheduler/waiting-line.ts";
import { DbError, errorText } from "../../base/error.ts";
import { WRITERS_WAITING_MAX } from "../../base/limits.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import { largestOf, takeGroup } from "./flush-groups.ts";
import { checkLogQueue, tooMany } from "../write/too-many-writes.ts";

/** Limits of memory and log; bytes and milliseconds. */
export interface FlushLimits {
  readonly memtableBytes: number;
  readonly writeBufferBytes: number;
  readonly logBytesMax: number;
  readonly idleMillis: number;
  readonly stallMillis: number;
}

/** A table as the scheduler sees it. */
export interface Flushable {
  /** Bytes of rows in the memtable being written. */
  readonly activeBytes: number;
  /** Memory of all its memtables. */
  readonly memoryBytes: number;
  /** Whether it has rows that a flush has taken on and not finished. */
  readonly hasFrozen: boolean;
  readonly oldestWriteMillis: number | undefined;
}

/** What the scheduler drives. */
export interface FlushHost<T extends Flushable> {
  regions(): Iterable<T>;
  logBytes(): number;
  /** Tables that keep the oldest log segment from being deleted. */
  logHolders(): Iterable<T>;
  /** Records that wait to be written to the log. */
  logRecords(): number;
  /** Bytes of rows that ingest threads hold and have not told of. */
  untoldBytes(): number;
  /** Whether everything in memory should become files soon. */
  isUrgent(): boolean;
  /** Whether the server is over its memory limit, once what can do without memory has given way. */
  isOverMemory(): boolean;
  /** Flushes tables together. Returns why some could not be flushed. */
  flush(regions: readonly T[]): Promise<ReadonlyMap<T, unknown>>;
  /** Says how the last flush ended; `reason` undefined: no table's last flush failed. */
  flushEnded(reason: string | undefined): void;
}

/** Share of the memtable limit up to which tables are flushed together; a larger one is flushed alone. */
const GROUP_SHARE = 1 / 2;
/** Share of the write buffer from which tables are flushed although their rows are few. */
const FULL_SHARE = 3 / 4;
/** Share of the write buffer from which memory is counted while a flush runs: rows take about twice their bytes in slabs that double. */
const COUNTED_SHARE = 1 / 2;
/** How long a failed flush waits before the next try; doubles up to the second. */
const RETRY_MILLIS_MIN = 1000;
const RETRY_MILLIS_MAX = 5000;
const CHECK_MILLIS = 1000;
/** How often the first writer that waits looks again: queries and merges give memory back without a word. */
const POLL_MILLIS = 50;
/** Part of a memtable's limit that makes a flush worth it when memory is short: less gives little back and leaves small files. */
const WORTH_FLUSHING = 1 / 16;

interface Failure {
  readonly millis: number;
  readonly retryAt: number;
}

/** See the file header. At most one flush of its own runs at a time. */
export class FlushScheduler<T extends Flushable> {
  private readonly limits: FlushLimits;
  private readonly host: FlushHost<T>;
  private readonly clock: Clock;
  private readonly scheduler: Scheduler;
  private readonly logger: Logger;
  private running: Promise<void> | undefined;
  /** Writers that wait, in the order in which they came; each is woken by its entry. */
  private readonly waiting: WaitingLine = new WaitingLine();
  /** Tables whose last flush failed. */
  private readonly failures: Map<T, Failure> = new Map();
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;
  private closed = false;
  private lastFailure: string | undefined;
  private memory = 0;
  private sinceCount = 0;

  constructor(limits: FlushLimits, host: FlushHost<T>, scheduler: Scheduler, logger: Logger) {
    this.limits = limits;
    this.host = host;
    this.clock = scheduler.clock;
    this.scheduler = scheduler;
    this.logger = logger;
  }

  /** Begins to look at idle tables. */
  start(): void {
    this.timer = setInterval(() => this.check(), CHECK_MILLIS);
    this.timer.unref();
  }

  /** Called at each write with the bytes it added, durable or not: starts a flush when one is due. */
  written(bytes: number): void {
    this.sinceCount += bytes;
    this.memory += bytes;
    // Counting every table is only worth it when a slab's worth came in.
    if (this.sinceCount < this.limits.memtableBytes / 64) return;
    this.sinceCount = 0;
    if (this.running === undefined) this.check();
    else if (this.heldBytes > this.limits.writeBufferBytes * COUNTED_SHARE) this.memory = this.countMemory();
  }

  /** Called when rows of a table became files, whoever asked for it: what failed before may be made good by that. */
  flushed(region: T): void {
    if (!region.hasFrozen && this.failures.delete(region)) this.judge();
  }

  /** Memory of all memtables, nearly: what was written since the last count is estimated. */
  get memoryBytes(): number {
    return this.memory;
  }

  /**
   * Resolves when there is room for a write.
   *
   * @throws DbError RateLimited after `stallMillis`, or at once when too many wait; Cancelled when the signal fires
   */
  async admit(signal?: AbortSignal): Promise<void> {
    checkLogQueue(this.host.logRecords());
    if (this.waiting.length === 0 && this.hasRoom()) return;
    if (this.waiting.length >= WRITERS_WAITING_MAX) throw tooMany(`${WRITERS_WAITING_MAX} writers wait for memory already`);
    const deadline = this.clock.monotonicMillis() + this.limits.stallMillis;
    const waiter: Waiter = { wake: () => undefined };
    this.waiting.join(waiter);
    const abort = (): void => waiter.wake();
    signal?.addEventListener("abort", abort);
    try {
      while (!this.waiting.isFirst(waiter) || !this.hasRoom()) {
        const left = deadline - this.clock.monotonicMillis();
        if (left <= 0) throw this.refusal();
        this.check();
        await nextChange(waiter, this.waiting.isFirst(waiter) ? Math.min(left, POLL_MILLIS) : left);
        if (signal?.aborted === true) throw new DbError(StatusCode.Cancelled, "the client left");
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      this.waiting.leave(waiter);
      this.scheduler.soon(() => this.waiting.wakeFirst()); // Only then is what this writer adds counted.
    }
  }

  /** Waits for the running flush and stops looking. Writers that wait for memory do so until their time is up. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    clearTimeout(this.retryTimer);
    await this.running;
  }

  private hasRoom(): boolean {
    if (this.heldBytes > this.limits.writeBufferBytes) this.memory = this.countMemory();
    return this.heldBytes <= this.limits.writeBufferBytes && !this.host.isOverMemory();
  }

  /** What waits for the log of a thread counts: on a disk that hangs nobody is told of it. */
  private get heldBytes(): number {
    return this.memory + this.host.untoldBytes();
  }

  private refusal(): DbError {
    const { writeBufferBytes } = this.limits;
    const slow = this.lastFailure === undefined ? "flushing cannot keep up" : `the last flush failed: ${this.lastFailure}`;
    if (this.heldBytes <= writeBufferBytes) return tooMany("the server is at its memory limit (memory.limit)");
    return tooMany(`${this.heldBytes} bytes are in memory, over the limit of ${writeBufferBytes}; ${slow}`);
  }

  private countMemory(): number {
    let bytes = 0;
    for (const region of this.host.regions()) bytes += region.memoryBytes;
    return bytes;
  }

  private check(): void {
    if (this.running !== undefined || this.closed) return;
    if (this.failures.size > 0) this.forgetGone();
    const due = this.pick();
    if (due.length === 0) return;
    this.running = this.run(due);
  }

  private async run(first: readonly T[]): Promise<void> {
    for (let regions = first; regions.length > 0 && !this.closed; regions = this.pick()) {
      this.settle(regions, await this.flush(regions));
      this.memory = this.countMemory();
      this.waiting.wakeFirst();
    }
    this.running = undefined;
  }

  private async flush(regions: readonly T[]): Promise<ReadonlyMap<T, unknown>> {
    let failed: ReadonlyMap<T, unknown>;
    try {
      failed = await this.host.flush(regions);
    } catch (error) {
      failed = new Map(regions.map((region) => [region, error]));
    }
    // A bug ends the process: trying again would not make it go away.
    for (const error of failed.values()) if (error instanceof AssertionError) throw error;
    return failed;
  }

  private settle(regions: readonly T[], failed: ReadonlyMap<T, unknown>): void {
    for (const region of regions) if (!failed.has(region)) this.failures.delete(region);
    for (const [region, error] of failed) this.postpone(region, errorText(error));
    this.judge();
  }

  /** A table that was dropped needs no flush any more, nor does one whose rows have gone. */
  private forgetGone(): void {
    const known = new Set(this.host.regions());
    for (const region of this.failures.keys()) if (!known.has(region) || region.memoryBytes === 0) this.failures.delete(region);
    this.judge();
  }

  /** Says that flushing works when no table is left whose last flush failed. */
  private judge(): void {
    if (this.failures.size > 0) return;
    this.lastFailure = undefined;
    this.host.flushEnded(undefined);
  }

  /** Other tables are flushed meanwhile. */
  private postpone(region: T, reason: string): void {
    const millis = Math.min(RETRY_MILLIS_MAX, (this.failures.get(region)?.millis ?? RETRY_MILLIS_MIN / 2) * 2);
    this.failures.set(region, { millis, retryAt: this.clock.monotonicMillis() + millis });
    this.lastFailure = reason;
    this.logger.debug({ error: reason, retryMillis: millis }, "cannot flush; trying again");
    this.host.flushEnded(reason);
    clearTimeout(this.retryTimer);
    if (this.closed) return;
    this.retryTimer = setTimeout(() => this.check(), millis);
    this.retryTimer.unref();
  }

  /** The tables to flush next, by the table in the file header. */
  private pick(): T[] {
    let activeBytes = 0;
    let memoryBytes = 0;
    let largest: T | undefined;
    const frozen: T[] = [];
    const idle: T[] = [];
    const now = this.clock.monotonicMillis();
    const idleBefore = now - this.limits.idleMillis;
    for (const region of this.host.regions()) {
      activeBytes += region.activeBytes;
      memoryBytes += region.memoryBytes;
      if (!this.mayTry(region, now)) continue;
      if (region.hasFrozen) frozen.push(region);
      if (region.activeBytes > (largest?.activeBytes ?? 0)) largest = region;
      if (region.oldestWriteMillis !== undefined && region.oldestWriteMillis < idleBefore) idle.push(region);
    }
    this.memory = memoryBytes; // `written` only knows the rows; memtables take memory in slabs.
    if (frozen.length > 0) return this.group(frozen);
    const { memtableBytes, writeBufferBytes } = this.limits;
    if (activeBytes >= memtableBytes || memoryBytes > writeBufferBytes * FULL_SHARE) return this.largestFirst(now);
    if (largest !== undefined && largest.activeBytes >= memtableBytes * WORTH_FLUSHING && this.host.isOverMemory()) return [largest];
    if (this.host.logBytes() >= this.limits.logBytesMax) {
      const holders = [...this.host.logHolders()].filter((region) => this.mayTry(region, now));
      if (holders.length > 0) return this.group(holders);
    }
    if (largest !== undefined && this.host.isUrgent()) return this.largestFirst(now);
    return this.group(idle);
  }

  private mayTry(region: T, now: number): boolean {
    return this.failures.size === 0 || (this.failures.get(region)?.retryAt ?? 0) <= now;
  }

  private largestFirst(now: number): T[] {
    const regions: T[] = [];
    for (const region of this.host.regions()) if (region.activeBytes > 0 && this.mayTry(region, now)) regions.push(region);
    return this.group(largestOf(regions));
  }

  private group(regions: readonly T[]): T[] {
    return takeGroup(regions, Math.min(this.limits.memtableBytes, this.limits.writeBufferBytes) * GROUP_SHARE);
  }
}

/** Resolves when the writer is woken, or its time is up. */
function nextChange(waiter: Waiter, millis: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => waiter.wake(), millis);
  waiter.wake = (): void => {
    clearTimeout(timer);
    waiter.wake = (): void => undefined;
    resolve();
  };
  return promise;
}
