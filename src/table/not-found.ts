/** The errors for names that nothing has. */
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { CATALOG_NAME } from "./reserved-names.ts";
import type { ColumnSchema, TableSchema } from "./schema.ts";

/** The error for a database that does not exist. */
export function databaseNotFound(database: string): DbError {
  return new DbError(StatusCode.DatabaseNotFound, `Database not found: ${database}`);
}

/** The error for a table that does not exist, or no longer does. */
export function tableNotFound(database: string, table: string): DbError {
  return new DbError(StatusCode.TableNotFound, `Table not found: ${CATALOG_NAME}.${database}.${table}`);
}

/** The error for a column that a table does not have. */
export function columnNotFound(table: string, column: string): DbError {
  return new DbError(StatusCode.TableColumnNotFound, `Column ${column} not exists in table ${table}`);
}

/** The column of a name. @throws DbError TableColumnNotFound */
export function columnNamed({ name: table, columns }: Pick<TableSchema, "name" | "columns">, name: string): ColumnSchema {
  const column = columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw columnNotFound(table, name);
  return column;
}
