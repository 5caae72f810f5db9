import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** The error for a table that does not exist, or no longer does. */
export function tableNotFound(database: string, table: string): DbError {
  return new DbError(StatusCode.TableNotFound, `Table not found: greptime.${database}.${table}`);
}
