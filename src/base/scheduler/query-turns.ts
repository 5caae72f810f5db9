/**
 * Queries begin a few milliseconds a round of the event loop, in the order in which they came. Reason: a round reads at most 512 KiB of
 * each connection, so fifty queries in every round would leave a body of 10,000 rows, which takes seven rounds, a quarter of a second on
 * its way, and a thousand that come at once would keep everybody else waiting for a second.
 */
import type { Clock, Soon } from "../clock.ts";

/**
 * Milliseconds of a round after which no further query begins. A point query takes about 0.4. Measured with 50 clients beside four
 * connections at full rate, two cores, p99 in ms and rows a second of those alone: at 4 ms 75 and 0.80, at 10 ms 37 and 0.69, at 16 ms 39
 * and 0.57 with ten queries a second each; without a pause between queries 148 and 0.62, 89 and 0.32, 71 and 0.18 (0.12 without turns).
 */
const ROUND_MILLIS = 8;

/**
 * The same while a query has waited for long. Reason: a flush on the other core makes rounds and queries twice as long, and then fewer
 * queries are answered than come: 50 clients with ten a second each waited 170 to 210 ms, and 64 to 82 with this.
 */
const LATE_ROUND_MILLIS = 16;
const LATE_MILLIS = 30;

/** A query that has not begun. */
interface Waiting {
  readonly since: number;
  readonly begin: () => void;
}

/** Turns on one thread's event loop. */
export class QueryTurns {
  /** As many as requests that are open. */
  private readonly waiting: Waiting[] = [];
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private readonly soon: Soon;
  private isRound = false;
  /** Whether a query of this round is under way. */
  private isTaken = false;
  private since = 0;
  /** Queries that asked for a turn so far. */
  asked = 0;

  constructor(clock: Pick<Clock, "monotonicMillis">, soon: Soon) {
    this.clock = clock;
    this.soon = soon;
  }

  /** Resolves when a query may begin; undefined: now. */
  take(): Promise<void> | undefined {
    this.asked++;
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
    return new Promise<void>((begin) => this.waiting.push({ since: this.clock.monotonicMillis(), begin }));
  }

  /** Says that a query has its answer: another may begin in the same round. One that takes longer than the round stops none. */
  done(): void {
    const next = this.hasTime() ? this.waiting.shift() : undefined;
    this.isTaken = next !== undefined;
    next?.begin();
  }

  private hasTime(): boolean {
    const now = this.clock.monotonicMillis();
    const [oldest] = this.waiting;
    const isLate = oldest !== undefined && now - oldest.since > LATE_MILLIS;
    return now - this.since < (isLate ? LATE_ROUND_MILLIS : ROUND_MILLIS);
  }

  private begin(): void {
    this.isRound = true;
    this.isTaken = true;
    this.since = this.clock.monotonicMillis();
    this.soon(() => this.pass()); // After the sockets were looked at.
  }

  private pass(): void {
    const next = this.waiting.shift();
    this.isRound = false;
    if (next === undefined) return;
    this.begin();
    next.begin();
  }
}
