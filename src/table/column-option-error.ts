import { type DbError, invalidArguments } from "../base/error.ts";

/** A column option that cannot be. */
export function columnOptionError(column: string, why: string): DbError {
  return invalidArguments(`Invalid column option, column name: ${column}, error: ${why}`);
}
