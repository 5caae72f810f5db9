/**
 * Durations as text.
 */
import type { DurationExpression, DurationOperand, DurationValue, Expression } from "./ast.ts";
import { durationText, isZero, literalText } from "./value-text.ts";

/** A range or a step. */
export function durationValueText(duration: DurationValue): string {
  return duration.kind === "Milliseconds" ? durationText(duration.millis) : expressionText(duration);
}

/** ` offset 5m`, and "" for none. */
export function offsetText(offset: DurationValue): string {
  if (isZero(offset)) return "";
  if (offset.kind === "Milliseconds") return ` offset ${durationText(offset.millis)}`;
  return ` offset ${endsEarly(offset) ? `(${expressionText(offset)})` : expressionText(offset)}`;
}

/** Whether an offset would end within the text: behind `offset`, operators go on after a parenthesis alone. */
function endsEarly(offset: DurationExpression): boolean {
  if (offset.isWrapped || offset.left === undefined || isExtreme(offset)) return false;
  let first: DurationOperand | undefined = offset;
  while (first?.kind === "DurationExpression" && !first.isWrapped && first.left !== undefined && !isExtreme(first)) first = first.left;
  return first?.kind === "NumberLiteral" || !first?.isWrapped;
}

/** Whether the text of a node ends with an offset that an operator of durations behind it would go on with: `x offset (5m)`. */
export function endsWithOpenOffset(node: Expression): boolean {
  switch (node.kind) {
    case "BinaryExpression":
      return endsWithOpenOffset(node.right);
    case "UnaryExpression":
      return endsWithOpenOffset(node.expression);
    case "VectorSelector":
    case "SubqueryExpression":
      return isOpen(node.offset);
    case "MatrixSelector":
      return isOpen(node.selector.offset);
    default:
      return false;
  }
}

function isOpen(offset: DurationValue): boolean {
  return offset.kind === "DurationExpression" && (offset.isWrapped || (offset.left !== undefined && !isExtreme(offset)));
}

function isExtreme({ operator }: DurationExpression): boolean {
  return operator === "min_of" || operator === "max_of";
}

function operandText(operand: DurationOperand): string {
  return operand.kind === "NumberLiteral" ? literalText(operand) : expressionText(operand);
}

function expressionText(expression: DurationExpression): string {
  const text = bareText(expression);
  return expression.isWrapped ? `(${text})` : text;
}

function bareText({ operator, left, right }: DurationExpression): string {
  if (right === undefined) return `${operator}()`;
  if (left === undefined) return operator === "-" ? `-${operandText(right)}` : operandText(right);
  if (operator === "min_of" || operator === "max_of") return `${operator}(${operandText(left)}, ${operandText(right)})`;
  return `${operandText(left)} ${operator} ${operandText(right)}`;
}
