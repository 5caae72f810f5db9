/**
 * Binding of long expressions in steps: their parts are bound first, from the leaves up, some hundred nodes at a time, and whoever binds
 * the whole finds them. Short expressions are bound at once.
 *
 *   a = 1 OR … 20,000 terms … OR z = 9        a = 1 ─► yield ─► … ─► z = 9 ─► OR of what is known
 *
 * A part is bound beforehand only where `bind` itself would bind it as it stands and by the same binder: operands of operators, CASE, IN,
 * arguments of scalar functions. A node that the binder knows as a whole, such as a group key, is left whole.
 */
import { functionNamed } from "../../function/registry.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import { contains, subQueriesIn } from "./ast-walk.ts";
import { type Binder, bind, chainInSteps, chainOf, inListInSteps } from "./bind.ts";
import { rowComparison, rowsInList } from "./bind-rows.ts";
import { condition } from "./coerce.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { logicOf } from "./row-sets.ts";
import type { Steps } from "./steps.ts";

/** Nodes that are bound at once: about a millisecond. */
const NODES_AT_ONCE = 256;

/** As `bind`. @throws DbError PlanQuery */
export function* bindInSteps(expression: Expression, binder: Binder): Steps<TypedExpression> {
  const { nodes, hasQueries } = sizeOf(expression);
  if (hasQueries) yield* planQueriesIn(expression, binder);
  if (nodes <= NODES_AT_ONCE) return bind(expression, binder);
  const parts = new BoundParts(binder);
  yield* parts.bindParts(expression);
  return bind(expression, parts.binder);
}

/** As `bindCondition`. @throws DbError PlanQuery */
export function* conditionInSteps(expression: Expression, clause: string, binder: Binder): Steps<TypedExpression> {
  return condition(yield* bindInSteps(expression, binder), clause, binder.environment);
}

/** Plans the sub-queries of an expression that `binder` will bind, one after the other. */
export function* planQueriesIn(expression: Expression, binder: Binder): Steps<void> {
  if (binder.subQueries === undefined) return;
  for (const query of subQueriesIn(expression)) {
    yield* binder.subQueries.planFirst(query, binder);
    yield;
  }
}

/** Nodes of an expression, counted to just past those that are bound at once, and whether there are sub-queries, or may be. */
function sizeOf(expression: Expression): { readonly nodes: number; readonly hasQueries: boolean } {
  let nodes = 0;
  let hasQueries = false;
  contains(expression, (node) => {
    const { kind } = node;
    hasQueries ||= kind === "sub-query" || kind === "exists" || kind === "in-query" || kind === "quantified";
    nodes += weightOf(node);
    return nodes > NODES_AT_ONCE;
  });
  return { nodes, hasQueries: hasQueries || nodes > NODES_AT_ONCE };
}

function isLong(expression: Expression): boolean {
  let nodes = 0;
  return contains(expression, (node) => (nodes += weightOf(node)) > NODES_AT_ONCE);
}

/** Nodes that `contains` passes by with a node, itself included. */
const weightOf = (node: Expression): number => (node.kind === "in-list" ? 1 + node.constants : 1);

/** Parts of one expression that were bound. */
class BoundParts {
  /** Knows them. */
  readonly binder: Binder;
  private readonly outer: Binder;
  private readonly known = new Map<Expression, TypedExpression>();
  /** Nodes that were bound since the last step. */
  private nodes = 0;

  constructor(outer: Binder) {
    this.outer = outer;
    this.binder = { ...outer, intercept: (expression) => this.known.get(expression) ?? outer.intercept?.(expression) };
  }

  /** Binds the parts of a long expression. */
  *bindParts(expression: Expression): Steps<void> {
    const whole = this.outer.intercept?.(expression);
    if (whole !== undefined) {
      this.known.set(expression, whole);
      return;
    }
    if (expression.kind === "in-list") {
      const rows = rowsInList(expression);
      if (rows !== undefined) return yield* this.bindRows(expression, rows);
      if (isLong(expression.operand)) yield* this.bindPart(expression.operand);
      for (const item of expression.items.slice(expression.constants)) if (isLong(item)) yield* this.bindPart(item);
      this.known.set(expression, yield* inListInSteps(expression, this.binder));
      return;
    }
    for (const part of partsOf(expression)) yield* this.bindPart(part);
    if (expression.kind === "binary" && (expression.operator === "and" || expression.operator === "or"))
      this.known.set(expression, yield* chainInSteps(expression, expression.operator, this.binder));
  }

  private *bindPart(part: Expression): Steps<void> {
    const isCut = isLong(part);
    if (isCut) yield* this.bindParts(part);
    this.known.set(part, bind(part, this.binder));
    contains(part, (node) => (this.nodes += weightOf(node)) > NODES_AT_ONCE);
    if (!isCut && this.nodes <= NODES_AT_ONCE) return;
    this.nodes = 0;
    yield;
  }

  /** `(a, b) IN ((1, 2), …)`: one equality a row. */
  private *bindRows(expression: Extract<Expression, { kind: "in-list" }>, rows: readonly Expression[]): Steps<void> {
    const operands: TypedExpression[] = [];
    for (const row of rows) {
      yield* this.bindPart(row);
      operands.push(bind(row, this.binder));
    }
    this.known.set(expression, yield* logicOf(expression.negated ? "and" : "or", operands, this.outer.environment));
  }
}

/** The operands of a node that `bind` binds as they stand; none where it looks at more than their values. */
function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "unary":
    case "is":
    case "cast":
      return [expression.operand];
    case "binary": {
      const { operator, left, right } = expression;
      if (operator === "and" || operator === "or") return chainOf(expression, operator);
      if (operator === "at time zone" || isRowComparison(expression)) return [];
      return [left, right];
    }
    case "between":
      return [expression.operand, expression.low, expression.high];
    case "in-list":
      return [expression.operand, ...expression.items];
    case "like":
      return [expression.operand, expression.pattern];
    case "case": {
      const { operand, branches, otherwise } = expression;
      const all = branches.flatMap(({ when, result }) => [when, result]);
      if (operand !== undefined) all.unshift(operand);
      if (otherwise !== undefined) all.push(otherwise);
      return all;
    }
    case "call":
      return expression.over === undefined && expression.filter === undefined && functionNamed(expression.name) !== undefined
        ? expression.args
        : [];
    default:
      return [];
  }
}

function isRowComparison({ operator, left, right }: Extract<Expression, { kind: "binary" }>): boolean {
  return COMPARISONS.has(operator) && rowComparison("=", left, right) !== undefined;
}

const COMPARISONS: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">="]);
