/** Expressions as plain data, for a structured clone: functions by their names, operands beside what they are operands of. */
import { assert } from "../../base/assert.ts";
import type { DataType } from "../../column/data-type.ts";
import { anyFunctionNamed } from "../function/registry.ts";
import type { FunctionType } from "../function/signature/scalar-function.ts";
import { literal, operandsOf, type TypedExpression, withOperands } from "./expression.ts";

/** An expression with its operands beside it. */
export interface PlainExpression {
  readonly node:
    | Exclude<TypedExpression, { kind: "call" }>
    | { readonly kind: "call"; readonly type: DataType; readonly name: string; readonly functionType: FunctionType };
  readonly operands: readonly PlainExpression[];
}

/** Whether an expression can be told by names: all functions are the registry's own, and nothing of an enclosing query is read. */
export function isPlainExpression(expression: TypedExpression): boolean {
  if (expression.kind === "parameter") return false;
  if (expression.kind === "call" && anyFunctionNamed(expression.function.name) !== expression.function) return false;
  return operandsOf(expression).every(isPlainExpression);
}

const NOTHING: TypedExpression = literal({ kind: "null" }, undefined);

/** An expression for which `isPlainExpression` holds, as plain data. */
export function encodeExpression(expression: TypedExpression): PlainExpression {
  const operands = operandsOf(expression).map(encodeExpression);
  if (expression.kind === "call") {
    const { type, functionType } = expression;
    return { node: { kind: "call", type, name: expression.function.name, functionType }, operands };
  }
  const node = withOperands(
    expression,
    operands.map(() => NOTHING),
  );
  assert(node.kind !== "call", "other operands make no call of it");
  return { node, operands };
}

/** The expression again. */
export function decodeExpression({ node, operands }: PlainExpression): TypedExpression {
  const args = operands.map(decodeExpression);
  if (node.kind !== "call") return withOperands(node, args);
  const named = anyFunctionNamed(node.name);
  assert(named !== undefined, `a scalar function; got ${node.name}`);
  return { kind: "call", type: node.type, function: named, functionType: node.functionType, args };
}
