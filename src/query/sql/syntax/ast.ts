/**
 * The SQL syntax tree: plain data, one `kind` a node, never changed after parsing. Identifiers are already folded: unquoted ones to
 * lower case, quoted ones as written. `span` is where the node begins in the text, for error messages.
 *
 * Expressions and queries, which hold each other. Statements are in `statement-ast.ts`, `definition-ast.ts` and `show-ast.ts`.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { ValueRows } from "./value-rows.ts";
import type { IntervalParts } from "../../../column/interval-bytes.ts";

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
  | "div"
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
  | "@@"
  | "@>"
  | "<@"
  | "is distinct from"
  | "is not distinct from"
  | "similar to"
  | "not similar to"
  | "at time zone";

/** Operators that compare. */
export type ComparisonOperator = Extract<BinaryOperator, "=" | "<>" | "<" | "<=" | ">" | ">=">;

/** Months, days and nanoseconds are kept apart, since a month has no fixed length. */
export type IntervalValue = IntervalParts;

/** One item of ORDER BY. */
export interface OrderItem {
  readonly expression: Expression;
  readonly descending: boolean;
  /** Undefined: NULLs last when ascending, first when descending. */
  readonly nullsFirst: boolean | undefined;
}

/** Where a frame begins or ends. `offset`: that many rows, peer groups, or so far in the values of the order, before or after. */
export type FrameEdge =
  | { readonly kind: "unbounded" }
  | { readonly kind: "current" }
  | { readonly kind: "offset"; readonly direction: "preceding" | "following"; readonly offset: Expression };

/** The rows of a partition that a window call sees from one row: `ROWS BETWEEN start AND end`. */
export interface FrameClause {
  readonly unit: "rows" | "range" | "groups";
  readonly start: FrameEdge;
  readonly end: FrameEdge;
}

/** What stands behind OVER. */
export interface WindowClause {
  /** The named window that it is, or adds to. */
  readonly base: string | undefined;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  /** Undefined: the default of the standard. */
  readonly frame: FrameClause | undefined;
}

/** A window that WINDOW gives a name. */
export interface NamedWindow {
  readonly name: string;
  readonly window: WindowClause;
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
  /** `$1`, or `?` counted from the left: the value of a prepared statement. `index` counts from 0. */
  | { readonly kind: "placeholder"; readonly index: number; readonly span: Span }
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
      /** So many of the first items are constants. They may be hundreds of thousands, and walks have nothing to look for there. */
      readonly constants: number;
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
      /** IGNORE NULLS or RESPECT NULLS as written. */
      readonly nulls?: "ignore" | "respect" | undefined;
      /** Makes it a window call. */
      readonly over?: WindowClause | undefined;
      readonly span: Span;
    }
  /** `operand RANGE duration [FILL …]`: its aggregates are over slices of time of that length. */
  | {
      readonly kind: "range";
      readonly operand: Expression;
      readonly duration: Expression;
      readonly fill: FillClause | undefined;
      readonly span: Span;
    }
  /** A query in the place of one value. */
  | { readonly kind: "sub-query"; readonly query: Query; readonly span: Span }
  | { readonly kind: "exists"; readonly query: Query; readonly span: Span }
  | { readonly kind: "in-query"; readonly operand: Expression; readonly query: Query; readonly negated: boolean; readonly span: Span }
  /** `a > ANY (SELECT …)`, `a = ALL (SELECT …)`; SOME is ANY. */
  | {
      readonly kind: "quantified";
      readonly operator: ComparisonOperator;
      readonly quantifier: "any" | "all";
      readonly operand: Expression;
      readonly query: Query;
      readonly span: Span;
    };

/** What takes the place of NULL in a series of slots: nothing, the value before, what lies on the line between neighbours, a constant. */
export type FillClause =
  | { readonly kind: "null" }
  | { readonly kind: "prev" }
  | { readonly kind: "linear" }
  | { readonly kind: "constant"; readonly value: Expression };

/** `ALIGN every [TO to] [BY (…)] [FILL …]`: slots of time, `every` apart, counted from `to`. */
export interface AlignClause {
  readonly every: Expression;
  /** A bare column is a word: NOW, CALENDAR. */
  readonly to: Expression | undefined;
  /** Undefined: by primary key. */
  readonly by: readonly Expression[] | undefined;
  /** For the calls that say nothing else. */
  readonly fill: FillClause | undefined;
  readonly span: Span;
}

/** One item of a SELECT list. */
export type SelectItem =
  /** `*` or `t.*`. */
  /** All columns, of one relation or of all, but for those that `excluded` names; each of `replaced` gives another value. */
  | {
      readonly kind: "star";
      readonly table: string | undefined;
      readonly excluded?: readonly string[] | undefined;
      readonly replaced?: readonly StarReplacement[] | undefined;
      readonly span: Span;
    }
  | { readonly kind: "expression"; readonly expression: Expression; readonly alias: string | undefined };

/** What a relation and its columns are called: `AS t (a, b)`. */
export interface RelationAlias {
  readonly name: string;
  /** Names of the first columns; empty: all keep theirs. */
  readonly columns: readonly string[];
}

/** Which rows a join keeps. */
export type JoinKind =
  | "inner"
  | "left"
  | "right"
  | "full"
  | "cross"
  | "left-semi"
  | "left-anti"
  | "right-semi"
  | "right-anti"
  | "asof"
  | "asof-left";

/** Which rows of two relations belong together; undefined: all. */
export type JoinConstraint =
  | { readonly kind: "on"; readonly condition: Expression }
  | { readonly kind: "using"; readonly columns: readonly string[] }
  | { readonly kind: "natural" }
  | undefined;

/** TABLESAMPLE of a table. */
export interface SampleClause {
  /** "bernoulli", "system" or none. */
  readonly method: "bernoulli" | "system" | undefined;
  /** A number as written. */
  readonly amount: string;
  readonly unit: "percent" | "rows";
  /** Of REPEATABLE, as written. */
  readonly seed: string | undefined;
}

/** A relation of FROM. */
export type TableReference =
  | {
      readonly kind: "table";
      readonly name: ObjectName;
      readonly alias: RelationAlias | undefined;
      readonly sample?: SampleClause | undefined;
      readonly span: Span;
    }
  /** A query in FROM. `lateral`: it may name columns of the relations before it. */
  | {
      readonly kind: "derived";
      readonly query: Query;
      readonly lateral: boolean;
      readonly alias: RelationAlias | undefined;
      readonly span: Span;
    }
  /** `generate_series(1, 3)`. */
  | {
      readonly kind: "table-function";
      readonly name: string;
      readonly args: readonly Expression[];
      /** WITH ORDINALITY: the number of each row, from 1 on, is the last column. */
      readonly ordinality?: boolean;
      readonly alias: RelationAlias | undefined;
      readonly span: Span;
    }
  | {
      readonly kind: "join";
      readonly join: JoinKind;
      readonly left: TableReference;
      readonly right: TableReference;
      readonly constraint: JoinConstraint;
      readonly span: Span;
    };

/** `expression AS column` of `* REPLACE (…)`. */
export interface StarReplacement {
  readonly expression: Expression;
  readonly column: string;
}

/** What ends every query: ORDER BY, LIMIT, OFFSET. */
export interface QueryEnd {
  readonly orderBy: readonly OrderItem[];
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
}

/** UNION, INTERSECT, EXCEPT. */
export interface SetOperation extends QueryEnd {
  readonly kind: "set-operation";
  readonly operator: "union" | "intersect" | "except";
  readonly all: boolean;
  readonly left: Query;
  readonly right: Query;
  readonly span: Span;
}

/** `VALUES (1, 'a'), (2, 'b')` as a query. */
export interface ValuesQuery extends QueryEnd {
  readonly kind: "values-query";
  readonly rows: ValueRows<Expression>;
  readonly span: Span;
}

/** A query that a WITH gives a name. */
export interface CommonTable {
  readonly alias: RelationAlias;
  readonly query: Query | Tql;
  readonly span: Span;
}

/** `WITH a AS (…), b AS (…) query`. */
export interface WithQuery {
  readonly kind: "with";
  /** Whether a query may read itself. */
  readonly recursive?: boolean | undefined;
  readonly tables: readonly CommonTable[];
  readonly query: Query;
  readonly span: Span;
}

/** How EXPLAIN shows plans. */
export type ExplainFormat = "text" | "json" | "graphviz";

/** `TQL EVAL (start, end, step, lookback) promql AS alias`: a PromQL query at many moments. */
export interface Tql {
  readonly kind: "tql";
  readonly mode: "eval" | "explain" | "analyze";
  readonly verbose: boolean;
  readonly format: ExplainFormat;
  /** Undefined: as if (0, 0, '5m') were written. */
  readonly range: TqlRange | undefined;
  /** PromQL as written, without the blanks around it. */
  readonly promql: string;
  /** Where it begins. */
  readonly promqlSpan: Span;
  /** What its value is called. */
  readonly alias: string | undefined;
  readonly span: Span;
}

/** The moments of a TQL: from `start` to `end`, both included, `step` apart. */
export interface TqlRange {
  readonly start: Expression;
  readonly end: Expression;
  readonly step: Expression;
  /** How far a query looks back for a value; undefined: the default of PromQL. */
  readonly lookback: Expression | undefined;
}

/** Anything that gives rows. */
export type Query = Select | SetOperation | ValuesQuery | WithQuery;

/** One SELECT. */
export interface Select extends QueryEnd {
  readonly kind: "select";
  readonly distinct: boolean;
  /** `DISTINCT ON (…)`: one row of each group of equal values, the first in the order asked for. Empty: not that form. */
  readonly distinctOn: readonly Expression[];
  readonly items: readonly SelectItem[];
  readonly from: TableReference | undefined;
  readonly where: Expression | undefined;
  /** An integer literal is the ordinal of a select item; a bare column may be an alias. */
  readonly groupBy: readonly Expression[];
  /** GROUP BY ALL: by every selected expression that holds no aggregate. */
  readonly groupAll?: boolean;
  readonly having: Expression | undefined;
  /** Set: its aggregates are over slices of time. */
  readonly align?: AlignClause | undefined;
  /** Of GROUPING SETS, ROLLUP and CUBE: each the positions in `groupBy` that rows are grouped by. Undefined: all of them, once. */
  readonly groupingSets?: readonly (readonly number[])[] | undefined;
  readonly windows?: readonly NamedWindow[] | undefined;
  readonly qualify?: Expression | undefined;
  readonly span: Span;
}
