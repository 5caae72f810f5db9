/**
 * ORDER BY: stable. Rows are held and sorted at once; those that do not fit in memory go to disk as sorted runs, which are merged. With a
 * LIMIT above it, rows that cannot be among the first are thrown away whenever four times as many as wanted have gathered, so memory stays
 * small and the work is O(n log k).
 */
import type { PlanNode } from "../contract/node.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { bytesOfBatch, gatherBatch, HeldRows } from "../rows/held-rows.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { Sorter } from "../rows/sorter.ts";
import { mergeRuns, type RunOrder } from "../spill/merge-runs.ts";
import { pieces } from "../rows/pieces.ts";
import { holding, type SpillContext } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";

/** Rows of a batch that a sort gives out. */
const BATCH_ROWS = 8192;
/** Fewest rows gathered before a top-N throws away. */
const GATHERED_MIN = 4096;
/** Bytes a row that sorting takes: its position, twice; for each key its number, its digits, its class. */
const ROW_BYTES = 8;
const KEY_BYTES = 17;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;
/** Most runs merged at once. Reason: each takes a block, and looking for the bound looks at all. */
const FAN_IN_MAX = 64;
/** Blocks of memory that a run takes while it is merged: its own, and its part of what comes out. */
const BLOCKS_PER_RUN = 3;

/** What a sort is of. */
export interface SortOrder {
  readonly items: readonly SortItem[];
  readonly columns: PlanNode["columns"];
  /** Only that many first rows are needed. */
  readonly keep: number | undefined;
}

/** The rows of `input` in order. */
export async function* sort(
  node: Extract<PlanNode, { kind: "sort" }>,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  if (node.keep === 0) return;
  yield* holding("sort", node, context, (own, spill) => sortedRows(node, input, own, spill));
}

/** The rows of `input` in order. Rows are held on the budget of the context. */
export async function* sortedRows(
  order: SortOrder,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<ExecBatch> {
  const { items, columns, keep } = order;
  const { budget } = context;
  const sorter = new Sorter(items, columns, context);
  const rows = new HeldRows(columns, budget, ROW_BYTES + KEY_BYTES * items.length);
  const most = keep === undefined ? Number.POSITIVE_INFINITY : Math.max(keep * 4, GATHERED_MIN);
  const runs = new Runs({ sorter, columns }, keep, context, spill);
  for await (const batch of input) {
    checkCancelled(context);
    for (const piece of pieces(batch, spill.rowsOf(rows.costOf(batch), batch.rowCount, PIECES_PER_SHARE))) {
      if (rows.rowCount > 0 && !spill.fits(rows.costOf(piece), budget)) await runs.add(rows);
      rows.add(piece);
      if (keep !== undefined && rows.rowCount > most) rows.keep(await sorter.ordered(await rows.joinedInTurns(context), context), keep);
    }
    await context.pace.turn();
  }
  if (!runs.isEmpty) {
    if (rows.rowCount > 0) await runs.add(rows);
    yield* runs.merged();
    return;
  }
  if (rows.rowCount === 0) return;
  const all = await rows.joinedInTurns(context);
  const sorted = await sorter.ordered(all, context);
  const count = Math.min(keep ?? all.rowCount, all.rowCount);
  for (let at = 0; at < count; at += BATCH_ROWS) {
    checkCancelled(context);
    const part = sorted.subarray(at, Math.min(at + BATCH_ROWS, count));
    yield gatherBatch(all, part, part.length);
    await context.pace.turn();
  }
}

/** Sorted runs on disk. */
class Runs {
  private runs: SpilledRows[] = [];
  private readonly order: RunOrder;
  private readonly keep: number | undefined;
  private readonly context: ExecContext;
  private readonly spill: SpillContext;
  private file: Awaited<ReturnType<SpillContext["create"]>> | undefined;

  constructor(order: RunOrder, keep: number | undefined, context: ExecContext, spill: SpillContext) {
    this.order = order;
    this.keep = keep;
    this.context = context;
    this.spill = spill;
  }

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  /** Sorts held rows, writes them as a run and forgets them. */
  async add(rows: HeldRows): Promise<void> {
    const all = await rows.joinedInTurns(this.context);
    const sorted = await this.order.sorter.ordered(all, this.context);
    const count = Math.min(this.keep ?? all.rowCount, all.rowCount);
    const step = Math.max(1, Math.floor((all.rowCount * this.spill.blockBytes) / Math.max(1, bytesOfBatch(all))));
    this.file ??= await this.spill.create();
    const run = this.spill.rowsIn(this.file, this.order.columns);
    for (let at = 0; at < count; at += step) {
      checkCancelled(this.context);
      const part = sorted.subarray(at, Math.min(at + step, count));
      await run.add(gatherBatch(all, part, part.length));
      await this.context.pace.turn();
    }
    await run.finish();
    this.runs.push(run);
    rows.clear();
  }

  /** All rows in order: some runs at a time are merged to longer ones until few are left. */
  async *merged(): AsyncGenerator<ExecBatch> {
    const { context, spill } = this;
    const blockBytes = spill.blockBytes * BLOCKS_PER_RUN;
    const fanIn = Math.max(2, Math.min(FAN_IN_MAX, Math.floor(context.budget.share / blockBytes)));
    const bytes = Math.min(fanIn, this.runs.length) * blockBytes;
    context.budget.reserve(bytes);
    yield* this.mergedBy(fanIn);
    context.budget.release(bytes); // Whoever sorted may go on: a window over what has come.
  }

  private async *mergedBy(fanIn: number): AsyncGenerator<ExecBatch> {
    const { context, spill, order, keep } = this;
    while (this.runs.length > fanIn) {
      const before = this.file;
      const file = await spill.create();
      const longer: SpilledRows[] = [];
      for (let at = 0; at < this.runs.length; at += fanIn) {
        const run = spill.rowsIn(file, order.columns);
        const some = mergeRuns(this.runs.slice(at, at + fanIn), order, context);
        for await (const batch of first(some, keep)) await run.add(batch);
        await run.finish();
        longer.push(run);
      }
      if (before !== undefined) await spill.drop(before);
      this.file = file;
      this.runs = longer;
    }
    yield* first(mergeRuns(this.runs, order, context), keep);
  }
}

/** At most `count` rows. */
async function* first(batches: AsyncIterable<ExecBatch>, count: number | undefined): AsyncGenerator<ExecBatch> {
  let left = count ?? Number.POSITIVE_INFINITY;
  for await (const batch of batches) {
    const wanted = Math.min(left, batch.rowCount);
    yield* pieces(sliceBatch(batch, 0, wanted), BATCH_ROWS);
    left -= wanted;
    if (left <= 0) return;
  }
}
