/** Plans that run for rows of another plan: sub-queries as values, and LATERAL. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { CompareOperator, TypedExpression } from "../../expression/expression.ts";
import { dataType, expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { kinds, list, oneOf, optional, record, type Shape } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";
import { type PlanParameter, planParameter } from "../node-parts/parameter.ts";

/** What a sub-query is to the row that it is run for. */
export type SubQueryResult =
  /** Its only value; NULL without rows. */
  | { readonly kind: "scalar" }
  | { readonly kind: "exists" }
  /** Whether `operand`, over the operator's input, compares so with any or all of `value`, over the sub-query's rows; of one type. */
  | {
      readonly kind: "any" | "all";
      readonly operator: CompareOperator;
      readonly operand: TypedExpression;
      readonly value: TypedExpression;
    };

/** A sub-query whose result is one more column of each row. */
export interface SubQuery<N> {
  readonly plan: N;
  readonly parameters: readonly PlanParameter[];
  readonly result: SubQueryResult;
  readonly type: DataType;
}

/** Adds a column for each sub-query. */
export interface ApplyNode<N> {
  readonly kind: "apply";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly calls: readonly SubQuery<N>[];
}

/** Runs `plan` for each row of `input` and gives the pairs for which `condition`, over the columns of both, holds. */
export interface LateralJoinNode<N> {
  readonly kind: "lateral-join";
  readonly join: "inner" | "left";
  readonly input: N;
  readonly plan: N;
  readonly columns: readonly ColumnHeader[];
  readonly parameters: readonly PlanParameter[];
  readonly condition: TypedExpression | undefined;
}

const compared = { operator: oneOf("=", "<>", "<", "<=", ">", ">="), operand: expression, value: expression } as const;
const result: Shape<SubQueryResult> = kinds<SubQueryResult>({ scalar: {}, exists: {}, any: compared, all: compared });
const parameters = list(planParameter);

/** Sub-queries. */
export const APPLY: NodeKind<ApplyNode<AnyNode>> = nodeKind<ApplyNode<AnyNode>>({
  kind: "apply",
  fields: { input, calls: list(record<SubQuery<AnyNode>>({ plan: input, parameters, result, type: dataType })) },
  inputs: ({ input: below, calls }) => [below, ...calls.map(({ plan }) => plan)],
  explain: ({ calls }) => `SubQueryExec: [${calls.map(subQueryText).join(", ")}]`,
  wrong: (node) =>
    node.columns.length === node.input.columns.length + node.calls.length
      ? undefined
      : "its columns are not those of its input and one for each sub-query",
});

/** LATERAL. */
export const LATERAL_JOIN: NodeKind<LateralJoinNode<AnyNode>> = nodeKind<LateralJoinNode<AnyNode>>({
  kind: "lateral-join",
  fields: { join: oneOf("inner", "left"), input, plan: input, parameters, condition: optional(expression) },
  explain: ({ join, condition }) => `LateralJoinExec: ${join}${condition === undefined ? "" : `, filter=${expressionText(condition)}`}`,
  wrong: (node) =>
    node.columns.length === node.input.columns.length + node.plan.columns.length ? undefined : "its columns are not those of its sides",
});

function subQueryText({ result: { kind, ...rest }, parameters: taken }: SubQuery<unknown>): string {
  const what = "operand" in rest ? `${expressionText(rest.operand)} ${rest.operator} ${kind}` : kind;
  if (taken.length === 0) return what;
  return `${what} (${taken.map(({ id, expression: given }) => `$${id} = ${expressionText(given)}`).join(", ")})`;
}
