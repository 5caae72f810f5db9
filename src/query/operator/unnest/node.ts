/** Lists as rows. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { list } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** Each row once for each place of its longest list, with a column more for each of `lists`, which holds its element. */
export interface UnnestNode<N> {
  readonly kind: "unnest";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly lists: readonly TypedExpression[];
}

/** See the file header. */
export const UNNEST: NodeKind<UnnestNode<AnyNode>> = nodeKind<UnnestNode<AnyNode>>({
  kind: "unnest",
  fields: { input, lists: list(expression) },
  explain: ({ lists }) => `UnnestExec: [${lists.map(expressionText).join(", ")}]`,
  wrong: (node) =>
    node.columns.length === node.input.columns.length + node.lists.length
      ? undefined
      : "its columns are not those of its input and one for each list",
});
