/** Shards that this node could not open, or not keep: why, and when it tries again. Waits double from 1 s to 30 s. */
import { FAILED_MILLIS, FAILED_MILLIS_MAX, OPEN_MILLIS, OPEN_MILLIS_MAX } from "./limits.ts";
import type { Timers } from "./timers.ts";

/** A shard that fails. */
export interface ShardFailure {
  readonly reason: string;
  /** In a row. */
  readonly times: number;
  /** Of those, how often it took too long. */
  readonly timesLate: number;
  /** Monotonic: not tried before. */
  readonly againMillis: number;
}

/** See the file header. */
export class Failures {
  private readonly timers: Timers;
  private readonly failures = new Map<number, ShardFailure>();

  constructor(timers: Timers) {
    this.timers = timers;
  }

  failed(shard: number, reason: string, isLate: boolean): void {
    const before = this.failures.get(shard);
    const times = (before?.times ?? 0) + 1;
    const timesLate = (before?.timesLate ?? 0) + (isLate ? 1 : 0);
    const wait = Math.min(FAILED_MILLIS_MAX, FAILED_MILLIS * 2 ** (times - 1));
    this.failures.set(shard, { reason, times, timesLate, againMillis: this.timers.monotonicMillis() + wait });
  }

  /** It has been served here for long enough. */
  forget(shard: number): void {
    this.failures.delete(shard);
  }

  /** How long the next attempt may take, in milliseconds. */
  openMillis(shard: number): number {
    return Math.min(OPEN_MILLIS_MAX, OPEN_MILLIS * 2 ** (this.failures.get(shard)?.timesLate ?? 0));
  }

  /** Whether it must not be tried yet. */
  isWaiting(shard: number): boolean {
    return (this.failures.get(shard)?.againMillis ?? Number.NEGATIVE_INFINITY) > this.timers.monotonicMillis();
  }

  /** All that fail, by shard. */
  all(): ReadonlyMap<number, ShardFailure> {
    return this.failures;
  }
}
