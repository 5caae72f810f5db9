/** Rows of other columns, one expression each. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { list } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** See the file header. */
export interface ProjectNode<N> {
  readonly kind: "project";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly expressions: readonly TypedExpression[];
}

/** See the file header. */
export const PROJECT: NodeKind<ProjectNode<AnyNode>> = nodeKind<ProjectNode<AnyNode>>({
  kind: "project",
  fields: { input, expressions: list(expression) },
  explain: ({ columns, expressions }) =>
    `ProjectionExec: [${expressions.map((each, i) => `${expressionText(each)} AS ${columns[i]?.name}`).join(", ")}]`,
  wrong: ({ columns, expressions }) =>
    columns.length === expressions.length ? undefined : `${expressions.length} expressions make ${columns.length} columns`,
});
