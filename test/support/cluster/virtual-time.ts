/**
 * Time that passes only while everybody waits: when no promise has anything left to do, the clock jumps to the next timer. Tests of minutes
 * run in milliseconds, and the same seed gives the same run. Whoever waits for a socket or a file beside it gets no order between the two.
 */
import type { ClusterTime } from "./cluster-time.ts";

interface Timer {
  readonly at: number;
  /** Timers of one moment fire in the order in which they were set. */
  readonly order: number;
  readonly fire: () => void;
}

/** See the file header. */
export class VirtualTime implements ClusterTime {
  private millis = 1_700_000_000_000;
  private readonly start: number = this.millis;
  private orders = 0;
  private timers: Timer[] = [];
  private isPumping = false;
  private isOver = false;

  nowMillis(): number {
    return this.millis;
  }

  nowNanos(): bigint {
    return BigInt(this.millis) * 1_000_000n;
  }

  monotonicMillis(): number {
    return this.millis - this.start;
  }

  /** Calls back `millis` from now; what it returns takes that back. */
  after(millis: number, fire: () => void): () => void {
    if (this.isOver) return () => undefined;
    const timer: Timer = { at: this.millis + Math.max(0, Math.round(millis)), order: this.orders++, fire };
    const behind = this.timers.findIndex(({ at }) => at > timer.at);
    this.timers.splice(behind < 0 ? this.timers.length : behind, 0, timer);
    this.pump();
    return () => {
      const index = this.timers.indexOf(timer);
      if (index >= 0) this.timers.splice(index, 1);
    };
  }

  /** Resolves `millis` from now. */
  sleep(millis: number): Promise<void> {
    return new Promise((resolve) => this.after(millis, resolve));
  }

  /** Nothing happens any more: whoever waits does so for ever. For the end of a test whose loops nobody ends. */
  end(): void {
    this.isOver = true;
    this.timers = [];
  }

  /** A round of the event loop comes after all promises that had something to do. */
  private pump(): void {
    if (this.isPumping || this.timers.length === 0) return;
    this.isPumping = true;
    setImmediate(() => {
      this.isPumping = false;
      const timer = this.timers.shift();
      if (timer === undefined) return;
      this.millis = timer.at;
      timer.fire();
      this.pump();
    });
  }
}
