/** Rows of some of the values of keys. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { list, whole } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";

/** Keeps the rows whose keys have a hash of one share of `shares`: each row is in one share, and rows of equal keys are in the same one. */
export interface KeyShareNode<N> {
  readonly kind: "key-share";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  /** Columns of the input. */
  readonly keys: readonly number[];
  readonly share: number;
  readonly shares: number;
}

/** See the file header. */
export const KEY_SHARE: NodeKind<KeyShareNode<AnyNode>> = nodeKind<KeyShareNode<AnyNode>>({
  kind: "key-share",
  fields: { input, keys: list(whole(0)), share: whole(0), shares: whole(1) },
  explain: ({ keys, columns, share, shares }) =>
    `KeyShareExec: by=[${keys.map((key) => columns[key]?.name).join(", ")}], share=${share + 1} of ${shares}`,
  wrong({ keys, columns, share, shares, input: below }) {
    if (share >= shares) return `share ${share} is not of ${shares}`;
    if (columns.length !== below.columns.length) return `${below.columns.length} columns come in and ${columns.length} go out`;
    return keys.every((key) => key < columns.length) ? undefined : `a key is not of the ${columns.length} columns`;
  },
});
