/** Time as ownership uses it, so that tests can hold it. */
import { type Clock, systemClock } from "../../base/clock.ts";

/** See the file header. */
export interface Timers extends Pick<Clock, "nowMillis" | "monotonicMillis"> {
  /** Calls back once `millis` from now; what it returns takes that back. */
  after(millis: number, fire: () => void): () => void;
}

/** The machine's. */
export const systemTimers: Timers = {
  nowMillis: () => systemClock.nowMillis(),
  monotonicMillis: () => systemClock.monotonicMillis(),
  after: (millis, fire) => {
    const timer = setTimeout(fire, millis);
    return () => clearTimeout(timer);
  },
};

/** A wait that news cuts short. One waiter at a time. */
export class Waits {
  private readonly timers: Timers;
  private wakeNow: (() => void) | undefined;
  private isAwake = false;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  /** Resolves `millis` from now, or at the next `wake`; at once if there was one since the last wait. */
  async wait(millis: number): Promise<void> {
    if (!this.isAwake) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const forget = this.timers.after(millis, resolve);
      this.wakeNow = resolve;
      await promise;
      this.wakeNow = undefined;
      forget();
    }
    this.isAwake = false;
  }

  wake(): void {
    this.isAwake = true;
    this.wakeNow?.();
  }
}

/**
 * Work under a time limit.
 *
 * @param work is told by its signal when the time is over
 * @returns "late": `millis` went by; the work may go on
 */
export async function within<T>(timers: Timers, millis: number, work: (signal: AbortSignal) => Promise<T>): Promise<T | "late"> {
  const controller = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const forget = timers.after(millis, () => {
    resolve("late");
    controller.abort();
  });
  try {
    return await Promise.race([late, work(controller.signal)]);
  } finally {
    forget();
  }
}
