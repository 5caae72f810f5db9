/** Tables that the server computes itself: `numbers` and those of `information_schema`. */
import type { BuiltInColumn, BuiltInTable } from "../common/computed-rows.ts";
import { INFORMATION_SCHEMA, informationTable, informationTableNamed, informationTableNames } from "./information-schema.ts";
import { isNumbersTable } from "../../../table/reserved-names.ts";
import { NUMBERS } from "./numbers.ts";

interface Name {
  readonly database: string;
  readonly table: string;
}

/** The computed table of a name, or undefined. */
export function builtInTable(name: Name): BuiltInTable | undefined {
  if (name.database === INFORMATION_SCHEMA) return informationTable(name.table);
  return isNumbersTable(name.database, name.table) ? NUMBERS : undefined;
}

/** Its columns, or undefined. */
export function builtInColumns(name: Name): readonly BuiltInColumn[] | undefined {
  if (name.database === INFORMATION_SCHEMA) return informationTableNamed(name.table)?.columns;
  return isNumbersTable(name.database, name.table) ? NUMBERS.columns : undefined;
}

/** Names of the computed tables of a database. */
export function builtInTableNames(database: string): readonly string[] {
  if (database === INFORMATION_SCHEMA) return informationTableNames();
  return database === "public" ? ["numbers"] : [];
}
