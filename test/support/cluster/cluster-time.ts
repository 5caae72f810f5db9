/** The time of a cluster in memory: a virtual one (`virtual-time.ts`), or the machine's. */
import { type Clock, systemClock } from "../../../src/base/clock.ts";

/** See the file header. */
export interface ClusterTime extends Clock {
  /** Calls back `millis` from now; what it returns takes that back. */
  after(millis: number, fire: () => void): () => void;
  /** Resolves `millis` from now. */
  sleep(millis: number): Promise<void>;
  /** Nothing is called back any more. */
  end(): void;
}

/** Time that passes by itself, for engines over files and sockets. Its timers keep no process alive. */
export const realTime: ClusterTime = {
  ...systemClock,
  after(millis, fire) {
    const timer = setTimeout(fire, millis);
    timer.unref();
    return () => clearTimeout(timer);
  },
  sleep: (millis) => new Promise((resolve) => void setTimeout(resolve, millis)),
  end: () => undefined, // Its timers keep no process alive.
};
