/**
 * Milliseconds that have passed by the monotonic clock or the wall clock, whichever says more: the former stands still while a machine is
 * suspended, and followers go on. Never goes back. A wall clock that is set forward makes a lane send again what need not be.
 */
import type { Clock } from "../../base/clock.ts";

/** Clocks differ by less than this between two looks. */
const DRIFT_MILLIS_MAX = 1000;

/** See the file header. */
export class LaneClock {
  private readonly clock: Clock;
  private monotonic: number;
  private wall: number;
  /** What the monotonic clock has missed. */
  private missed = 0;

  constructor(clock: Clock) {
    this.clock = clock;
    this.monotonic = clock.monotonicMillis();
    this.wall = clock.nowMillis();
  }

  now(): number {
    const monotonic = this.clock.monotonicMillis();
    const wall = this.clock.nowMillis();
    const missed = wall - this.wall - (monotonic - this.monotonic);
    if (missed > DRIFT_MILLIS_MAX) this.missed += missed;
    this.monotonic = monotonic;
    this.wall = wall;
    return monotonic + this.missed;
  }
}
