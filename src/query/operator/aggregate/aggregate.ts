/** The aggregation operator: reads all its input, then gives one row a group. What does not fit in memory goes over the disk. */
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { PlanNode } from "../contract/node.ts";
import { groupedInParts } from "./grouped-in-parts.ts";
import { GrowingGroups } from "./growing-groups.ts";

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** The groups of `input`. @param needed columns that the reader looks at: keys among the others are NULL; undefined: all */
export function aggregate(
  node: Aggregate,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  needed?: ReadonlySet<number>,
): AsyncIterable<ExecBatch> {
  return groupedInParts(node, input, context, (own) => new GrowingGroups(node, own, needed));
}
