/** Rows once for each range of time that they reach. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { expression } from "../../expression/expression-shape.ts";
import type { FixedBuckets } from "../../function/time/buckets.ts";
import { bool, whole } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";
import { fixedBuckets } from "../node-parts/time-shapes.ts";

/**
 * Gives each row `copies` times, for the bucket that `time` lies in and those before it. Two columns follow those of the input: a time in
 * the bucket, and with `ages` the whole milliseconds from its start to the row.
 */
export interface OverlapNode<N> {
  readonly kind: "overlap";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly time: TypedExpression;
  readonly buckets: FixedBuckets;
  readonly copies: number;
  readonly ages: boolean;
}

/** See the file header. */
export const OVERLAP: NodeKind<OverlapNode<AnyNode>> = nodeKind<OverlapNode<AnyNode>>({
  kind: "overlap",
  fields: { input, time: expression, buckets: fixedBuckets, copies: whole(1), ages: bool },
  explain: ({ copies, buckets, ages }) => `OverlapExec: slots=${copies} of ${buckets.width} ${buckets.unit}s${ages ? ", ages" : ""}`,
});
