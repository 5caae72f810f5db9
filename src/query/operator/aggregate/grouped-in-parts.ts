/**
 * Grouping beyond memory. Once it is full, rows of groups that are held go on into their states and all others to disk, split by the hash
 * of their keys; then each part is grouped alone. So a group's rows come to its state in the order of the input, wherever they were.
 *
 * loops and reference group so: what they hold, and the loops that fill it, are their own.
 */
import type { PlanNode } from "../contract/node.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext, GroupWatch } from "../contract/exec-context.ts";
import { Partitions, SPLIT_LEVELS_MAX } from "../spill/partitions.ts";
import { pieces } from "../rows/pieces.ts";
import { SpillContext } from "../spill/spill-context.ts";

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** Parts of the operator's share of memory that the groups of one piece of a batch may take, if each row were a new one. */
const PIECES_PER_SHARE = 4;

/** The groups that are held, and their states. */
export interface HeldGroups {
  readonly count: number;
  /** Rows that are taken before others get a turn. */
  readonly rowsAtOnce: number;
  /** Bytes that a new group takes, about. */
  readonly rowBytes: number;
  /** Takes the rows of a batch; where that takes long, in turns. */
  add(batch: ExecBatch): Promise<void> | undefined;
  /** Takes the rows of groups that are held, and copies all others to their partitions. */
  addKnown(batch: ExecBatch, others: Partitions): Promise<void>;
  /** One row a group. */
  batches(): AsyncIterable<ExecBatch>;
}

/** Tells a watch of groups after each piece of rows. */
class ToldGroups {
  private readonly watch: GroupWatch;
  private readonly context: ExecContext;
  private readonly since: number;
  private begun = 0;
  private millis = 0;
  private rows = 0;

  constructor(watch: GroupWatch, context: ExecContext) {
    this.watch = watch;
    this.context = context;
    this.since = context.clock.monotonicMillis() - context.pace.awayMillis;
  }

  /** Rows are grouped from here on. */
  begin(): void {
    this.begun = this.context.clock.monotonicMillis();
  }

  /** Some were, and there are so many groups. @returns whether to end */
  isTaken(groups: number, rowCount: number): boolean | Promise<boolean> {
    const { clock, pace } = this.context;
    const now = clock.monotonicMillis();
    this.millis += now - this.begun;
    this.rows += rowCount;
    const all = now - pace.awayMillis - this.since;
    return this.watch.takesOver(groups, this.rows, all > 0 ? Math.min(1, this.millis / all) : 1);
  }
}

/** The groups of `input`. @param newGroups makes a table of groups, whose memory is counted on the budget of the context given */
export async function* groupedInParts(
  node: Aggregate,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  newGroups: (context: ExecContext) => HeldGroups,
): AsyncGenerator<ExecBatch> {
  const spill = new SpillContext(node, context);
  try {
    yield* grouped(node, input, context, spill, newGroups, 0);
  } finally {
    await spill.close();
  }
}

async function* grouped(
  node: Aggregate,
  input: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  spill: SpillContext,
  newGroups: (context: ExecContext) => HeldGroups,
  level: number,
): AsyncGenerator<ExecBatch> {
  const budget = shared.budget.part("aggregate");
  let rest: Partitions | undefined;
  try {
    const groups = newGroups({ ...shared, budget });
    const { rowBytes } = groups;
    const told = level === 0 && shared.groupWatch !== undefined ? new ToldGroups(shared.groupWatch, shared) : undefined;
    const maySplit = node.keys.length > 0 && level < SPLIT_LEVELS_MAX;
    for await (const batch of input) {
      checkCancelled(shared);
      const most = spill.rowsOf(batch.rowCount * rowBytes, batch.rowCount, PIECES_PER_SHARE);
      for (const piece of pieces(batch, Math.min(groups.rowsAtOnce, most))) {
        checkCancelled(shared);
        const cost = piece.summary === undefined ? piece.rowCount * rowBytes : rowBytes;
        const isFull = rest === undefined && maySplit && groups.count > 0 && !spill.fits(cost, budget);
        if (isFull) rest = await Partitions.create(node.input.columns, level, spill);
        told?.begin();
        const adding = rest === undefined ? groups.add(piece) : groups.addKnown(piece, rest);
        if (adding !== undefined) await adding;
        if (rest === undefined && (await told?.isTaken(groups.count, piece.rowCount)) === true) return;
        await shared.pace.turn();
      }
    }
    await rest?.finish();
    if (groups.count > 0) yield* groups.batches();
  } finally {
    budget.close();
  }
  if (rest === undefined) return;
  for (const part of rest.parts) if (part.rowCount > 0) yield* grouped(node, part.read(), shared, spill, newGroups, level + 1);
  await rest.drop();
}
