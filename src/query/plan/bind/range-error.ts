/** Errors of queries over ranges of time; clients match on several of these texts. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** A RANGE or ALIGN that is written where it cannot stand, or without its partner. */
export function rangeError(why: string): DbError {
  return new DbError(StatusCode.InvalidSyntax, `Invalid SQL syntax: sql parser error: ${why}`);
}

/** Something that a query with ALIGN cannot have. */
export function rangeQueryError(why: string): DbError {
  return new DbError(StatusCode.InvalidSyntax, `Range Query: ${why}`);
}
