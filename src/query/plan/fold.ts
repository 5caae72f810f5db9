/** Constant folding: an expression over constants becomes a constant when it is planned. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { evaluate } from "../exec/interpreter.ts";
import type { Environment } from "../function/environment.ts";
import { literal, operandsOf, type TypedExpression } from "./expression.ts";

const NO_ROW = (): never => {
  throw new Error("a constant reads no column");
};

/**
 * The value of `expression` if all its operands are constants and it is not volatile, else `expression` itself.
 * Operands are folded already. A failing computation stays as it is and fails when a row needs it; a failing cast fails now.
 */
export function fold(expression: TypedExpression, environment: Environment): TypedExpression {
  if (expression.kind === "literal" || expression.kind === "column" || expression.kind === "parameter") return expression;
  if (expression.kind === "call" && expression.function.volatility === "volatile") return expression;
  if (!operandsOf(expression).every((operand) => operand.kind === "literal")) return simplify(expression);
  try {
    return literal(expression.type, evaluate(expression, NO_ROW, environment));
  } catch (thrown) {
    if (expression.kind !== "cast" && thrown instanceof DbError && thrown.code === StatusCode.EngineExecuteQuery) return expression;
    throw thrown;
  }
}

/** Drops operands of AND and OR that decide nothing, and lets deciding ones decide. */
function simplify(expression: TypedExpression): TypedExpression {
  if (expression.kind !== "logic") return expression;
  const decisive = expression.operator === "or";
  const isConstant = (operand: TypedExpression, value: boolean): boolean => operand.kind === "literal" && operand.value === value;
  const found = expression.operands.find((operand) => isConstant(operand, decisive));
  if (found !== undefined) return found;
  const rest = expression.operands.filter((operand) => !isConstant(operand, !decisive));
  const [first] = rest;
  return rest.length === 1 && first !== undefined ? first : { ...expression, operands: rest };
}
