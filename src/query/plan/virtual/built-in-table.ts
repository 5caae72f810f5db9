/** Tables that the server computes itself: `numbers` and those of `information_schema`. */
import type { Catalog } from "../../../table/catalog.ts";
import { INFORMATION_SCHEMA, informationTable, informationTableNames } from "./information-schema.ts";
import { NUMBERS } from "./numbers.ts";
import type { BuiltInTable } from "./computed-rows.ts";

/** The computed table of a name, or undefined. */
export function builtInTable(name: { readonly database: string; readonly table: string }, catalog: Catalog): BuiltInTable | undefined {
  if (name.database === INFORMATION_SCHEMA) return informationTable(name.table, catalog);
  return name.database === "public" && name.table === "numbers" ? NUMBERS : undefined;
}

/** Names of the computed tables of a database. */
export function builtInTableNames(database: string): readonly string[] {
  if (database === INFORMATION_SCHEMA) return informationTableNames();
  return database === "public" ? ["numbers"] : [];
}
