/** Counts the memory that one query holds between batches: groups, sorted rows, distinct values. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** Most bytes one query holds. Reason: a grouping by a unique column must not take the process down. Error: RuntimeResourcesExhausted. */
export const QUERY_BYTES_MAX: number = 512 * 1024 * 1024;

/** The budget of one query. Estimates, not exact counts. */
export class MemoryBudget {
  private used = 0;
  private readonly limit: number;

  constructor(limit: number = QUERY_BYTES_MAX) {
    this.limit = limit;
  }

  /** Counts `bytes` more. @throws DbError RuntimeResourcesExhausted */
  readonly reserve = (bytes: number): void => {
    this.used += bytes;
    if (this.used <= this.limit) return;
    const mebibytes = Math.floor(this.limit / 1024 / 1024);
    throw new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot run query: it needs more than ${mebibytes} MiB of memory; narrow the time range, group by fewer values, or add a LIMIT`,
    );
  };

  /** Gives `bytes` back. */
  readonly release = (bytes: number): void => {
    this.used -= bytes;
  };
}
