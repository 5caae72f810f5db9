/** INTERSECT and EXCEPT. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { bool, oneOf } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** Rows of `left` that are in `right`, or are not; with `all`, as often as they are there, or are not. */
export interface SetFilterNode<N> {
  readonly kind: "set-filter";
  readonly operator: "intersect" | "except";
  readonly all: boolean;
  readonly left: N;
  readonly right: N;
  readonly columns: readonly ColumnHeader[];
}

/** See the file header. */
export const SET_FILTER: NodeKind<SetFilterNode<AnyNode>> = nodeKind<SetFilterNode<AnyNode>>({
  kind: "set-filter",
  fields: { operator: oneOf("intersect", "except"), all: bool, left: input, right: input },
  explain: ({ operator, all }) => `${operator === "intersect" ? "Intersect" : "Except"}Exec${all ? ": all" : ""}`,
  wrong: ({ left, right, columns }) =>
    left.columns.length === columns.length && right.columns.length === columns.length ? undefined : "its sides have other columns",
});
