/** Walks syntax trees. */
import { aggregateNamed } from "../function/aggregate/registry.ts";
import type { Expression, WindowClause } from "../sql/ast.ts";

/** Direct operands of a node. */
function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "unary":
    case "is":
    case "cast":
    case "in-query":
    case "quantified":
    case "range":
      return [expression.operand];
    case "binary":
      return [expression.left, expression.right];
    case "between":
      return [expression.operand, expression.low, expression.high];
    case "in-list":
      return [expression.operand, ...expression.items];
    case "like":
      return [expression.operand, expression.pattern];
    case "case": {
      const branches = expression.branches.flatMap((branch) => [branch.when, branch.result]);
      return [expression.operand, ...branches, expression.otherwise].filter((child) => child !== undefined);
    }
    case "call": {
      const own = [...expression.args, ...expression.orderBy.map((item) => item.expression), ...windowParts(expression.over)];
      return expression.filter === undefined ? own : [...own, expression.filter];
    }
    default:
      return [];
  }
}

/** Whether a node that meets a test is anywhere in an expression, sub-queries aside. Does not recurse, since chains of AND may be long. */
export function contains(expression: Expression, test: (node: Expression) => boolean): boolean {
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (test(node)) return true;
    open.push(...childrenOf(node));
  }
  return false;
}

/** The expressions of a window that read rows. */
export function windowParts(window: WindowClause | undefined): readonly Expression[] {
  return window === undefined ? [] : [...window.partitionBy, ...window.orderBy.map((item) => item.expression)];
}

/** Whether an expression is a call of an aggregate, and not of a window. */
export function isAggregateCall(expression: Expression): expression is Extract<Expression, { kind: "call" }> {
  return expression.kind === "call" && expression.over === undefined && aggregateNamed(expression.name) !== undefined;
}

/** Whether an expression is `grouping(…)`, which says by which keys of grouping sets a row is grouped. */
export function isGroupingCall(expression: Expression): expression is Extract<Expression, { kind: "call" }> {
  return expression.kind === "call" && expression.over === undefined && expression.name === "grouping";
}

/** Whether an aggregate, or `grouping`, is called anywhere in an expression. */
export function containsAggregate(expression: Expression): boolean {
  return contains(expression, (node) => isAggregateCall(node) || isGroupingCall(node));
}

/** Whether an expression holds a window call. */
export function containsWindow(expression: Expression): boolean {
  return contains(expression, (node) => node.kind === "call" && node.over !== undefined);
}

/** Whether a RANGE stands anywhere in an expression. */
export function containsRange(expression: Expression): boolean {
  return contains(expression, (node) => node.kind === "range");
}

/** Every RANGE of an expression. */
export function rangesIn(expression: Expression): readonly Extract<Expression, { kind: "range" }>[] {
  const found: Extract<Expression, { kind: "range" }>[] = [];
  contains(expression, (node) => {
    if (node.kind === "range") found.push(node);
    return false;
  });
  return found;
}

/** Whether an expression holds a sub-query. */
export function containsSubQuery(expression: Expression): boolean {
  return contains(expression, (node) => ["sub-query", "exists", "in-query", "quantified"].includes(node.kind));
}
