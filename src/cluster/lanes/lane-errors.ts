/** How records of a lane fail. */
import { DbError, errorText, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { portFailureOf } from "../port/port-error.ts";

/** When clients should come again whose records the log had no room for: flushes are seconds apart. */
const FULL_RETRY_SECONDS = 2;

/** The failure of a record that is given up. @param isUnsure whether it may be in the log, or come */
export function givenUp(shard: number, isUnsure: boolean, cause: unknown): DbError {
  const why = errorText(cause);
  if (isUnsure) {
    const message = `cannot say whether rows of shard ${shard} were written: ${why}; they may be there, or come`;
    return new DbError(StatusCode.StorageUnavailable, message, { cause });
  }
  const message = `cannot write to shard ${shard}: ${why}`;
  if (portFailureOf(cause) === "full") {
    return new DbError(StatusCode.RateLimited, message, { cause, retryAfterSeconds: FULL_RETRY_SECONDS });
  }
  return new DbError(StatusCode.StorageUnavailable, message, { cause });
}

/** The refusal of a record that no number of parts can hold. */
export function tooLong(shard: number, bytes: number, bytesMax: number): DbError {
  return invalidArguments(`cannot write to shard ${shard}: a record of ${bytes} bytes is longer than ${bytesMax}; send fewer rows at once`);
}

/** The refusal of a record by a lane that is closed. */
export function laneClosed(shard: number): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot write to shard ${shard}: the server is shutting down`);
}
