/**
 * How long an append waits for its answer.
 *
 * What a leader that died was sent is never answered, and the next one, elected 4 to 9 s later, does not know of it: whoever waits long
 * waits for nothing. Whoever gives up early sends again what is stored already, and makes slow disks slower. So waits begin short, are
 * several times what answers took lately, and grow by half while a stream is silent:
 *
 * ```
 *   silent for   0 s   3.2 s   6.4 s   9.8 s   14.9 s        of a lane, which sends again 200 ms later
 *   waits        3 s   3 s     3.2 s   4.9 s   7.4 s  …      at most the call's time
 * ```
 */
import type { Clock } from "../../base/clock.ts";

/** Shortest wait in milliseconds. Reason: an append takes some milliseconds, a disk that stalls up to a second. */
const WAIT_MILLIS_MIN = 3000;
/** A wait is so many times what answers took lately. */
const LATENCIES = 4;
/** What is left of a latency after one more answer: some forty forget it. */
const LATENCY_DECAY = 0.9;

/** Of one stream. */
export class AppendWaits {
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private readonly callMillis: number;
  private latencyMillis = 0;
  /** When the first append was sent that was not answered, since the last answer. */
  private silentSince: number | undefined;

  /** @param callMillis the longest wait */
  constructor(clock: Pick<Clock, "monotonicMillis">, callMillis: number) {
    this.clock = clock;
    this.callMillis = callMillis;
  }

  /** Of an append that is sent now, in milliseconds. */
  next(): number {
    const silent = this.silentSince === undefined ? 0 : this.clock.monotonicMillis() - this.silentSince;
    return Math.min(this.callMillis, Math.max(WAIT_MILLIS_MIN, LATENCIES * this.latencyMillis, silent / 2));
  }

  /** The servers answered what was sent then. */
  answered(sentAt: number): void {
    const millis = this.clock.monotonicMillis() - sentAt;
    this.latencyMillis = Math.max(millis, this.latencyMillis * LATENCY_DECAY);
    this.silentSince = undefined;
  }

  /** Nobody answered what was sent then. */
  unanswered(sentAt: number): void {
    this.silentSince ??= sentAt;
  }
}
