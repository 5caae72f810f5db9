import { type Clock, systemClock } from "../../src/base/clock.ts";

/** A wall clock that stands until it is moved. Durations are measured as ever. */
export class MovingClock implements Clock {
  /** Nanoseconds since 1970. */
  nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  nowMillis(): number {
    return Number(this.nanos / 1_000_000n);
  }

  nowNanos(): bigint {
    return this.nanos;
  }

  monotonicMillis(): number {
    return systemClock.monotonicMillis();
  }
}
