/**
 * Large bodies are decoded one a round of the event loop, so that small requests that arrived meanwhile are answered in between: a body of
 * 10,000 rows takes 3 to 10 ms, and four connections at full rate have four of them ready at a time.
 */
import { systemClock } from "../../../base/clock.ts";

/** Bodies below it are decoded at once: less than a millisecond. */
const LARGE_BYTES = 256 * 1024;

/** For so long after a large body others are expected. */
const BUSY_MILLIS = 1000;

/** Turns on one thread's event loop. */
class DecodeTurns {
  /** As many as bodies that are in memory, which `max_in_flight_write_bytes` bounds. */
  private readonly waiting: (() => void)[] = [];
  private isTaken = false;
  private lastTaken = Number.NEGATIVE_INFINITY;

  /** Whether large bodies came lately. */
  isBusy(): boolean {
    return systemClock.monotonicMillis() - this.lastTaken < BUSY_MILLIS;
  }

  /** Resolves when a body of this size may be decoded; undefined: now. */
  take(bytes: number): Promise<void> | undefined {
    if (bytes < LARGE_BYTES) return undefined;
    this.lastTaken = systemClock.monotonicMillis();
    if (this.isTaken) return new Promise<void>((resolve) => this.waiting.push(resolve));
    this.isTaken = true;
    setImmediate(() => this.pass());
    return undefined;
  }

  private pass(): void {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.isTaken = false;
      return;
    }
    setImmediate(() => this.pass()); // After the sockets were looked at.
    next();
  }
}

/** Those of this thread. */
export const decodeTurns: DecodeTurns = new DecodeTurns();
