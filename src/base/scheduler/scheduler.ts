/**
 * Who runs on a thread's event loop, for how long, and who goes first. One a thread, made by whoever starts it and handed to all that work
 * long: the HTTP server, queries, scans, the engine.
 *
 *   round   sockets, files, timers ─► one large body is decoded ─► queries begin, one after the other, until 8 ms are used up
 *                                  ─► one piece of long work, up to 10 ms ─► sockets, files, timers …
 *
 * What is short runs when it comes: small bodies, health checks, answers of other threads. Large bodies and queries that begin take turns,
 * since a round reads at most 512 KiB of each connection. Long work yields (`Pace`): with a plain `setImmediate` each, 200 queries would
 * all work in every round, and sockets would be looked at once in 200 pieces of 10 ms.
 */
import { type Clock, type Soon, systemClock } from "../clock.ts";
import { OneARound } from "./one-a-round.ts";
import { QueryTurns } from "./query-turns.ts";

/**
 * Bodies below it are decoded at once, in less than a millisecond. One of 10,000 rows takes 3 to 10 ms, and four connections at full rate
 * have four of them ready at a time.
 */
const LARGE_BODY_BYTES = 256 * 1024;

/** See the file header. */
export class Scheduler {
  readonly clock: Clock;
  /** Queries that begin. */
  readonly queries: QueryTurns;
  /** For what has only to come after the work of this round. */
  readonly soon: Soon;
  /** When the last piece of long work began, on the clock: whatever runs now has run no longer than that, or is that piece. */
  pieceSince = 0;
  private readonly bodies: OneARound;
  private readonly pieces: OneARound;
  /** What goes before all long work. */
  private held: Promise<void> | undefined;

  constructor(clock: Clock = systemClock, soon: Soon = setImmediate) {
    this.clock = clock;
    this.soon = soon;
    this.queries = new QueryTurns(clock, soon);
    this.bodies = new OneARound(soon);
    this.pieces = new OneARound(soon, () => {
      this.pieceSince = clock.monotonicMillis();
    });
  }

  /** Resolves when a body of so many bytes may be decoded; undefined: now. */
  decode(bytes: number): Promise<void> | undefined {
    return bytes < LARGE_BODY_BYTES ? undefined : this.bodies.take();
  }

  /** Yields: resolves in a later round, after all that yielded before. */
  nextRound(): Promise<void> {
    return this.held === undefined ? this.pieces.next() : this.held.then(() => this.pieces.next());
  }

  /** Holds up long work that yields from now on until `end`, which never rejects and is not far. */
  hold(end: Promise<void>): void {
    this.held = end;
    void end.then(() => {
      if (this.held === end) this.held = undefined;
    });
  }
}
