/** The syntax tree of a statement: every kind there is, and those that read, write or are of a session, see `ast.ts`. */
import type { ExplainFormat, Expression, ObjectName, Query, Span, Tql } from "./ast.ts";
import type { DefinitionStatement } from "./definition-ast.ts";
import type { ShowStatement } from "./show-ast.ts";
import type { ValueRows } from "./value-rows.ts";

/** INSERT or REPLACE. */
export interface Insert {
  readonly kind: "insert";
  readonly table: ObjectName;
  /** Undefined: all columns in table order. */
  readonly columns: readonly string[] | undefined;
  readonly source: { readonly kind: "values"; readonly rows: ValueRows<Expression> } | Query;
  readonly span: Span;
}

/** `DELETE FROM table [WHERE …]`. */
export interface Delete {
  readonly kind: "delete";
  readonly table: ObjectName;
  readonly where: Expression | undefined;
  readonly span: Span;
}

/** `column = value` of UPDATE; the value may be DEFAULT. */
export interface Assignment {
  readonly column: ObjectName;
  readonly value: Expression;
}

/** `UPDATE table [AS alias] SET … [WHERE …]`. */
export interface Update {
  readonly kind: "update";
  readonly table: ObjectName;
  readonly alias: string | undefined;
  /** Not empty. */
  readonly assignments: readonly Assignment[];
  readonly where: Expression | undefined;
  readonly span: Span;
}

/** COPY: rows into a file, or out of one. */
export interface Copy {
  readonly kind: "copy";
  /** A query only goes "to". */
  readonly subject:
    | { readonly kind: "table"; readonly name: ObjectName }
    | { readonly kind: "database"; readonly name: string }
    | { readonly kind: "query"; readonly query: Query };
  readonly direction: "to" | "from";
  readonly location: string;
  readonly options: Readonly<Record<string, string>>;
  /** How to reach a store. Values may be secret. */
  readonly connection: Readonly<Record<string, string>>;
  /** Most rows; undefined for a database. */
  readonly limit: number | undefined;
  readonly span: Span;
}

/** A statement whose values come later. */
export interface PreparedTree {
  readonly statement: Statement;
  /** The largest number of a placeholder; 0 without any. */
  readonly parameterCount: number;
}

/** Prepared statements by name, in a session. */
export type PreparedStatement =
  | {
      readonly kind: "prepare";
      readonly name: string;
      /** One statement with `?` or `$1` in the place of values. */
      readonly text: string;
      /** What it means: whoever parses a whole text parses that one too. */
      readonly prepared?: PreparedTree;
      readonly span: Span;
    }
  | { readonly kind: "execute"; readonly name: string; readonly values: readonly Expression[]; readonly span: Span }
  /** Undefined: all of them. */
  | { readonly kind: "deallocate"; readonly name: string | undefined; readonly span: Span };

/** Cursors, in a session. */
export type CursorStatement =
  | { readonly kind: "declare-cursor"; readonly name: string; readonly query: Query | Tql; readonly span: Span }
  /** `count` rows at most. */
  | { readonly kind: "fetch"; readonly name: string; readonly count: number; readonly span: Span }
  | { readonly kind: "close-cursor"; readonly name: string; readonly span: Span };

/** A statement. */
export type Statement =
  | Query
  | Tql
  | Insert
  | Delete
  | Update
  | Copy
  | {
      readonly kind: "truncate";
      readonly name: ObjectName;
      /** Of FILE RANGE; undefined: all rows. */
      readonly ranges: readonly (readonly [Expression, Expression])[] | undefined;
      readonly span: Span;
    }
  | DefinitionStatement
  | ShowStatement
  | PreparedStatement
  | CursorStatement
  | { readonly kind: "use"; readonly database: string; readonly span: Span }
  | { readonly kind: "set-variable"; readonly name: string; readonly value: Expression; readonly span: Span }
  | { readonly kind: "admin"; readonly name: string; readonly args: readonly Expression[]; readonly span: Span }
  /** Ends a statement that runs. */
  | { readonly kind: "kill"; readonly id: string; readonly span: Span }
  | {
      readonly kind: "explain";
      readonly analyze: boolean;
      readonly verbose: boolean;
      readonly format: ExplainFormat;
      readonly statement: Statement;
      readonly span: Span;
    };
