import { type EpochMillis, type EpochNanos, epochMillis, epochNanos } from "./units.ts";

/** The only source of time, so that tests can hold it. */
export interface Clock {
  /** Wall-clock time. */
  nowMillis(): EpochMillis;
  /** Wall-clock time in nanoseconds; as fine as the machine gives. */
  nowNanos(): EpochNanos;
  /** Milliseconds from an arbitrary start, never going back; for measuring durations. */
  monotonicMillis(): number;
}

/** The machine's clock. */
export const systemClock: Clock = {
  nowMillis: () => epochMillis(Date.now()),
  nowNanos: () => epochNanos(BigInt(Date.now()) * 1_000_000n + BigInt(Math.floor((performance.now() % 1) * 1e6))),
  monotonicMillis: () => performance.now(),
};

/** A clock that stands at `nanos` until `set` moves it. */
export function fixedClock(nanos: bigint): Clock & { set(nanos: bigint): void } {
  let now = nanos;
  return {
    nowMillis: () => epochMillis(Number(now / 1_000_000n)),
    nowNanos: () => epochNanos(now),
    monotonicMillis: () => Number(now / 1000n) / 1000,
    set(value) {
      now = value;
    },
  };
}
