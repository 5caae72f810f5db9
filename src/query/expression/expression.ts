/**
 * Typed expressions: what the planner makes of syntax, and what the interpreter and the emitter of loops run. Columns are positions in
 * the relation below; every cast is explicit; operands of a comparison have one type (integers of any width count as one).
 */
import { assert } from "../../base/assert.ts";
import { BOOLEAN, type DataType, displayName } from "../../column/data-type.ts";
import type { ArithmeticOperator } from "../function/value/integer.ts";
import type { FunctionType, ScalarFunction } from "../function/signature/scalar-function.ts";
import { type Present, type Value, valueKey } from "../function/value/value.ts";

/** Comparison operators. */
export type CompareOperator = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** A typed expression. Never changed once built. */
export type TypedExpression =
  /** `text`: a number as it was written, where its type is a float, so that it can become a decimal without losing a digit. */
  | { readonly kind: "literal"; readonly type: DataType; readonly value: Value; readonly text?: string }
  | { readonly kind: "column"; readonly type: DataType; readonly index: number; readonly name: string }
  /** A column of an enclosing query: a literal takes its place before the plan that reads it runs. */
  | { readonly kind: "parameter"; readonly type: DataType; readonly id: number; readonly name: string }
  | {
      readonly kind: "call";
      readonly type: DataType;
      readonly function: ScalarFunction;
      readonly functionType: FunctionType;
      readonly args: readonly TypedExpression[];
    }
  | {
      readonly kind: "arithmetic";
      readonly type: DataType;
      readonly operator: ArithmeticOperator;
      readonly left: TypedExpression;
      readonly right: TypedExpression;
    }
  | {
      readonly kind: "compare";
      readonly type: DataType;
      readonly operator: CompareOperator;
      readonly left: TypedExpression;
      readonly right: TypedExpression;
    }
  /** Two or more Boolean operands. */
  | { readonly kind: "logic"; readonly type: DataType; readonly operator: "and" | "or"; readonly operands: readonly TypedExpression[] }
  | { readonly kind: "not"; readonly type: DataType; readonly operand: TypedExpression }
  | {
      readonly kind: "is";
      readonly type: DataType;
      readonly operand: TypedExpression;
      readonly test: "null" | "true" | "false" | "unknown";
      readonly negated: boolean;
    }
  /**
   * Membership in constants of the operand's type. `hasNull`: the list also holds NULL, so that a miss is NULL. `numbers`: the values as a
   * set, where they are many and whoever made it gave others turns meanwhile.
   */
  | {
      readonly kind: "in-set";
      readonly type: DataType;
      readonly operand: TypedExpression;
      readonly values: readonly Present[];
      readonly keys: ReadonlySet<string>;
      readonly numbers?: ReadonlySet<number>;
      readonly hasNull: boolean;
      readonly negated: boolean;
    }
  | {
      readonly kind: "like";
      readonly type: DataType;
      readonly operand: TypedExpression;
      readonly pattern: TypedExpression;
      readonly escape: string | undefined;
      readonly insensitive: boolean;
      readonly negated: boolean;
    }
  | {
      readonly kind: "case";
      readonly type: DataType;
      readonly branches: readonly { readonly when: TypedExpression; readonly result: TypedExpression }[];
      readonly otherwise: TypedExpression;
    }
  | { readonly kind: "cast"; readonly type: DataType; readonly operand: TypedExpression; readonly safe: boolean };

/** A constant. */
export function literal(type: DataType, value: Value): TypedExpression {
  return { kind: "literal", type, value };
}

/** `left AND right AND …`, nested ones flattened; `undefined` when there is none. */
export function conjunction(operands: readonly TypedExpression[]): TypedExpression | undefined {
  const flat = operands.flatMap((operand) => conjunctsOf(operand));
  if (flat.length <= 1) return flat[0];
  return { kind: "logic", type: BOOLEAN, operator: "and", operands: flat };
}

/** The operands of an AND, or the expression itself. */
export function conjunctsOf(expression: TypedExpression): readonly TypedExpression[] {
  return expression.kind === "logic" && expression.operator === "and" ? expression.operands : [expression];
}

/** Direct operands. */
export function operandsOf(expression: TypedExpression): readonly TypedExpression[] {
  switch (expression.kind) {
    case "literal":
    case "column":
    case "parameter":
      return [];
    case "call":
      return expression.args;
    case "arithmetic":
    case "compare":
      return [expression.left, expression.right];
    case "logic":
      return expression.operands;
    case "like":
      return [expression.operand, expression.pattern];
    case "case":
      return [...expression.branches.flatMap((branch) => [branch.when, branch.result]), expression.otherwise];
    default:
      return [expression.operand];
  }
}

/** The same expression over other operands, given in the order of `operandsOf`. */
export function withOperands(expression: TypedExpression, operands: readonly TypedExpression[]): TypedExpression {
  const at = (i: number): TypedExpression => {
    const operand = operands[i];
    assert(operand !== undefined, `as many operands as before; got ${operands.length}`);
    return operand;
  };
  switch (expression.kind) {
    case "literal":
    case "column":
    case "parameter":
      return expression;
    case "call":
      return { ...expression, args: operands };
    case "arithmetic":
    case "compare":
      return { ...expression, left: at(0), right: at(1) };
    case "logic":
      return { ...expression, operands };
    case "like":
      return { ...expression, operand: at(0), pattern: at(1) };
    case "case":
      return {
        ...expression,
        branches: expression.branches.map((_, i) => ({ when: at(2 * i), result: at(2 * i + 1) })),
        otherwise: at(operands.length - 1),
      };
    default:
      return { ...expression, operand: at(0) };
  }
}

/** How many parts an expression has, itself included, counted up to about `max`. */
export function partsOf(expression: TypedExpression, max: number): number {
  let parts = 1;
  for (const operand of operandsOf(expression)) {
    if (parts >= max) return parts;
    parts += partsOf(operand, max - parts);
  }
  return parts;
}

const FLIPPED: Readonly<Record<CompareOperator, CompareOperator>> = { "=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** A comparison with a constant. */
export interface Comparison {
  readonly operator: CompareOperator;
  readonly subject: TypedExpression;
  readonly constant: Extract<TypedExpression, { kind: "literal" }>;
}

/** `subject operator constant`, turned round if need be; undefined when no side is a constant. */
export function comparisonOf(expression: TypedExpression): Comparison | undefined {
  if (expression.kind !== "compare") return undefined;
  const { left, right, operator } = expression;
  if (right.kind === "literal") return { operator, subject: left, constant: right };
  return left.kind === "literal" ? { operator: FLIPPED[operator], subject: right, constant: left } : undefined;
}

/** The same expression over changed operands. */
export function mapOperands(expression: TypedExpression, change: (operand: TypedExpression) => TypedExpression): TypedExpression {
  const operands = operandsOf(expression);
  return operands.length === 0 ? expression : withOperands(expression, operands.map(change));
}

/** Positions of the columns that an expression reads. */
export function columnsOf(expression: TypedExpression, into: Set<number> = new Set()): Set<number> {
  if (expression.kind === "column") return into.add(expression.index);
  for (const operand of operandsOf(expression)) columnsOf(operand, into);
  return into;
}

/** The same expression over a relation whose columns lie elsewhere. */
export function mapColumns(expression: TypedExpression, place: (index: number) => number): TypedExpression {
  if (expression.kind === "column") return { ...expression, index: place(expression.index) };
  return mapOperands(expression, (operand) => mapColumns(operand, place));
}

/** The same expression over the input of a projection to `expressions`. */
export function inlined(expression: TypedExpression, expressions: readonly TypedExpression[]): TypedExpression {
  if (expression.kind === "column") return expressions[expression.index] ?? expression;
  return mapOperands(expression, (operand) => inlined(operand, expressions));
}

/** Whether an expression reads a column of an enclosing query. */
export function hasParameter(expression: TypedExpression): boolean {
  return expression.kind === "parameter" || operandsOf(expression).some(hasParameter);
}

/** Whether the value may change from one evaluation to the next with the same columns. */
export function isVolatile(expression: TypedExpression): boolean {
  return (expression.kind === "call" && expression.function.volatility === "volatile") || operandsOf(expression).some(isVolatile);
}

/** Whether a call reads the catalogue, which other threads do not have. */
export function readsCatalog(expression: TypedExpression): boolean {
  return (expression.kind === "call" && expression.function.readsCatalog === true) || operandsOf(expression).some(readsCatalog);
}

/** A text equal for two expressions exactly when they are the same: for matching GROUP BY, DISTINCT and ORDER BY items. */
export function expressionKey(expression: TypedExpression): string {
  if (expression.kind === "column") return `#${expression.index}`;
  const operands = operandsOf(expression).map(expressionKey).join(",");
  const type = displayName(expression.type);
  switch (expression.kind) {
    case "literal":
      return `${type}'${valueKey(expression.value)}'`;
    case "parameter":
      return `$${expression.id}`;
    case "call":
      return `${expression.function.name}(${operands})`;
    case "arithmetic":
    case "compare":
    case "logic":
      return `(${expression.operator} ${operands})`;
    case "not":
      return `(not ${operands})`;
    case "is":
      return `(is ${expression.negated} ${expression.test} ${operands})`;
    case "in-set":
      return `(in ${expression.negated} ${expression.hasNull} ${operands} [${[...expression.keys].join(",")}])`;
    case "like":
      return `(like ${expression.negated} ${expression.insensitive} ${JSON.stringify(expression.escape ?? "")} ${operands})`;
    case "case":
      return `(case ${operands})`;
    case "cast":
      return `(cast ${expression.safe} ${type} ${operands})`;
  }
}
