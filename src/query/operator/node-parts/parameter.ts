/** Values that a plan takes from the rows of the plan around it. */
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import { record, type Shape, whole } from "../../plan-format/shape.ts";

/** A value that a sub-plan takes from the rows of the plan around it. */
export interface PlanParameter {
  readonly id: number;
  /** Over the columns of the operator that runs the sub-plan. */
  readonly expression: TypedExpression;
}

/** Its shape. */
export const planParameter: Shape<PlanParameter> = record<PlanParameter>({ id: whole(0), expression });
