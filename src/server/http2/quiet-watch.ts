/** Whether a client is still there: one that says nothing for long while it has calls is asked, and has to answer in time. */
import { PING_MS_MAX, QUIET_MS_MAX } from "./limits.ts";

/** See the file header. */
export class QuietWatch {
  private heardMs: number;
  private askedMs: number | undefined;

  /** Times are milliseconds of one clock. */
  constructor(nowMs: number) {
    this.heardMs = nowMs;
  }

  /** Something came. */
  heard(nowMs: number): void {
    this.heardMs = nowMs;
    this.askedMs = undefined;
  }

  /** What is to be done now; `ask` counts as asked. @param hasCalls whether a call is under way */
  look(nowMs: number, hasCalls: boolean): "wait" | "ask" | "give up" {
    if (this.askedMs !== undefined) return nowMs - this.askedMs >= PING_MS_MAX ? "give up" : "wait";
    if (!hasCalls || nowMs - this.heardMs < QUIET_MS_MAX) return "wait";
    this.askedMs = nowMs;
    return "ask";
  }
}
