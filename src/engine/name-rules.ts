import { DbError } from "../base/error.ts";
import { NAME_BYTES_MAX } from "../base/limits.ts";
import { StatusCode } from "../base/status-code.ts";

const NAME = /^[a-zA-Z_:-][a-zA-Z0-9_:.@#-]*$/;

/** Checks a table name (query.md 1.1). @throws DbError InvalidArguments */
export function checkTableName(name: string): void {
  if (NAME.test(name) && name.length <= NAME_BYTES_MAX) return;
  throw new DbError(
    StatusCode.InvalidArguments,
    `Invalid table name: ${name.slice(0, 120)}; it begins with a letter, "_", ":" or "-" and goes on with these, digits, ".", "@" or "#"`,
  );
}

/** Checks a database name. @throws DbError Unexpected, as the contract has it */
export function checkDatabaseName(name: string): void {
  if (NAME.test(name) && name.length <= NAME_BYTES_MAX) return;
  throw new DbError(StatusCode.Unexpected, `Unexpected, violated: Invalid database name: ${name.slice(0, 120)}`);
}

/** Checks a column name. @throws DbError InvalidArguments */
export function checkColumnName(name: string): void {
  if (name.length > 0 && Buffer.byteLength(name) <= NAME_BYTES_MAX) return;
  throw new DbError(
    StatusCode.InvalidArguments,
    `cannot create a column: its name has ${Buffer.byteLength(name)} bytes; 1 to ${NAME_BYTES_MAX} are allowed`,
  );
}
