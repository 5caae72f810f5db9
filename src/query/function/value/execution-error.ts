import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** The error of a function that has no result for its arguments. */
export function executionError(why: string, cause?: unknown): DbError {
  return new DbError(StatusCode.EngineExecuteQuery, `Execution error: ${why}`, cause === undefined ? {} : { cause });
}
