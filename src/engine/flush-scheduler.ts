/**
 * Decides when memtables become files, and holds writers back while memory is full.
 *
 * | when                                                              | what                                                  |
 * |-------------------------------------------------------------------|-------------------------------------------------------|
 * | a flush failed before                                             | that table is flushed again, a second later           |
 * | memtables being written together reach `memtableBytes`            | the largest is flushed                                |
 * | the log reaches `logBytesMax`                                     | the tables that hold its oldest segment are flushed   |
 * | a table's oldest row in memory is older than `idleMillis`         | that table is flushed                                 |
 * | all memtables together exceed `writeBufferBytes`                  | the largest is flushed; writers wait, then get 429    |
 */
import { AssertionError } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import type { Logger } from "../base/log.ts";
import { StatusCode } from "../base/status-code.ts";

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
  readonly activeBytes: number;
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
  /** Flushes one table. @throws DbError */
  flush(region: T): Promise<void>;
}

/** How long a failed flush waits before the next try. */
const RETRY_MILLIS = 1000;
const CHECK_MILLIS = 1000;

/** See the file header. At most one flush of its own runs at a time. */
export class FlushScheduler<T extends Flushable> {
  private readonly limits: FlushLimits;
  private readonly host: FlushHost<T>;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private running: Promise<void> | undefined;
  private readonly waiters: Set<() => void> = new Set();
  private timer: ReturnType<typeof setInterval> | undefined;
  private closed = false;
  private lastFailure: string | undefined;
  private memory = 0;
  private sinceCount = 0;

  constructor(limits: FlushLimits, host: FlushHost<T>, clock: Clock, logger: Logger) {
    this.limits = limits;
    this.host = host;
    this.clock = clock;
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
    this.check();
  }

  /** Resolves when there is room for a write. @throws DbError RateLimited after `stallMillis` */
  async admit(): Promise<void> {
    if (this.memory <= this.limits.writeBufferBytes) return;
    this.memory = this.countMemory();
    if (this.memory <= this.limits.writeBufferBytes) return;
    const deadline = this.clock.monotonicMillis() + this.limits.stallMillis;
    while (this.memory > this.limits.writeBufferBytes) {
      const left = deadline - this.clock.monotonicMillis();
      if (left <= 0) throw this.refusal();
      this.check();
      await this.nextChange(left);
      this.memory = this.countMemory();
    }
  }

  /** Waits for the running flush and stops looking. Writers that wait for memory do so until their time is up. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await this.running;
  }

  private refusal(): DbError {
    const { writeBufferBytes } = this.limits;
    const why = this.lastFailure === undefined ? "flushing cannot keep up" : `the last flush failed: ${this.lastFailure}`;
    return new DbError(
      StatusCode.RateLimited,
      `cannot take the write: ${this.memory} bytes are in memory, over the limit of ${writeBufferBytes}; ${why}; try again later`,
      { retryAfterSeconds: 1 },
    );
  }

  private nextChange(millis: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      clearTimeout(timer);
      this.waiters.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, millis);
    this.waiters.add(wake);
    return promise;
  }

  private countMemory(): number {
    let bytes = 0;
    for (const region of this.host.regions()) bytes += region.memoryBytes;
    return bytes;
  }

  private check(): void {
    if (this.running !== undefined || this.closed) return;
    const due = this.pick();
    if (due === undefined) return;
    this.running = this.run(due);
  }

  private async run(first: T): Promise<void> {
    for (let region: T | undefined = first; region !== undefined && !this.closed; region = this.pick()) {
      try {
        await this.host.flush(region);
        this.lastFailure = undefined;
      } catch (error) {
        if (error instanceof AssertionError) throw error; // A bug ends the process: trying again would not make it go away.
        this.lastFailure = error instanceof Error ? error.message : String(error);
        this.logger.error({ error: this.lastFailure }, "cannot flush; trying again");
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLIS));
      }
      this.memory = this.countMemory();
      for (const wake of this.waiters) wake();
    }
    this.running = undefined;
  }

  /** The table to flush next, by the table in the file header. */
  private pick(): T | undefined {
    let activeBytes = 0;
    let memoryBytes = 0;
    let largest: T | undefined;
    let idle: T | undefined;
    const idleBefore = this.clock.monotonicMillis() - this.limits.idleMillis;
    for (const region of this.host.regions()) {
      if (region.hasFrozen) return region;
      activeBytes += region.activeBytes;
      memoryBytes += region.memoryBytes;
      if (region.activeBytes > (largest?.activeBytes ?? 0)) largest = region;
      if (region.oldestWriteMillis !== undefined && region.oldestWriteMillis < idleBefore) idle ??= region;
    }
    this.memory = memoryBytes; // `written` only knows the rows; memtables take memory in slabs.
    if (activeBytes >= this.limits.memtableBytes || memoryBytes > this.limits.writeBufferBytes) return largest;
    if (this.host.logBytes() >= this.limits.logBytesMax) for (const region of this.host.logHolders()) return region;
    return idle;
  }
}
