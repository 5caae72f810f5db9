/**
 * Lets a few password derivations run and a bounded number wait, in order. Derivations share the process's thread pool with the log's
 * syncs: without this, a flood of logins would stop writes.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

const RETRY_AFTER_SECONDS = 1;

/** A queue for derivations. Invariant: `running <= runningMax`, and nothing waits while `running < runningMax`. */
export class CheckQueue {
  private readonly runningMax: number;
  private readonly waitingMax: number;
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(runningMax: number, waitingMax: number) {
    this.runningMax = runningMax;
    this.waitingMax = waitingMax;
  }

  /** Runs `work` when its turn comes. @throws DbError RateLimited when too many wait; what `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.runningMax) {
      this.running++;
    } else {
      await this.turn();
    }
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next(); // hands its place on
    }
  }

  private turn(): Promise<void> {
    if (this.waiting.length >= this.waitingMax) {
      throw new DbError(
        StatusCode.RateLimited,
        `cannot check the password: ${this.waitingMax} logins are waiting already; try again later`,
        {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        },
      );
    }
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }
}
