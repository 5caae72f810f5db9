/** ORDER BY. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { list, optional, whole } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";
import { itemText, type SortItem, sortItem } from "../node-parts/sort-item.ts";

/** `keep`: only that many first rows are needed. */
export interface SortNode<N> {
  readonly kind: "sort";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly items: readonly SortItem[];
  readonly keep: number | undefined;
}

/** See the file header. */
export const SORT: NodeKind<SortNode<AnyNode>> = nodeKind<SortNode<AnyNode>>({
  kind: "sort",
  fields: { input, items: list(sortItem), keep: optional(whole(0)) },
  explain({ items, keep }) {
    const keys = `[${items.map(itemText).join(", ")}]`;
    return keep === undefined ? `SortExec: ${keys}` : `TopNExec: ${keys}, keep=${keep}`;
  },
});
