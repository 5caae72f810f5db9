/** How writers wait for a lane. */
import type { Clock } from "../../base/clock.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { tooMany } from "../../engine/write/too-many-writes.ts";
import type { LaneMemory } from "./lane-memory.ts";
import { LAG_POLL_MILLIS } from "./limits.ts";

/** What waiting needs. */
export interface Admission {
  readonly clock: Clock;
  readonly sleep: (millis: number) => Promise<void>;
  readonly memory: LaneMemory;
  readonly stallMillis: number;
}

/**
 * Resolves when nothing refuses any more.
 *
 * @param refusal why there is no room now
 * @throws DbError RateLimited after `stallMillis`; Cancelled
 */
export async function admitted(refusal: () => string | undefined, admission: Admission, signal: AbortSignal | undefined): Promise<void> {
  const { clock, sleep, memory, stallMillis } = admission;
  const deadline = clock.monotonicMillis() + stallMillis;
  for (let why = refusal(); why !== undefined; why = refusal()) {
    throwIfCancelled(signal);
    const left = deadline - clock.monotonicMillis();
    if (left <= 0) throw tooMany(why);
    const { promise, resolve } = Promise.withResolvers<void>();
    const quiet = memory.onGiven(resolve);
    await Promise.race([promise, sleep(Math.min(left, LAG_POLL_MILLIS))]);
    quiet();
  }
  throwIfCancelled(signal);
}
