/** The only source of time, so that tests can hold it. */
export interface Clock {
  /** Wall-clock time: milliseconds since 1970-01-01T00:00:00Z. */
  nowMillis(): number;
  /** Wall-clock time: nanoseconds since 1970-01-01T00:00:00Z, a `bigint` because they exceed 2^53; as fine as the machine gives. */
  nowNanos(): bigint;
  /** Milliseconds from an arbitrary start, never going back; for measuring durations. */
  monotonicMillis(): number;
}

/** Calls back once in the next round of the event loop, after its sockets were looked at. */
export type Soon = (callback: () => void) => void;

/** Furthest that `finerClock` runs ahead of the wall clock before it takes that for a step backwards. */
const AHEAD_MILLIS_MAX = 2;

/**
 * A wall clock in nanoseconds out of one that counts whole milliseconds: between its ticks it follows the monotonic clock. It never goes
 * back unless the wall clock is set back, and is at most `AHEAD_MILLIS_MAX` off; a step of the wall clock is followed at once.
 */
export function finerClock(wallMillis: () => number, monotonicMillis: () => number): () => bigint {
  let anchorWall = Number.NEGATIVE_INFINITY;
  let anchorMonotonic = 0;
  return () => {
    const before = monotonicMillis();
    const wall = wallMillis();
    const monotonic = monotonicMillis();
    const guess = anchorWall + (monotonic - anchorMonotonic);
    // A thread that stood still between the readings sees a wall clock that is too old by that much.
    if (!(guess >= wall && guess <= wall + AHEAD_MILLIS_MAX + (monotonic - before))) {
      anchorWall = wall;
      anchorMonotonic = monotonic;
    }
    return BigInt(anchorWall) * 1_000_000n + BigInt(Math.floor((monotonic - anchorMonotonic) * 1e6));
  };
}

/** The machine's clock. */
export const systemClock: Clock = {
  nowMillis: () => Date.now(),
  nowNanos: finerClock(
    () => Date.now(),
    () => performance.now(),
  ),
  monotonicMillis: () => performance.now(),
};

/** A clock that stands at `nanos` until `set` moves it. */
export function fixedClock(nanos: bigint): Clock & { set(nanos: bigint): void } {
  let now = nanos;
  return {
    nowMillis: () => Number(now / 1_000_000n),
    nowNanos: () => now,
    monotonicMillis: () => Number(now / 1000n) / 1000,
    set(value) {
      now = value;
    },
  };
}
