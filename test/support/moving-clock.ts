import { type Clock, systemClock } from "../../src/base/clock.ts";

/** A wall clock that stands until it is moved. Durations are measured as ever, or by another clock. */
export class MovingClock implements Clock {
  /** Nanoseconds since 1970. */
  nanos: bigint;
  private readonly durations: Pick<Clock, "monotonicMillis">;

  constructor(nanos: bigint, durations: Pick<Clock, "monotonicMillis"> = systemClock) {
    this.nanos = nanos;
    this.durations = durations;
  }

  nowMillis(): number {
    return Number(this.nanos / 1_000_000n);
  }

  nowNanos(): bigint {
    return this.nanos;
  }

  monotonicMillis(): number {
    return this.durations.monotonicMillis();
  }
}
