/**
 * The SQL syntax tree: plain data, one `kind` a node, never changed after parsing. Identifiers are already folded: unquoted ones to
 * lower case, quoted ones as written. `span` is where the node begins in the text, for error messages.
 */
import type { DataType } from "../../column/data-type.ts";

/** Where a node begins: line and column count from 1. */
export interface Span {
  readonly line: number;
  readonly column: number;
}

/** `a`, `t.a`, `catalog.schema.t`: one to three parts. */
export type ObjectName = readonly string[];

/** Operators with two operands; words in lower case. */
export type BinaryOperator =
  | "or"
  | "and"
  | "="
  | "<>"
  | "<"
  | "<="
  | ">"
  | ">="
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "||"
  | "&"
  | "|"
  | "^"
  | "<<"
  | ">>"
  | "~"
  | "~*"
  | "!~"
  | "!~*"
  | "@@";

/** Months, days and nanoseconds are kept apart, since a month has no fixed length. */
export interface IntervalValue {
  readonly months: number;
  readonly days: number;
  readonly nanos: bigint;
}

/** One item of ORDER BY. */
export interface OrderItem {
  readonly expression: Expression;
  readonly descending: boolean;
  /** Undefined: NULLs last when ascending, first when descending. */
  readonly nullsFirst: boolean | undefined;
}

/** An expression. */
export type Expression =
  /** `text` is the number as written; whole numbers have no point and no exponent. */
  | { readonly kind: "number"; readonly text: string; readonly span: Span }
  | { readonly kind: "string"; readonly value: string; readonly span: Span }
  | { readonly kind: "binary-literal"; readonly value: Uint8Array; readonly span: Span }
  | { readonly kind: "boolean"; readonly value: boolean; readonly span: Span }
  | { readonly kind: "null"; readonly span: Span }
  | { readonly kind: "interval"; readonly value: IntervalValue; readonly text: string; readonly span: Span }
  /** `quoted` tells `"x"` from `x`: in VALUES a double-quoted name is a string. */
  | { readonly kind: "column"; readonly name: ObjectName; readonly quoted: boolean; readonly span: Span }
  /** `DEFAULT` as a value of INSERT. */
  | { readonly kind: "default"; readonly span: Span }
  | { readonly kind: "unary"; readonly operator: "-" | "+" | "not" | "~"; readonly operand: Expression; readonly span: Span }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly span: Span;
    }
  | {
      readonly kind: "is";
      readonly operand: Expression;
      readonly test: "null" | "true" | "false" | "unknown";
      readonly negated: boolean;
      readonly span: Span;
    }
  | {
      readonly kind: "between";
      readonly operand: Expression;
      readonly low: Expression;
      readonly high: Expression;
      readonly negated: boolean;
      readonly span: Span;
    }
  | {
      readonly kind: "in-list";
      readonly operand: Expression;
      readonly items: readonly Expression[];
      readonly negated: boolean;
      readonly span: Span;
    }
  | {
      readonly kind: "like";
      readonly operand: Expression;
      readonly pattern: Expression;
      readonly escape: string | undefined;
      readonly insensitive: boolean;
      readonly negated: boolean;
      readonly span: Span;
    }
  | { readonly kind: "cast"; readonly operand: Expression; readonly type: DataType; readonly safe: boolean; readonly span: Span }
  | {
      readonly kind: "case";
      readonly operand: Expression | undefined;
      readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
      readonly otherwise: Expression | undefined;
      readonly span: Span;
    }
  /** Function or aggregate. `star` is `count(*)`. Names are lower-case. */
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: readonly Expression[];
      readonly star: boolean;
      readonly distinct: boolean;
      readonly orderBy: readonly OrderItem[];
      readonly filter: Expression | undefined;
      readonly span: Span;
    };

/** One item of a SELECT list. */
export type SelectItem =
  /** `*` or `t.*`. */
  | { readonly kind: "star"; readonly table: string | undefined; readonly span: Span }
  | { readonly kind: "expression"; readonly expression: Expression; readonly alias: string | undefined };

/** Later kinds (joins, sub-queries, table functions) join this union. */
export type TableReference = { readonly kind: "table"; readonly name: ObjectName; readonly alias: string | undefined; readonly span: Span };

/** A query. */
export interface Select {
  readonly kind: "select";
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly from: TableReference | undefined;
  readonly where: Expression | undefined;
  /** An integer literal is the ordinal of a select item; a bare column may be an alias. */
  readonly groupBy: readonly Expression[];
  readonly having: Expression | undefined;
  readonly orderBy: readonly OrderItem[];
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
  readonly span: Span;
}

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
  readonly engine: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly span: Span;
}

/** An index clause of a column. */
export type IndexKind = ColumnClause["indexes"][number]["kind"];

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
  | { readonly kind: "column"; readonly table: ObjectName; readonly column: string };

/** INSERT or REPLACE. */
export interface Insert {
  readonly kind: "insert";
  readonly table: ObjectName;
  /** Undefined: all columns in table order. */
  readonly columns: readonly string[] | undefined;
  readonly source: { readonly kind: "values"; readonly rows: readonly (readonly Expression[])[] } | Select;
  readonly span: Span;
}

/** `DELETE FROM table [WHERE …]`. */
export interface Delete {
  readonly kind: "delete";
  readonly table: ObjectName;
  readonly where: Expression | undefined;
  readonly span: Span;
}

/** `LIKE 'pattern'` or `WHERE …` of a SHOW statement. */
export type ShowFilter =
  | { readonly kind: "like"; readonly pattern: string }
  | { readonly kind: "where"; readonly expression: Expression }
  | undefined;

/** A statement. */
export type Statement =
  | Select
  | Insert
  | Delete
  | CreateTable
  | {
      readonly kind: "create-database";
      readonly name: string;
      readonly ifNotExists: boolean;
      readonly options: Readonly<Record<string, string>>;
      readonly span: Span;
    }
  | { readonly kind: "drop-database"; readonly name: string; readonly ifExists: boolean; readonly span: Span }
  | { readonly kind: "drop-table"; readonly names: readonly ObjectName[]; readonly ifExists: boolean; readonly span: Span }
  | AlterTable
  | { readonly kind: "alter-database"; readonly name: string; readonly options: ChangedOptions; readonly span: Span }
  | {
      readonly kind: "truncate";
      readonly name: ObjectName;
      /** Of FILE RANGE; undefined: all rows. */
      readonly ranges: readonly (readonly [Expression, Expression])[] | undefined;
      readonly span: Span;
    }
  | { readonly kind: "comment"; readonly target: CommentTarget; readonly comment: string | undefined; readonly span: Span }
  | { readonly kind: "show-databases"; readonly full: boolean; readonly filter: ShowFilter; readonly span: Span }
  | {
      readonly kind: "show-tables";
      readonly full: boolean;
      readonly database: string | undefined;
      readonly filter: ShowFilter;
      readonly span: Span;
    }
  | { readonly kind: "show-create-table"; readonly name: ObjectName; readonly span: Span }
  | { readonly kind: "show-create-database"; readonly name: string; readonly span: Span }
  | { readonly kind: "show-variable"; readonly name: string; readonly span: Span }
  | { readonly kind: "describe"; readonly name: ObjectName; readonly span: Span }
  | { readonly kind: "use"; readonly database: string; readonly span: Span }
  | { readonly kind: "set-variable"; readonly name: string; readonly value: Expression; readonly span: Span }
  | { readonly kind: "admin"; readonly name: string; readonly args: readonly Expression[]; readonly span: Span }
  | {
      readonly kind: "explain";
      readonly analyze: boolean;
      readonly verbose: boolean;
      readonly format: "text" | "json";
      readonly statement: Statement;
      readonly span: Span;
    };
