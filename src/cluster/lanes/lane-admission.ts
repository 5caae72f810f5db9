/**
 * How writers wait for a lane: in the order in which they came. One is let in at a time, so that what it adds is counted before the next
 * looks.
 */
import type { Clock } from "../../base/clock.ts";
import { WRITERS_WAITING_MAX } from "../../base/limits.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { type Waiter, WaitingLine } from "../../base/scheduler/waiting-line.ts";
import { tooMany } from "../../engine/write/too-many-writes.ts";
import type { LaneMemory } from "./lane-memory.ts";
import { LAG_POLL_MILLIS } from "./limits.ts";

/** What waiting needs. */
export interface LaneAdmissionParts {
  readonly clock: Clock;
  readonly sleep: (millis: number) => Promise<void>;
  readonly memory: LaneMemory;
  /** How long one waits at most. */
  readonly stallMillis: number;
  /** Why there is no room now; undefined: there is. */
  readonly refusal: () => string | undefined;
}

/** See the file header. */
export class LaneAdmission {
  private readonly parts: LaneAdmissionParts;
  private readonly waiting: WaitingLine = new WaitingLine();

  constructor(parts: LaneAdmissionParts) {
    this.parts = parts;
  }

  /** Whether who comes now has to wait. */
  get isBusy(): boolean {
    return this.waiting.length > 0 || this.parts.refusal() !== undefined;
  }

  /**
   * Resolves when it is the caller's turn and there is room.
   *
   * @throws DbError RateLimited after `stallMillis`, or when too many wait; Cancelled
   */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    const { clock, stallMillis, refusal } = this.parts;
    if (this.waiting.length >= WRITERS_WAITING_MAX) throw tooMany(`${WRITERS_WAITING_MAX} writers wait for its log already`);
    const deadline = clock.monotonicMillis() + stallMillis;
    const waiter: Waiter = { wake: () => undefined };
    this.waiting.join(waiter);
    const abort = (): void => waiter.wake();
    signal?.addEventListener("abort", abort);
    try {
      for (;;) {
        throwIfCancelled(signal);
        const why = this.waiting.isFirst(waiter) ? refusal() : "others wait for its log";
        if (why === undefined) return;
        const left = deadline - clock.monotonicMillis();
        if (left <= 0) throw tooMany(refusal() ?? why);
        await this.change(waiter, left);
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      this.waiting.leave(waiter);
      void this.parts.sleep(0).then(() => this.waiting.wakeFirst()); // Only then is what this writer adds counted.
    }
  }

  /** Resolves when the waiter is woken or its time is up; of the first one also when bytes were given back, or after a while. */
  private async change(waiter: Waiter, left: number): Promise<void> {
    const { memory, sleep } = this.parts;
    const isNext = this.waiting.isFirst(waiter);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiter.wake = resolve;
    const quiet = isNext ? memory.onGiven(resolve) : undefined;
    await Promise.race([promise, sleep(isNext ? Math.min(left, LAG_POLL_MILLIS) : left)]);
    quiet?.();
    waiter.wake = () => undefined;
  }
}
