/** Rows of several plans one after the other. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { list } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** All rows of all inputs, one input after the other. */
export interface UnionNode<N> {
  readonly kind: "union";
  readonly inputs: readonly N[];
  readonly columns: readonly ColumnHeader[];
}

/** The rows of `input`, and if there are none, those of `otherwise`. */
export interface IfEmptyNode<N> {
  readonly kind: "if-empty";
  readonly input: N;
  readonly otherwise: N;
  readonly columns: readonly ColumnHeader[];
}

/** UNION. */
export const UNION: NodeKind<UnionNode<AnyNode>> = nodeKind<UnionNode<AnyNode>>({
  kind: "union",
  fields: { inputs: list(input) },
  inputs: (node) => node.inputs,
  explain: () => "UnionExec",
  wrong: ({ inputs, columns }) =>
    inputs.every((each) => each.columns.length === columns.length) ? undefined : "its inputs have other columns",
});

/** Totals of no rows. */
export const IF_EMPTY: NodeKind<IfEmptyNode<AnyNode>> = nodeKind<IfEmptyNode<AnyNode>>({
  kind: "if-empty",
  fields: { input, otherwise: input },
  explain: () => "IfEmptyExec",
});
