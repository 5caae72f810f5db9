/** The syntax tree of statements that list and describe, see `ast.ts`. */
import type { Expression, ObjectName, Span } from "./ast.ts";

/** `LIKE 'pattern'` or `WHERE …` of a SHOW statement. */
export type ShowFilter =
  | { readonly kind: "like"; readonly pattern: string }
  | { readonly kind: "where"; readonly expression: Expression }
  | undefined;

/** What SHOW lists besides databases and tables. */
export type ListingKind =
  | "columns"
  | "index"
  | "regions"
  | "views"
  | "table-status"
  | "flows"
  | "flow-status"
  | "engines"
  | "charset"
  | "collation"
  | "processlist"
  | "status"
  | "search-path";

/** `SHOW [FULL] what [FROM table] [FROM database] [LIKE … | WHERE …]`. */
export interface ShowListing {
  readonly kind: "show-listing";
  readonly what: ListingKind;
  readonly full: boolean;
  /** Set for columns, indexes and regions, and only there. */
  readonly table: ObjectName | undefined;
  readonly database: string | undefined;
  readonly filter: ShowFilter;
  readonly span: Span;
}

/** SHOW and DESCRIBE. */
export type ShowStatement =
  | { readonly kind: "show-databases"; readonly full: boolean; readonly filter: ShowFilter; readonly span: Span }
  | {
      readonly kind: "show-tables";
      readonly full: boolean;
      readonly database: string | undefined;
      readonly filter: ShowFilter;
      readonly span: Span;
    }
  | ShowListing
  | {
      readonly kind: "show-create-table";
      readonly name: ObjectName;
      /** FOR POSTGRES_FOREIGN_TABLE. */
      readonly foreign: boolean;
      readonly span: Span;
    }
  | { readonly kind: "show-create-view" | "show-create-flow"; readonly name: ObjectName; readonly span: Span }
  | { readonly kind: "show-create-database"; readonly name: string; readonly span: Span }
  | { readonly kind: "show-variable"; readonly name: string; readonly span: Span }
  | { readonly kind: "describe"; readonly name: ObjectName; readonly span: Span };
