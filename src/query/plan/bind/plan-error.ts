import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** An error of meaning: the text is SQL, but it asks for what cannot be. */
export function planError(why: string): DbError {
  return new DbError(StatusCode.PlanQuery, `Failed to plan SQL: Error during planning: ${why}`);
}

/** The error of a construct that the language has and this release does not. */
export function notSupported(what: string): DbError {
  return new DbError(StatusCode.Unsupported, `Not supported: ${what}`);
}
