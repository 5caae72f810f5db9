/** Groups in one table, and once they are many in a table a part. */
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { PlanNode } from "../contract/node.ts";
import type { Partitions } from "../spill/partitions.ts";
import type { HeldGroups } from "./grouped-in-parts.ts";
import { Groups } from "./groups.ts";
import { maySpread, spreadFrom, SpreadGroups } from "./spread-groups.ts";

/** See the file header. */
export class GrowingGroups implements HeldGroups {
  readonly rowsAtOnce: number;
  readonly rowBytes: number;
  private groups: Groups | SpreadGroups;
  private readonly node: Extract<PlanNode, { kind: "aggregate" }>;
  private readonly context: ExecContext;
  private readonly groupsMax: number;

  /** @param needed columns that the reader looks at; undefined: all */
  constructor(node: Extract<PlanNode, { kind: "aggregate" }>, context: ExecContext, needed?: ReadonlySet<number>) {
    const groups = new Groups(node, context, { needed });
    this.groups = groups;
    this.node = node;
    this.context = context;
    this.rowsAtOnce = groups.rowsAtOnce;
    this.rowBytes = groups.rowBytes;
    this.groupsMax = maySpread(node, groups) ? (context.groupsInOneTable ?? spreadFrom(node)) : Number.POSITIVE_INFINITY;
  }

  get count(): number {
    return this.groups.count;
  }

  add(batch: ExecBatch): Promise<void> | undefined {
    const { groups } = this;
    groups.add(batch);
    return groups instanceof SpreadGroups || groups.count < this.groupsMax ? undefined : this.spread(groups);
  }

  private async spread(groups: Groups): Promise<void> {
    this.groups = (await SpreadGroups.of(this.node, groups, this.context)) ?? groups;
  }

  addKnown(batch: ExecBatch, others: Partitions): Promise<void> {
    return this.groups.addKnown(batch, others);
  }

  batches(): AsyncIterable<ExecBatch> {
    return this.groups.batches();
  }
}
