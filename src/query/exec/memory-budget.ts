/** Counts the memory that one query holds between batches: groups, sorted rows, distinct values; alone, and as one of all that run. */
import { DbError } from "../../base/error.ts";
import type { MemoryAccount } from "../../base/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";

/** Most bytes one query holds. Reason: a grouping by a unique column must not take the process down. Error: RuntimeResourcesExhausted. */
export const QUERY_BYTES_MAX: number = 512 * 1024 * 1024;

/** The budget of one query. Estimates, not exact counts. */
export class MemoryBudget {
  private used = 0;
  private readonly limit: number;
  private readonly account: MemoryAccount | undefined;

  /** @param account what this query holds of the memory of all queries; whoever opened it closes it */
  constructor(limit: number = QUERY_BYTES_MAX, account?: MemoryAccount) {
    this.limit = limit;
    this.account = account;
  }

  /** Counts `bytes` more. @throws DbError RuntimeResourcesExhausted */
  readonly reserve = (bytes: number): void => {
    this.used += bytes;
    if (this.used <= this.limit) {
      if (this.account === undefined || this.account.take(bytes)) return;
      this.used -= bytes;
      throw new DbError(
        StatusCode.RuntimeResourcesExhausted,
        "cannot run query: all queries together hold as much memory as they may, half of memory.limit; run it again when others have ended",
      );
    }
    const mebibytes = Math.floor(this.limit / 1024 / 1024);
    throw new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot run query: it needs more than ${mebibytes} MiB of memory; narrow the time range, group by fewer values, or add a LIMIT`,
    );
  };

  /** Gives `bytes` back. */
  readonly release = (bytes: number): void => {
    this.used -= bytes;
    this.account?.give(bytes);
  };
}
