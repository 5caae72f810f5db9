/** Rows that meet a condition. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** See the file header. */
export interface FilterNode<N> {
  readonly kind: "filter";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly predicate: TypedExpression;
}

/** See the file header. */
export const FILTER: NodeKind<FilterNode<AnyNode>> = nodeKind<FilterNode<AnyNode>>({
  kind: "filter",
  fields: { input, predicate: expression },
  explain: ({ predicate }) => `FilterExec: ${expressionText(predicate)}`,
});
