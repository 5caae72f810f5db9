import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** An error of meaning: the text is SQL, but it asks for what cannot be. */
export function planError(why: string): DbError {
  return planFailure(`Error during planning: ${why}`);
}

/** As `planError`, for reasons that clients know by words of their own. */
export function planFailure(reason: string): DbError {
  return new DbError(StatusCode.PlanQuery, `Failed to plan SQL: ${reason}`, { details: { reason } });
}

/** The error of a construct that the language has and this release does not. */
export function notSupported(what: string): DbError {
  return new DbError(StatusCode.Unsupported, `Not supported: ${what}`);
}
