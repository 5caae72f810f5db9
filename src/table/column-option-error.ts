import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";

/** A column option that cannot be. */
export function columnOptionError(column: string, why: string): DbError {
  return new DbError(StatusCode.InvalidArguments, `Invalid column option, column name: ${column}, error: ${why}`);
}
