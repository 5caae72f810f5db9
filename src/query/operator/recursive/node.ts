/** WITH RECURSIVE. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { bool, text } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** Rows of `first`, then those of `step` over the rows of the round before, which `step` reads as the source called `working`. */
export interface RecursiveNode<N> {
  readonly kind: "recursive";
  readonly first: N;
  readonly step: N;
  readonly columns: readonly ColumnHeader[];
  readonly working: string;
  /** Whether rows that were there before count again. */
  readonly all: boolean;
}

/** See the file header. */
export const RECURSIVE: NodeKind<RecursiveNode<AnyNode>> = nodeKind<RecursiveNode<AnyNode>>({
  kind: "recursive",
  fields: { first: input, step: input, working: text, all: bool },
  explain: ({ all, working }) => `RecursiveExec: ${all ? "all rows" : "distinct rows"} of ${working}`,
  wrong: ({ first, step, columns }) =>
    columns.length === first.columns.length && columns.length === step.columns.length ? undefined : "its parts have other columns",
});
