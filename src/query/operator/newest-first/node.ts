/** Ranges of time, newest first, until there are enough rows. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Table } from "../../../table/catalog.ts";
import type { TimeRange } from "../../../table/scan.ts";
import type { TimeBuckets } from "../../function/time/buckets.ts";
import { optional, whole } from "../../plan-format/shape.ts";
import { type AnyNode, input, nodeKind, type NodeKind } from "../node-parts/node-kind.ts";
import { wholeTable } from "../node-parts/table-identity.ts";
import { timeBuckets, timeRange } from "../node-parts/time-shapes.ts";

/**
 * Runs `input`, whose rows are ordered by time, newest first, on the newest range of the scan's time range, then on older and
 * longer ones, until `wanted` rows came out. Ranges end at borders of `buckets`, so that no group is split.
 */
export interface NewestFirstNode<N> {
  readonly kind: "newest-first";
  readonly input: N;
  readonly columns: readonly ColumnHeader[];
  readonly table: Table;
  readonly timeRange: TimeRange;
  readonly buckets: TimeBuckets | undefined;
  readonly wanted: number;
}

/** See the file header. */
export const NEWEST_FIRST: NodeKind<NewestFirstNode<AnyNode>> = nodeKind<NewestFirstNode<AnyNode>>({
  kind: "newest-first",
  fields: { input, table: wholeTable, timeRange, buckets: optional(timeBuckets), wanted: whole(0) },
  explain: ({ wanted, buckets }) =>
    `NewestFirstExec: wanted=${wanted}, ranges=${buckets === undefined ? "by row density" : "by time bucket"}`,
  means: ({ wanted }) => `Limit: newest ${wanted}`,
});
