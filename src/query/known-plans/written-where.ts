/**
 * Conditions of a WHERE as they are written, and which of their constants are values alone: operands of comparisons, of IN and of BETWEEN.
 * Others say what an expression is (a length of time, a type's text, an argument of a function), so plans hang on them.
 */
import type { Expression } from "../sql/syntax/ast.ts";
import type { TextConstant } from "./text-shape.ts";

/** The conditions that AND joins, from left to right. */
export function conditionsOf(where: Expression): readonly Expression[] {
  const found: Expression[] = [];
  const open = [where];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "binary" && node.operator === "and") open.push(node.right, node.left);
    else found.push(node);
  }
  return found;
}

/** What stands where a constant does, as nodes tell: `line:column`, both from 1. */
export function placesOf(text: string, constants: readonly TextConstant[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let line = 1;
  let lineStart = 0;
  let at = 0;
  const ends = /\r\n?|\n/g;
  for (const [index, { offset }] of constants.entries()) {
    ends.lastIndex = at;
    for (let end = ends.exec(text); end !== null && end.index < offset; end = ends.exec(text)) {
      line++;
      lineStart = end.index + end[0].length;
    }
    at = offset;
    places.set(`${line}:${offset - lineStart + 1}`, index);
  }
  return places;
}

/** Numbers of the constants of a text by the nodes that are these constants and nothing else. */
export type ConstantNodes = ReadonlyMap<Expression, number>;

/** The constants of a condition that are values alone. */
export function constantsIn(condition: Expression, constants: readonly TextConstant[], places: ReadonlyMap<string, number>): ConstantNodes {
  const nodes = new Map<Expression, number>();
  const note = (node: Expression): void => {
    if (node.kind === "string" || node.kind === "number") {
      const index = places.get(`${node.span.line}:${node.span.column}`);
      const constant = index === undefined ? undefined : constants[index];
      const text = node.kind === "string" ? node.value : node.text;
      if (index !== undefined && constant?.kind === node.kind && constant.text === text) nodes.set(node, index);
      return;
    }
    for (const operand of operandsOf(node)) note(operand);
  };
  note(condition);
  return nodes;
}

/** Operands whose constants are values alone. */
function operandsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "binary":
      return isComparison(node.operator) ? [node.left, node.right] : [];
    case "between":
      return [node.operand, node.low, node.high];
    case "in-list":
      return [node.operand, ...node.items];
    default:
      return [];
  }
}

function isComparison(operator: Extract<Expression, { kind: "binary" }>["operator"]): boolean {
  return operator === "or" || operator === "=" || operator === "<" || operator === "<=" || operator === ">" || operator === ">=";
}

/** The same condition with other constants. */
export function withConstants(node: Expression, nodes: ConstantNodes, constants: readonly TextConstant[]): Expression {
  if (nodes.size === 0) return node;
  const changed = (each: Expression): Expression => withConstants(each, nodes, constants);
  switch (node.kind) {
    case "string":
    case "number": {
      const text = constants[nodes.get(node) ?? -1]?.text;
      if (text === undefined) return node;
      return node.kind === "string" ? { kind: "string", value: text, span: node.span } : { kind: "number", text, span: node.span };
    }
    case "binary":
      return isComparison(node.operator) ? { ...node, left: changed(node.left), right: changed(node.right) } : node;
    case "between":
      return { ...node, operand: changed(node.operand), low: changed(node.low), high: changed(node.high) };
    case "in-list":
      return { ...node, operand: changed(node.operand), items: node.items.map(changed) };
    default:
      return node;
  }
}
