/**
 * Errors of accounts that may not read. A statement that only writes may still look at rows, such as DELETE … WHERE, and many errors quote
 * the value that they are about; to such accounts they say what failed and no value.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { StatementNeeds } from "../../query/statement-needs.ts";

/** Codes whose texts are made of names, limits and what the client itself sent, never of a value that was looked at. */
const OF_NO_VALUE: ReadonlySet<StatusCode> = new Set([
  StatusCode.Unsupported,
  StatusCode.Cancelled,
  StatusCode.DeadlineExceeded,
  StatusCode.Suspended,
  StatusCode.InvalidSyntax,
  StatusCode.PlanQuery,
  StatusCode.TableAlreadyExists,
  StatusCode.TableNotFound,
  StatusCode.TableColumnNotFound,
  StatusCode.TableColumnExists,
  StatusCode.DatabaseNotFound,
  StatusCode.RegionNotFound,
  StatusCode.RegionReadonly,
  StatusCode.RegionNotReady,
  StatusCode.RegionBusy,
  StatusCode.TableUnavailable,
  StatusCode.DatabaseAlreadyExists,
  StatusCode.StorageUnavailable,
  StatusCode.RuntimeResourcesExhausted,
  StatusCode.RateLimited,
  StatusCode.PermissionDenied,
]);

/**
 * What an account that may not read is told of a failure of a statement. Broken invariants, which are no `DbError`, stay what they are.
 *
 * @param kind the statement's
 */
export function withoutValues(thrown: unknown, { looks }: StatementNeeds, kind: string): unknown {
  if (!looks || !(thrown instanceof DbError) || OF_NO_VALUE.has(thrown.code)) return thrown;
  const { code, retryAfterSeconds } = thrown;
  const why = "a value or an argument does not fit; which one is told to accounts that may read";
  return new DbError(code, `cannot finish the ${kind} statement: ${why}`, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
