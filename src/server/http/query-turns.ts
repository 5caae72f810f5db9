/**
 * Queries begin a few milliseconds a round of the event loop, in the order in which they came. Reason: a round reads at most 512 KiB of
 * each connection, so fifty queries in every round would leave a body of 10,000 rows, which takes seven rounds, a quarter of a second on
 * its way, and a thousand that come at once would keep everybody else waiting for a second.
 *
 *   round   sockets are read ─► bodies are decoded (decode-turns.ts) ─► queries, one after the other, until the time is used up
 */
import { type Clock, systemClock } from "../../base/clock.ts";

/**
 * Milliseconds of a round after which no further query begins. A point query takes about 0.4. Measured with 50 clients beside four
 * connections at full rate, two cores, p99 in ms and rows a second of those alone: at 4 ms 75 and 0.80, at 10 ms 37 and 0.69, at 16 ms 39
 * and 0.57 with ten queries a second each; without a pause between queries 148 and 0.62, 89 and 0.32, 71 and 0.18 (0.12 without turns).
 */
const ROUND_MILLIS = 8;

/** Turns on one thread's event loop. */
export class QueryTurns {
  /** As many as requests that are open. */
  private readonly waiting: (() => void)[] = [];
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private isRound = false;
  /** Whether a query of this round is under way. */
  private isTaken = false;
  private since = 0;

  constructor(clock: Pick<Clock, "monotonicMillis"> = systemClock) {
    this.clock = clock;
  }

  /** Resolves when a query may begin; undefined: now. */
  take(): Promise<void> | undefined {
    if (this.waiting.length === 0) {
      if (!this.isRound) {
        this.begin();
        return undefined;
      }
      if (!this.isTaken && this.hasTime()) {
        this.isTaken = true;
        return undefined;
      }
    }
    return new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Says that a query has its answer: another may begin in the same round. One that takes longer than the round stops none. */
  done(): void {
    const next = this.hasTime() ? this.waiting.shift() : undefined;
    this.isTaken = next !== undefined;
    next?.();
  }

  private hasTime(): boolean {
    return this.clock.monotonicMillis() - this.since < ROUND_MILLIS;
  }

  private begin(): void {
    this.isRound = true;
    this.isTaken = true;
    this.since = this.clock.monotonicMillis();
    setImmediate(() => this.pass()); // After the sockets were looked at.
  }

  private pass(): void {
    const next = this.waiting.shift();
    this.isRound = false;
    if (next === undefined) return;
    this.begin();
    next();
  }
}

/** Those of this thread. */
export const queryTurns: QueryTurns = new QueryTurns();
