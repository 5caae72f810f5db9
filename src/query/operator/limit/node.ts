/** LIMIT and OFFSET. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { optional, whole } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** See the file header. */
export interface LimitNode<N> {
  readonly kind: "limit";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly offset: number;
  readonly count: number | undefined;
}

/** See the file header. */
export const LIMIT: NodeKind<LimitNode<AnyNode>> = nodeKind<LimitNode<AnyNode>>({
  kind: "limit",
  fields: { input, offset: whole(0), count: optional(whole(0)) },
  explain: ({ offset, count }) => `LimitExec: skip=${offset}, fetch=${count ?? "all"}`,
});
