/** Walks syntax trees. */
import { aggregateNamed } from "../../function/aggregate/registry.ts";
import type { Expression, WindowClause } from "../../sql/syntax/ast.ts";

/** Appends the direct operands of a node, lists of constants aside. Every query walks its trees often, so nothing is made on the way. */
function addChildren(expression: Expression, to: Expression[]): void {
  switch (expression.kind) {
    case "unary":
    case "is":
    case "cast":
    case "in-query":
    case "quantified":
    case "range":
      to.push(expression.operand);
      return;
    case "binary":
      to.push(expression.left, expression.right);
      return;
    case "between":
      to.push(expression.operand, expression.low, expression.high);
      return;
    case "in-list":
      to.push(expression.operand);
      for (let i = expression.constants; i < expression.items.length; i++) {
        const item = expression.items[i];
        if (item !== undefined) to.push(item);
      }
      return;
    case "like":
      to.push(expression.operand, expression.pattern);
      return;
    case "case":
      if (expression.operand !== undefined) to.push(expression.operand);
      for (const branch of expression.branches) to.push(branch.when, branch.result);
      if (expression.otherwise !== undefined) to.push(expression.otherwise);
      return;
    case "call":
      for (const argument of expression.args) to.push(argument);
      for (const item of expression.orderBy) to.push(item.expression);
      if (expression.over !== undefined) to.push(...windowParts(expression.over));
      if (expression.filter !== undefined) to.push(expression.filter);
      return;
    default:
  }
}

/**
 * Whether a node that meets a test is anywhere in an expression, sub-queries and lists of constants aside. Does not recurse: chains of AND
 * may be long.
 */
export function contains(expression: Expression, test: (node: Expression) => boolean): boolean {
  if (expression.kind === "column") return test(expression);
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (test(node)) return true;
    addChildren(node, open);
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
  return contains(expression, isGroupCall);
}

function isGroupCall(node: Expression): boolean {
  return isAggregateCall(node) || isGroupingCall(node);
}

/** The kinds of expression that hold a query. */
export type SubQueryExpression = Extract<Expression, { kind: "sub-query" | "exists" | "in-query" | "quantified" }>;

function isSubQuery(node: Expression): node is SubQueryExpression {
  const { kind } = node;
  return kind === "sub-query" || kind === "exists" || kind === "in-query" || kind === "quantified";
}

/** The sub-queries of an expression, as they are written; those within calls of aggregates apart. */
export function subQueriesIn(expression: Expression): readonly SubQueryExpression[] {
  const found: SubQueryExpression[] = [];
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isSubQuery(node)) found.push(node);
    if (!isGroupCall(node)) addChildren(node, open);
  }
  return found.reverse();
}

/** What calls of aggregates in an expression compute of rows, where that holds sub-queries. */
export function aggregatedQueriesIn(expression: Expression): readonly Expression[] {
  const found: Expression[] = [];
  contains(expression, (node) => {
    if (!isAggregateCall(node) || !containsSubQuery(node)) return false;
    addChildren(node, found);
    return false;
  });
  return found;
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
  return contains(expression, isSubQuery);
}
