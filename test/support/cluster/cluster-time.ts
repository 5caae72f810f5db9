/** The time of a cluster in memory: a virtual one (`virtual-time.ts`) unless a test has another. */
import type { Clock } from "../../../src/base/clock.ts";

/** See the file header. */
export interface ClusterTime extends Clock {
  /** Calls back `millis` from now; what it returns takes that back. */
  after(millis: number, fire: () => void): () => void;
  /** Resolves `millis` from now. */
  sleep(millis: number): Promise<void>;
  /** Nothing is called back any more. */
  end(): void;
}
