/** Errors of parts that a query on one thread need not meet. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/**
 * Errors that the same query on one thread may not have, or tells better: a partial sum is beyond 64 bits and the whole is not; a part has
 * no room for its groups, where here they go to disk; a file is damaged; the plan is too large to be sent.
 */
export function mayDifferHere(error: unknown): boolean {
  return error instanceof DbError && DIFFERENT_HERE.includes(error.code);
}

const DIFFERENT_HERE: readonly StatusCode[] = [
  StatusCode.EngineExecuteQuery,
  StatusCode.RuntimeResourcesExhausted,
  StatusCode.StorageUnavailable,
  StatusCode.Unsupported,
];
