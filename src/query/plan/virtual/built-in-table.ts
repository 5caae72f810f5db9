/** Tables that the server computes itself: `numbers` and those of `information_schema`. */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { Catalog } from "../../../table/catalog.ts";
import { INFORMATION_SCHEMA, informationTable, informationTableNames } from "./information-schema.ts";
import { NUMBERS } from "./numbers.ts";

/** Columns and rows of a computed table. */
export interface BuiltInTable {
  readonly columns: readonly ColumnHeader[];
  readonly batches: () => Iterable<Batch>;
}

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

/** One batch of rows. */
export function batchOf(columns: readonly ColumnHeader[], rows: readonly (readonly Scalar[])[]): Batch {
  return { rowCount: rows.length, vectors: columns.map((column, i) => vectorOf(column.type, rows.map((row) => row[i]))) };
}
