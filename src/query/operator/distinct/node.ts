/** DISTINCT ON. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import { expressionText } from "../../expression/expression-text.ts";
import { list } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** The first row of each distinct set of values of `keys`. */
export interface FirstOfEachNode<N> {
  readonly kind: "first-of-each";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly keys: readonly TypedExpression[];
}

/** See the file header. */
export const FIRST_OF_EACH: NodeKind<FirstOfEachNode<AnyNode>> = nodeKind<FirstOfEachNode<AnyNode>>({
  kind: "first-of-each",
  fields: { input, keys: list(expression) },
  explain: ({ keys }) => `DistinctOnExec: [${keys.map(expressionText).join(", ")}]`,
});
