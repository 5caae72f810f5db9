/** The syntax tree of statements that say what there is: CREATE, ALTER, DROP and COMMENT, see `ast.ts`. */
import type { DataType } from "../../../column/data-type.ts";
import type { Expression, ObjectName, Query, Span, Tql } from "./ast.ts";

/** A column in CREATE TABLE. */
export interface ColumnClause {
  readonly name: string;
  readonly type: DataType;
  /** Undefined when neither NULL nor NOT NULL is written. */
  readonly nullable: boolean | undefined;
  readonly default: Expression | undefined;
  readonly comment: string | undefined;
  readonly primaryKey: boolean;
  readonly timeIndex: boolean;
  readonly indexes: readonly { readonly kind: "skipping" | "fulltext" | "inverted"; readonly options: Readonly<Record<string, string>> }[];
  /** Of `JSON2 (path type, …)`. */
  readonly hints?: readonly HintClause[] | undefined;
  readonly span: Span;
}

/** `path.to.field TYPE [NOT NULL] [DEFAULT value]` of a JSON2 column. */
export interface HintClause {
  readonly path: readonly string[];
  readonly type: DataType;
  readonly nullable: boolean;
  readonly default: Expression | undefined;
}

/** An index clause of a column. */
export type IndexKind = ColumnClause["indexes"][number]["kind"];

/** PARTITION ON COLUMNS of CREATE TABLE. */
export interface PartitionClause {
  /** Not empty. */
  readonly columns: readonly string[];
  /** Which rows each partition has; none: there is one, of all rows. */
  readonly rules: readonly Expression[];
  readonly span: Span;
}

/** CREATE TABLE. */
export interface CreateTable {
  readonly kind: "create-table";
  readonly name: ObjectName;
  readonly ifNotExists: boolean;
  readonly columns: readonly ColumnClause[];
  /** From table-level `PRIMARY KEY (…)`; undefined when there is none. */
  readonly primaryKey: readonly string[] | undefined;
  /** From table-level `TIME INDEX (…)` clauses, one entry each. */
  readonly timeIndexes: readonly (readonly string[])[];
  readonly partitions: PartitionClause | undefined;
  readonly engine: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly span: Span;
}

/** `CREATE TABLE name … AS query`. Without columns they are those of the query. */
export interface CreateTableAs extends Omit<CreateTable, "kind"> {
  readonly kind: "create-table-as";
  readonly query: Query;
}

/** CREATE EXTERNAL TABLE. Without columns they are those of the files. */
export interface CreateExternalTable extends Pick<CreateTable, "name" | "ifNotExists" | "columns" | "primaryKey" | "timeIndexes"> {
  readonly kind: "create-external-table";
  /** Values may be secret. */
  readonly options: Readonly<Record<string, string>>;
  readonly span: Span;
}

/** `CREATE VIEW name (columns) AS query`. */
export interface CreateView {
  readonly kind: "create-view";
  readonly name: ObjectName;
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  /** Names of the columns; empty: those of the query. */
  readonly columns: readonly string[];
  readonly query: Query;
  readonly span: Span;
}

/** `CREATE FLOW name SINK TO table … AS query`. */
export interface CreateFlow {
  readonly kind: "create-flow";
  readonly name: ObjectName;
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly sink: ObjectName;
  /** How old rows may be to count: an interval, a text of one, or seconds. */
  readonly expireAfter: Expression | undefined;
  /** How often it runs: as above. */
  readonly evalInterval: Expression | undefined;
  readonly comment: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly query: Query | Tql;
  readonly span: Span;
}

/** Options that ALTER sets; undefined takes one away. */
export type ChangedOptions = Readonly<Record<string, string | undefined>>;

/** One change of ALTER TABLE. */
export type AlterAction =
  | {
      readonly kind: "add-column";
      readonly column: ColumnClause;
      readonly ifNotExists: boolean;
      readonly place: { readonly kind: "first" } | { readonly kind: "after"; readonly column: string } | undefined;
    }
  | { readonly kind: "drop-column"; readonly column: string }
  | { readonly kind: "change-type"; readonly column: string; readonly type: DataType }
  | { readonly kind: "set-default"; readonly column: string; readonly value: Expression }
  | { readonly kind: "drop-default"; readonly column: string }
  | { readonly kind: "set-index"; readonly column: string; readonly index: ColumnClause["indexes"][number] }
  | { readonly kind: "unset-index"; readonly column: string; readonly index: IndexKind }
  | { readonly kind: "set-options"; readonly options: ChangedOptions }
  | { readonly kind: "unset-options"; readonly keys: readonly string[] }
  | { readonly kind: "rename"; readonly name: ObjectName };

/** ALTER TABLE. */
export interface AlterTable {
  readonly kind: "alter-table";
  readonly name: ObjectName;
  /** Not empty. All of them or none are done. */
  readonly actions: readonly AlterAction[];
  readonly span: Span;
}

/** What COMMENT ON is about. */
export type CommentTarget =
  | { readonly kind: "table"; readonly name: ObjectName }
  | { readonly kind: "column"; readonly table: ObjectName; readonly column: string }
  | { readonly kind: "flow"; readonly name: ObjectName };

/** A statement that changes databases, tables, views or flows themselves. */
export type DefinitionStatement =
  | {
      readonly kind: "create-database";
      readonly name: string;
      readonly ifNotExists: boolean;
      readonly options: Readonly<Record<string, string>>;
      readonly span: Span;
    }
  | { readonly kind: "alter-database"; readonly name: string; readonly options: ChangedOptions; readonly span: Span }
  | { readonly kind: "drop-database"; readonly name: string; readonly ifExists: boolean; readonly span: Span }
  | CreateTable
  | CreateTableAs
  | CreateExternalTable
  | {
      readonly kind: "create-table-like";
      readonly name: ObjectName;
      readonly ifNotExists: boolean;
      readonly source: ObjectName;
      readonly span: Span;
    }
  | AlterTable
  | { readonly kind: "drop-table"; readonly names: readonly ObjectName[]; readonly ifExists: boolean; readonly span: Span }
  | CreateView
  | { readonly kind: "drop-view"; readonly names: readonly ObjectName[]; readonly ifExists: boolean; readonly span: Span }
  | CreateFlow
  | { readonly kind: "drop-flow"; readonly name: ObjectName; readonly ifExists: boolean; readonly span: Span }
  | { readonly kind: "comment"; readonly target: CommentTarget; readonly comment: string | undefined; readonly span: Span };
