/**
 * The PromQL syntax tree: plain data, one `kind` a node, never changed after parsing. Every node has its place in the text and the type of
 * its value; literals, durations and label matchers hold values, not text. Names are Prometheus' own.
 */
import type { BinaryOperator, Aggregator } from "./operators.ts";
import type { FunctionSignature, ValueType } from "./function-table.ts";

/** Where a node stands in the text: UTF-16 units, `[start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** `1`, `0x1F`, `Inf`, `5m`: a duration is its seconds. */
export interface NumberLiteral {
  readonly kind: "NumberLiteral";
  readonly value: number;
  /** Written as a duration, and printed as one. */
  readonly isDuration: boolean;
  readonly valueType: "scalar";
  readonly span: Span;
}

/** `"x"`, `'x'` or a raw string in back quotes. */
export interface StringLiteral {
  readonly kind: "StringLiteral";
  readonly value: string;
  readonly valueType: "string";
  readonly span: Span;
}

/** How a matcher compares. Regular expressions are anchored at both ends. */
export type MatchOperator = "=" | "!=" | "=~" | "!~";

/** `name="value"`. The syntax of a regular expression is checked. */
export interface LabelMatcher {
  readonly name: string;
  readonly operator: MatchOperator;
  readonly value: string;
  /** Whether series without the label are taken: to them its value is "". */
  readonly takesEmpty: boolean;
}

/** A time span that needs the query's step or range, or was written as an expression: what `step() * 2` gives is seconds. */
export interface DurationExpression {
  readonly kind: "DurationExpression";
  /** A sign when `left` is absent; `step` and `range` have no operand, `min_of` and `max_of` two. */
  readonly operator: "+" | "-" | "*" | "/" | "%" | "^" | "step" | "range" | "min_of" | "max_of";
  readonly left: DurationOperand | undefined;
  readonly right: DurationOperand | undefined;
  /** Stands in parentheses. `+` with `right` alone is a literal in parentheses. */
  readonly isWrapped: boolean;
  readonly valueType: "scalar";
  readonly span: Span;
}

/** A part of a duration expression. */
export type DurationOperand = NumberLiteral | DurationExpression;

/** A range, a step or an offset: whole milliseconds, or an expression. Offsets may be negative: they look ahead. */
export type DurationValue = { readonly kind: "Milliseconds"; readonly millis: number } | DurationExpression;

/** What `@` says. Times are milliseconds since the epoch. */
export type AtModifier = { readonly kind: "time"; readonly millis: number } | { readonly kind: "start" } | { readonly kind: "end" };

/** `metric{label="x"} offset 5m @ end()`: the newest sample of each series. */
export interface VectorSelector {
  readonly kind: "VectorSelector";
  /** What stands before the braces; "" when nothing does. */
  readonly name: string;
  /** In the order of the text; that of a name before the braces comes last. */
  readonly matchers: readonly LabelMatcher[];
  readonly offset: DurationValue;
  readonly at: AtModifier | undefined;
  readonly isAnchored: boolean;
  readonly isSmoothed: boolean;
  readonly valueType: "vector";
  readonly span: Span;
}

/** `metric[5m]`. Modifiers behind the bracket are the selector's. */
export interface MatrixSelector {
  readonly kind: "MatrixSelector";
  readonly selector: VectorSelector;
  readonly range: DurationValue;
  readonly valueType: "matrix";
  readonly span: Span;
}

/** `expression[30m:1m]`. */
export interface SubqueryExpression {
  readonly kind: "SubqueryExpression";
  readonly expression: Expression;
  readonly range: DurationValue;
  /** Undefined: the server's default. */
  readonly step: DurationValue | undefined;
  readonly offset: DurationValue;
  readonly at: AtModifier | undefined;
  readonly valueType: "matrix";
  readonly span: Span;
}

/** `sum by (job) (x)`, `topk(3, x)`. */
export interface AggregateExpression {
  readonly kind: "AggregateExpression";
  readonly operator: Aggregator;
  readonly expression: Expression;
  /** The first argument of those that take two. */
  readonly parameter: Expression | undefined;
  readonly grouping: readonly string[];
  /** `grouping` are the labels to drop and not those to keep. */
  readonly isWithout: boolean;
  readonly valueType: "vector";
  readonly span: Span;
}

/** How many series of one side meet how many of the other. */
export type Cardinality = "one-to-one" | "many-to-one" | "one-to-many" | "many-to-many";

/** How series of two vectors find each other. */
export interface VectorMatching {
  readonly cardinality: Cardinality;
  /** The labels that must agree when `isOn`, else those that need not. */
  readonly labels: readonly string[];
  readonly isOn: boolean;
  /** Labels that the side with one series gives to the result. */
  readonly include: readonly string[];
  /** Value of series that the left side lacks. */
  readonly fillLeft: number | undefined;
  /** Value of series that the right side lacks. */
  readonly fillRight: number | undefined;
}

/** `a + on (x) b`. */
export interface BinaryExpression {
  readonly kind: "BinaryExpression";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  /** `bool`: a comparison gives 0 or 1 and drops nothing. */
  readonly returnsBool: boolean;
  /** Undefined when a side is a scalar. */
  readonly matching: VectorMatching | undefined;
  readonly valueType: "scalar" | "vector";
  readonly span: Span;
}

/** `-x`, `+x`; the sign of a number is part of its literal. */
export interface UnaryExpression {
  readonly kind: "UnaryExpression";
  readonly operator: "+" | "-";
  readonly expression: Expression;
  readonly valueType: ValueType;
  readonly span: Span;
}

/** `(x)`. */
export interface ParenExpression {
  readonly kind: "ParenExpression";
  readonly expression: Expression;
  readonly valueType: ValueType;
  readonly span: Span;
}

/** `rate(x[5m])`. */
export interface Call {
  readonly kind: "Call";
  readonly signature: FunctionSignature;
  readonly args: readonly Expression[];
  readonly valueType: ValueType;
  readonly span: Span;
}

/** A PromQL query, or a part of one. */
export type Expression =
  | NumberLiteral
  | StringLiteral
  | VectorSelector
  | MatrixSelector
  | SubqueryExpression
  | AggregateExpression
  | BinaryExpression
  | UnaryExpression
  | ParenExpression
  | Call;
