/** Walks over syntax trees. */
import type { Expression, MatrixSelector, VectorSelector } from "../syntax/ast.ts";

/** Operators that compare. */
export const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);

/** What a node is made of, parameters included. */
export function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "NumberLiteral":
    case "StringLiteral":
    case "VectorSelector":
      return [];
    case "MatrixSelector":
      return [node.selector];
    case "AggregateExpression":
      return node.parameter === undefined ? [node.expression] : [node.parameter, node.expression];
    case "SubqueryExpression":
    case "UnaryExpression":
    case "ParenExpression":
      return [node.expression];
    case "BinaryExpression":
      return [node.left, node.right];
    case "Call":
      return node.args;
  }
}

/** The selectors of a tree, from left to right. */
export function* selectorsOf(node: Expression): Generator<VectorSelector> {
  if (node.kind === "VectorSelector") yield node;
  for (const part of partsOf(node)) yield* selectorsOf(part);
}

/** The tree with other selectors. */
export function withSelectors(node: Expression, change: (selector: VectorSelector) => VectorSelector): Expression {
  const inner = (part: Expression): Expression => withSelectors(part, change);
  switch (node.kind) {
    case "NumberLiteral":
    case "StringLiteral":
      return node;
    case "VectorSelector":
      return change(node);
    case "MatrixSelector":
      return { ...node, selector: change(node.selector) } satisfies MatrixSelector;
    case "AggregateExpression":
      return { ...node, expression: inner(node.expression), parameter: node.parameter === undefined ? undefined : inner(node.parameter) };
    case "SubqueryExpression":
    case "UnaryExpression":
    case "ParenExpression":
      return { ...node, expression: inner(node.expression) };
    case "BinaryExpression":
      return { ...node, left: inner(node.left), right: inner(node.right) };
    case "Call":
      return { ...node, args: node.args.map(inner) };
  }
}
