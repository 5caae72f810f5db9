/** Writers that are told to come back later. */
import { DbError } from "../../base/error.ts";
import { LOG_QUEUE_RECORDS_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";

/** The refusal of a write for which there is no room now. */
export function tooMany(why: string): DbError {
  return new DbError(StatusCode.RateLimited, `cannot take the write: ${why}; try again later`, { retryAfterSeconds: 1 });
}

/** @param records that wait for a thread's log. @throws DbError RateLimited when no more may */
export function checkLogQueue(records: number): void {
  if (records >= LOG_QUEUE_RECORDS_MAX) throw tooMany(`${LOG_QUEUE_RECORDS_MAX} writes wait for the log's disk, which is slow or hangs`);
}
