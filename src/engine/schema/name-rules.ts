import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { checkTableName, nameFlaw, shownName } from "../../table/names.ts";
import { isGraphTable, isNumbersTable } from "../../table/reserved-names.ts";

/** Checks the name of a table or view to be made. @throws DbError InvalidArguments, TableAlreadyExists for one that the server computes */
export function checkFreeName(database: string, name: string): void {
  checkTableName(name);
  if (!isNumbersTable(database, name) && !isGraphTable(database, name)) return;
  const why = "the server computes a table of that name; use another one";
  throw new DbError(StatusCode.TableAlreadyExists, `cannot make table ${database}.${name}: ${why}`);
}

/** Checks a database name. @throws DbError InvalidArguments */
export function checkDatabaseName(name: string): void {
  const flaw = nameFlaw(name);
  if (flaw === undefined) return;
  throw invalidArguments(`Unexpected, violated: Invalid database name: ${shownName(name)}: ${flaw}`);
}

/** Checks a column name. @throws DbError InvalidArguments */
export function checkColumnName(name: string): void {
  const flaw = nameFlaw(name);
  if (flaw !== undefined) throw invalidArguments(`Invalid column name: ${shownName(name)}: ${flaw}`);
}
