/**
 * Whether a body, or an answer, moves at the least rate. It has a while that nobody looks at, and then must have moved
 * `BODY_BYTES_PER_SECOND_MIN` on the average. Time in which it waits for the server does not count.
 */
import { systemClock } from "../../../base/clock.ts";
import { BODY_PACE, type PaceLimits } from "../limits.ts";

/** Milliseconds after which one that rests is looked at again. */
const REST_LOOK_MS = 1000;

/** Of one body. `end` must be called. */
export class BodyPace {
  /** Resolves when it is too slow, or has taken too long; never, once it ended. */
  readonly tooSlow: Promise<void>;
  private readonly limits: PaceLimits;
  private readonly resolve: () => void;
  private bytes = 0;
  /** Milliseconds that counted, up to `since`. */
  private spentMs = 0;
  private since: number | undefined = systemClock.monotonicMillis();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limits: PaceLimits = BODY_PACE) {
    this.limits = limits;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.tooSlow = promise;
    this.resolve = resolve;
    this.watch();
  }

  /** Time does not count until `came`: the server is not ready for more. */
  rest(): void {
    this.spentMs = this.spent();
    this.since = undefined;
  }

  /** So much more has come, and time counts again. */
  came(bytes: number): void {
    this.bytes += bytes;
    this.since ??= systemClock.monotonicMillis();
  }

  /** Nothing more is watched. */
  end(): void {
    clearTimeout(this.timer);
  }

  private spent(): number {
    return this.spentMs + (this.since === undefined ? 0 : systemClock.monotonicMillis() - this.since);
  }

  private watch(): void {
    const { graceMs, bytesPerSecondMin, msMax } = this.limits;
    const allowedMs = Math.min(msMax, graceMs + (this.bytes / bytesPerSecondMin) * 1000);
    const leftMs = allowedMs - this.spent();
    const isResting = this.since === undefined;
    if (leftMs <= 0 && !isResting) return this.resolve();
    this.timer = setTimeout(() => this.watch(), isResting ? Math.max(leftMs, REST_LOOK_MS) : leftMs);
  }
}
