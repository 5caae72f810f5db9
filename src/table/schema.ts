/**
 * What a table is: its columns and options. Values of these types are never changed; a change makes a new one with a higher version.
 */
import type { TableId } from "../base/units.ts";
import type { DataType } from "../column/data-type.ts";
import type { Scalar } from "../column/vector.ts";

/** Role of a column. Tags form the primary key; exactly one column is the time index; the rest are fields. */
export type SemanticType = "tag" | "field" | "timestamp";

/** What a column holds when a write leaves it out. */
export type ColumnDefault =
  | { readonly kind: "literal"; readonly value: Scalar }
  /** `current_timestamp()`, evaluated at each write. `written`: what it is shown as, where that is not its name. */
  | { readonly kind: "now"; readonly written?: "now()" };

/** What a path in the documents of a JSON2 column holds. */
export interface JsonHint {
  /** Keys from the outermost in; not empty. */
  readonly path: readonly string[];
  /** STRING, BIGINT, BIGINT UNSIGNED, DOUBLE or BOOLEAN. */
  readonly type: DataType;
  readonly nullable: boolean;
  /** JSON that stands where a document has nothing at the path. */
  readonly default?: string;
}

/** A column as CREATE TABLE or an automatic change describes it. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: DataType;
  readonly semantic: SemanticType;
  readonly nullable: boolean;
  readonly default?: ColumnDefault;
  readonly comment?: string;
  /** Of a JSON2 column: paths of known types. No path begins another. */
  readonly hints?: readonly JsonHint[];
  /** Index clauses as SHOW CREATE prints them, e.g. `SKIPPING INDEX WITH(...)`. New files have what they ask for. */
  readonly indexes?: readonly string[];
}

/** What values of a column were stored as before its type changed. */
export interface FormerColumn {
  /** As `ColumnSchema.id`. */
  readonly id: number;
  readonly type: DataType;
}

/** A column of an existing table. An id stands for values of one type for ever: a column whose type changes gets a new one. */
export interface ColumnSchema extends ColumnDefinition {
  /** Number within its table, never reused, survives renames: 1..2^31-1. */
  readonly id: number;
  /** Earlier ids and types, oldest first; what is stored under them is cast to `type` when it is read. Absent: there are none. */
  readonly former?: readonly FormerColumn[];
  /** What rows hold that are older than the column, where that is no longer its default. */
  readonly initial?: ColumnDefault;
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
  /** What PARTITION ON COLUMNS said: kept and shown, and where rows lie on several shards (`shards/README.md`). Absent: nothing. */
  readonly partitions?: TablePartitions;
  /** Whether it is being filled under a name for the time: `rename` finishes it, a start drops what nobody finished. Absent: it is not. */
  readonly isUnfinished?: true;
}

/** How a table is divided. */
export interface TablePartitions {
  /** Not empty. */
  readonly columns: readonly string[];
  /** A condition of each partition, as text; none: one partition of all rows. */
  readonly rules: readonly string[];
  /** The conditions, to be tested on tags, one a rule. Absent: a column is no tag, or the table is older than this mark. */
  readonly tests?: readonly PartitionTest[];
}

/** How a rule compares a tag with a constant. */
export type PartitionComparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** A condition on tags. */
export type PartitionTest =
  | { readonly kind: "all"; readonly of: readonly PartitionTest[] }
  | { readonly kind: "any"; readonly of: readonly PartitionTest[] }
  /** `text` is a value of the column as `tag-value.ts` writes it. */
  | { readonly kind: "compare"; readonly column: string; readonly operator: PartitionComparison; readonly text: string };

/** Over how many shards the rows of some times lie. */
export interface SpreadSpan {
  /** The first of the times, in the unit of the time index; they end where the next span begins. Absent: there is none before it. */
  readonly from?: bigint;
  readonly spread: number;
}

/** An existing table. */
export interface TableSchema extends Omit<TableDefinition, "columns"> {
  readonly id: TableId;
  /** Grows by one with every change. */
  readonly version: number;
  /** When the table was created, milliseconds since the epoch. Absent: it is older than this mark. */
  readonly createdMillis?: number;
  readonly columns: readonly ColumnSchema[];
  /** Once the option `spread` changed: what holds for which times, oldest first, the first without `from`. Absent: it never did. */
  readonly spreads?: readonly SpreadSpan[];
}

/** Where a column stands in the order that `SELECT *` shows. */
export type ColumnPlace = { readonly kind: "first" } | { readonly kind: "after"; readonly column: string };

/** A column to be added, by default as the last one. Tags become the last of the primary key, wherever they stand. */
export interface NewColumn extends ColumnDefinition {
  readonly place?: ColumnPlace;
  /** Whether a column of the same name makes this one be left out; by default that is as the whole change says. */
  readonly ifNotExists?: boolean;
}

/** A change of a table's schema. Columns keep their ids, but for a change of type; ids of dropped columns are never used again. */
export type SchemaChange =
  | { readonly kind: "add-columns"; readonly columns: readonly NewColumn[]; readonly ifNotExists: boolean }
  | { readonly kind: "drop-columns"; readonly names: readonly string[] }
  /** Values that have no counterpart in the new type become NULL. */
  | { readonly kind: "change-type"; readonly column: string; readonly type: DataType }
  /** Undefined drops the default. Rows that exist keep what they hold. */
  | { readonly kind: "set-default"; readonly column: string; readonly default: ColumnDefault | undefined }
  /** The index clauses that the column has from now on. */
  | { readonly kind: "set-indexes"; readonly column: string; readonly indexes: readonly string[] }
  | { readonly kind: "set-comment"; readonly column: string; readonly comment: string | undefined }
  /** Options to set; undefined takes one away. */
  | { readonly kind: "set-options"; readonly options: Readonly<Record<string, string | undefined>> }
  /** The option `spread` for times from `from` on, in the unit of the time index; undefined takes it away. */
  | { readonly kind: "set-spread"; readonly spread: number | undefined; readonly from: bigint }
  | { readonly kind: "rename"; readonly name: string }
  /** All of them or none. */
  | { readonly kind: "several"; readonly changes: readonly SchemaChange[] };

/** The time index column. */
export function timeIndexOf(schema: Pick<TableSchema, "columns" | "name">): ColumnSchema {
  for (const column of schema.columns) if (column.semantic === "timestamp") return column;
  throw new Error(`table ${schema.name} has no time index`);
}

/** Name of the table's field when it has exactly one. */
export function onlyFieldOf(schema: Pick<TableSchema, "columns">): string | undefined {
  const fields = schema.columns.filter(({ semantic }) => semantic === "field");
  return fields.length === 1 ? fields[0]?.name : undefined;
}

/** How the table resolves rows with equal tags and time, from its options. */
export function mergeModeOf(schema: Pick<TableSchema, "options">): MergeMode {
  if (schema.options["append_mode"] === "true") return "append";
  return schema.options["merge_mode"] === "last_non_null" ? "last_non_null" : "last_row";
}

/** The newest of a column's earlier forms that a source has, with what `find` says about it; undefined when it has none. */
export function formerIn<T>(
  former: readonly FormerColumn[] | undefined,
  find: (id: number) => T | undefined,
): { readonly type: DataType; readonly found: T } | undefined {
  if (former === undefined) return undefined;
  for (let i = former.length - 1; i >= 0; i--) {
    const stored = former[i];
    if (stored === undefined) continue;
    const found = find(stored.id);
    if (found !== undefined) return { type: stored.type, found };
  }
  return undefined;
}
