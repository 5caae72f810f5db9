/** Lines that strangers can cause, a few a minute: the rest are counted, and the next line says how many. */
import type { Clock } from "../clock.ts";

/** See the file header. */
export class Seldom {
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private readonly most: number;
  private readonly windowMillis: number;
  private begunMillis = Number.NEGATIVE_INFINITY;
  private said = 0;
  private unsaid = 0;

  /** At most `most` in each `windowMillis`. */
  constructor(clock: Pick<Clock, "monotonicMillis">, most: number, windowMillis: number) {
    this.clock = clock;
    this.most = most;
    this.windowMillis = windowMillis;
  }

  /** Whether to say it. @returns how many were not said since the last that was; undefined: do not say it */
  take(): number | undefined {
    const now = this.clock.monotonicMillis();
    if (now - this.begunMillis >= this.windowMillis) {
      this.begunMillis = now;
      this.said = 0;
    }
    if (this.said === this.most) {
      this.unsaid++;
      return undefined;
    }
    this.said++;
    const { unsaid } = this;
    this.unsaid = 0;
    return unsaid;
  }
}
