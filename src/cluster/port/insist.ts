/** Calls of the port that are made again while nobody serves what they ask for: an election takes 4 to 9 s. */
import type { Clock } from "../../base/clock.ts";
import { type PortFailure, portFailureOf } from "./port-error.ts";

/** What is waited with. */
export interface Patience {
  readonly clock: Pick<Clock, "monotonicMillis">;
  readonly sleep: (millis: number) => Promise<void>;
  /** Failures after which it is worth another try. Default: that nobody serves it. */
  readonly passing?: readonly PortFailure[];
  /** Called before each wait: what it throws ends the tries. */
  readonly onFailure?: (error: unknown) => void;
}

/** How long a call is made again, in milliseconds: twice the longest election. */
export const WAIT_MILLIS = 20_000;

/** What is waited between two of them. */
export const AGAIN_MILLIS = 200;

const PASSING: readonly PortFailure[] = ["unavailable"];

/** Makes a call until it is served, for `WAIT_MILLIS` at most. @throws what it throws otherwise, and what `onFailure` does */
export async function insist<T>(call: () => Promise<T>, { clock, sleep, passing = PASSING, onFailure }: Patience): Promise<T> {
  const end = clock.monotonicMillis() + WAIT_MILLIS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const failure = portFailureOf(error);
      if (failure === undefined || !passing.includes(failure) || clock.monotonicMillis() >= end) throw error;
      onFailure?.(error);
    }
    await sleep(AGAIN_MILLIS);
  }
}
