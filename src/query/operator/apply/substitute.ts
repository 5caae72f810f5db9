/** Puts values in the place of the parameters of a plan, so that it can run. */
import type { Environment } from "../../function/signature/environment.ts";
import type { Value } from "../../function/value/value.ts";
import { literal, operandsOf, type TypedExpression, withOperands } from "../../expression/expression.ts";
import { fold } from "../../expression/fold.ts";
import { type PlanNode, rebuilt } from "../contract/node.ts";
import { pushedIntoScan } from "../scan/push-filter.ts";

/** Values of parameters, by id. */
export type ParameterValues = ReadonlyMap<number, Value>;

/** The same plan with constants for these parameters. @param optimise whether scans may take conditions over that are constant now */
export function withValues(node: PlanNode, values: ParameterValues, environment: Environment, optimise: boolean): PlanNode {
  const change = (expression: TypedExpression): TypedExpression => substituted(expression, values, environment);
  const made = rebuilt(node, (input) => withValues(input, values, environment, optimise), change);
  return optimise ? pushedIntoScan(made) : made;
}

function substituted(expression: TypedExpression, values: ParameterValues, environment: Environment): TypedExpression {
  if (expression.kind === "parameter") return values.has(expression.id) ? literal(expression.type, values.get(expression.id)) : expression;
  const operands = operandsOf(expression);
  const changed = operands.map((operand) => substituted(operand, values, environment));
  if (changed.every((operand, i) => operand === operands[i])) return expression;
  return fold(withOperands(expression, changed), environment);
}
