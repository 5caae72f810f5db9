/** What is wrong with bytes that should be Arrow, and what of Arrow is not read. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";

/** The error of bytes that are no Arrow, or not whole. */
export function malformed(why: string): DbError {
  return new DbError(StatusCode.InvalidArguments, `cannot read Arrow: ${why}`);
}

/** The error of what Arrow has and this server does not read. */
export function unsupported(what: string): DbError {
  return new DbError(StatusCode.Unsupported, `Not supported in Arrow: ${what}`);
}
