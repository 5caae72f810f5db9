/**
 * What a table is: its columns and options. Values of these types are never changed; a change makes a new one with a higher version.
 */
import type { ColumnId, TableId } from "../base/units.ts";
import type { DataType } from "../column/data-type.ts";
import type { Scalar } from "../column/vector.ts";

/** Role of a column. Tags form the primary key; exactly one column is the time index; the rest are fields. */
export type SemanticType = "tag" | "field" | "timestamp";

/** What a column holds when a write leaves it out. */
export type ColumnDefault =
  | { readonly kind: "literal"; readonly value: Scalar }
  /** `current_timestamp()`, evaluated at each write. */
  | { readonly kind: "now" };

/** A column as CREATE TABLE or an automatic change describes it. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: DataType;
  readonly semantic: SemanticType;
  readonly nullable: boolean;
  readonly default?: ColumnDefault;
  readonly comment?: string;
  /** Index clauses as SHOW CREATE prints them, e.g. `SKIPPING INDEX WITH(...)`; honoured by the scan from a later release on. */
  readonly indexes?: readonly string[];
}

/** A column of an existing table. */
export interface ColumnSchema extends ColumnDefinition {
  readonly id: ColumnId;
}

/** How rows with equal tags and time are resolved: the newest row whole, field by field, or not at all. */
export type MergeMode = "last_row" | "last_non_null" | "append";

/** A table to be created. */
export interface TableDefinition {
  readonly database: string;
  readonly name: string;
  /** In the order that `SELECT *` shows. Exactly one has semantic "timestamp". */
  readonly columns: readonly ColumnDefinition[];
  /** Names of the tag columns in key order. */
  readonly primaryKey: readonly string[];
  /** "mito", "metric" or "file". */
  readonly engine: string;
  /** Options as SHOW CREATE prints them, e.g. `ttl` → `7days`, `append_mode` → `true`. */
  readonly options: Readonly<Record<string, string>>;
}

/** An existing table. */
export interface TableSchema extends Omit<TableDefinition, "columns"> {
  readonly id: TableId;
  /** Grows by one with every change. */
  readonly version: number;
  readonly columns: readonly ColumnSchema[];
}

/** A change of a table's schema. All of them keep column ids. */
export type SchemaChange =
  | { readonly kind: "add-columns"; readonly columns: readonly ColumnDefinition[]; readonly ifNotExists: boolean }
  | { readonly kind: "set-options"; readonly options: Readonly<Record<string, string>> };

/** The time index column. */
export function timeIndexOf(schema: Pick<TableSchema, "columns" | "name">): ColumnSchema {
  for (const column of schema.columns) if (column.semantic === "timestamp") return column;
  throw new Error(`table ${schema.name} has no time index`);
}

/** How the table resolves rows with equal tags and time, from its options. */
export function mergeModeOf(schema: Pick<TableSchema, "options">): MergeMode {
  if (schema.options["append_mode"] === "true") return "append";
  return schema.options["merge_mode"] === "last_non_null" ? "last_non_null" : "last_row";
}
