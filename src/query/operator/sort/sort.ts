/**
 * ORDER BY: stable. Rows are held and sorted at once; those that do not fit in memory go to disk as sorted runs, which are merged. With a
 * LIMIT above it, rows that cannot be among the first are thrown away whenever twice as many as wanted have gathered; from then on, rows
 * that do not come before the last of those that are left are not even copied. Only keys are sorted: the other columns are gathered for
 * the rows that go out, which those below an OFFSET do not.
 */
import type { PlanNode } from "../contract/node.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { bytesOfBatch, gatherBatch, HeldRows } from "../rows/held-rows.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { type BatchKeys, Sorter } from "../rows/sorter.ts";
import { leftOutBlocks } from "./left-out-blocks.ts";
import { isMiddle, MiddleRows } from "./middle-rows.ts";
import { mergeRuns, type RunOrder } from "../spill/merge-runs.ts";
import { pieces } from "../rows/pieces.ts";
import { holding, type SpillContext } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import type { SortOrder } from "./sort-order.ts";

/** Rows of a batch that a sort gives out. */
const BATCH_ROWS = 8192;
/** Times as many rows as are wanted that a top-N gathers before it throws away. */
const GATHERED_PER_KEPT = 2;
/** Fewest rows gathered before that. */
const GATHERED_MIN = 4096;
/** Rows in memory of which a few in the middle are looked for, rather than all sorted: 5M rows, ten behind 4M, 750 -> 440 ms. */
const MIDDLE_ROWS_MIN = 65_536;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;
/** Most runs merged at once. Reason: each takes a block, and looking for the bound looks at all. */
const FAN_IN_MAX = 64;
const NO_KEYS: BatchKeys = { vectors: [], keys: [] };
/** Blocks of memory that a run takes while it is merged: its own, and its part of what comes out. */
const BLOCKS_PER_RUN = 3;

/** The rows of `input` in order, without the first `skip`. @param onBound as `SortOrder.onBound` */
export async function* sort(
  node: Extract<PlanNode, { kind: "sort" }>,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  skip: number = 0,
  onBound?: SortOrder["onBound"],
): AsyncIterable<ExecBatch> {
  if (node.keep === 0) return;
  const { items, columns, keep } = node;
  yield* holding("sort", node, context, (own, spill) => sortedRows({ items, columns, keep, skip, onBound }, input, own, spill));
}

/** The rows of `input` in order. Rows are held on the budget of the context. */
export async function* sortedRows(
  order: SortOrder,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<ExecBatch> {
  const { items, columns, keep, skip = 0 } = order;
  const { budget } = context;
  const sorter = new Sorter(items, columns, context);
  const rows = new HeldRows(columns, budget, sorter.rowBytes);
  const first = keep === undefined ? undefined : new FirstRows(rows, sorter, keep, context, order.onBound);
  let middle: MiddleRows | undefined;
  const runs = new Runs({ sorter, columns }, order, context, spill);
  for await (const batch of input) {
    checkCancelled(context);
    for (const piece of pieces(batch, spill.rowsOf(rows.costOf(batch), batch.rowCount, PIECES_PER_SHARE))) {
      const wanted = first?.wantedOf(piece) ?? piece;
      if (wanted.rowCount === 0) continue;
      if (middle !== undefined) {
        await middle.add(wanted);
        continue;
      }
      if (rows.rowCount > 0 && !spill.fits(rows.costOf(wanted), budget)) {
        if (runs.isEmpty && sorter.hasKeys && isMiddle(order, rows.rowCount)) {
          middle = new MiddleRows(order, rows, sorter, context, spill);
          await middle.add(wanted);
          continue;
        }
        await runs.add(rows);
      }
      if (wanted === piece) rows.add(piece);
      else rows.addOwn(wanted);
      await first?.throwAway();
    }
    await context.pace.turn();
  }
  if (rows.rowCount >= MIDDLE_ROWS_MIN && runs.isEmpty && sorter.hasKeys && isMiddle(order, rows.rowCount)) {
    middle ??= new MiddleRows(order, rows, sorter, context, spill);
  }
  if (middle !== undefined) {
    yield* middle.wanted((some, from, to) => sortedRows({ items, columns, keep: to, skip: from, isWhole: true }, some, context, spill));
    return;
  }
  if (!runs.isEmpty) {
    if (rows.rowCount > 0) await runs.add(rows);
    yield* runs.merged();
    return;
  }
  if (rows.rowCount === 0) return;
  const all = await rows.joinedInTurns(context);
  const sorted = await sorter.ordered(all, context, skip, Math.min(keep ?? all.rowCount, all.rowCount));
  for (let at = 0; at < sorted.length; at += BATCH_ROWS) {
    checkCancelled(context);
    const part = sorted.subarray(at, at + BATCH_ROWS);
    yield gatherBatch(all, part, part.length);
    await context.pace.turn();
  }
}

/** Of rows that are held, those that may be among the first `keep`. */
class FirstRows {
  private readonly rows: HeldRows;
  private readonly sorter: Sorter;
  private readonly keep: number;
  private readonly context: ExecContext;
  private readonly most: number;
  /** Rows that do not come before it are not wanted: `keep` rows do, or are it. */
  private bound: BatchKeys | undefined;
  private readonly onBound: SortOrder["onBound"];

  constructor(rows: HeldRows, sorter: Sorter, keep: number, context: ExecContext, onBound: SortOrder["onBound"]) {
    this.rows = rows;
    this.sorter = sorter;
    this.keep = keep;
    this.context = context;
    this.onBound = onBound;
    this.most = Math.max(keep * GATHERED_PER_KEPT, GATHERED_MIN);
  }

  /** Those of a batch that are worth holding: the batch, or copies. */
  wantedOf(batch: ExecBatch): ExecBatch {
    if (this.bound === undefined) return batch;
    const selection = this.sorter.before(batch, this.bound);
    return selection.length === batch.rowCount ? batch : gatherBatch(batch, selection, selection.length);
  }

  /** Throws away what is not wanted once much has gathered. */
  async throwAway(): Promise<void> {
    const { rows, sorter, keep, context } = this;
    if (rows.rowCount <= this.most) return;
    const all = await rows.joinedInTurns(context);
    rows.keep(await sorter.ordered(all, context, 0, keep), keep);
    // Joined already: the rows that were kept.
    this.bound = sorter.boundAt(rows.joined(), keep - 1);
    if (this.bound !== undefined) this.onBound?.(this.bound);
  }
}

/** Sorted runs on disk. */
class Runs {
  private runs: SpilledRows[] = [];
  /** Keys of the first row of each block of each run; undefined: nothing is left out, or they do not fit. */
  private firsts: BatchKeys[] | undefined;
  private firstsBytes = 0;
  private readonly order: RunOrder;
  private readonly keep: number | undefined;
  private readonly skip: number;
  private readonly context: ExecContext;
  private readonly spill: SpillContext;
  private file: Awaited<ReturnType<SpillContext["create"]>> | undefined;

  constructor(order: RunOrder, { keep, skip = 0 }: Pick<SortOrder, "keep" | "skip">, context: ExecContext, spill: SpillContext) {
    this.order = order;
    this.keep = keep;
    this.skip = skip;
    this.firsts = skip > 0 ? [] : undefined;
    this.context = context;
    this.spill = spill;
  }

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  /** Sorts held rows, writes them as a run and forgets them. */
  async add(rows: HeldRows): Promise<void> {
    const all = await rows.joinedInTurns(this.context);
    const count = Math.min(this.keep ?? all.rowCount, all.rowCount);
    const sorted = await this.order.sorter.ordered(all, this.context, 0, count);
    const step = Math.max(1, Math.floor((all.rowCount * this.spill.blockBytes) / Math.max(1, bytesOfBatch(all))));
    this.file ??= await this.spill.create();
    const run = this.spill.rowsIn(this.file, this.order.columns);
    for (let at = 0; at < count; at += step) {
      checkCancelled(this.context);
      const part = sorted.subarray(at, Math.min(at + step, count));
      await run.add(gatherBatch(all, part, part.length));
      await run.finish(); // A block, whose first row is known.
      await this.context.pace.turn();
    }
    this.runs.push(run);
    const starts = new Uint32Array(run.blockRows.length).map((_, block) => sorted[block * step] ?? 0);
    rows.clear();
    this.noteFirsts(gatherBatch(all, starts, starts.length));
  }

  private noteFirsts(batch: ExecBatch): void {
    const { budget } = this.context;
    const bytes = bytesOfBatch(batch) + batch.rowCount * this.order.sorter.rowBytes;
    if (this.firsts === undefined || !budget.fits(bytes)) {
      this.forgetFirsts();
      return;
    }
    budget.reserve(bytes);
    this.firstsBytes += bytes;
    this.firsts.push(this.order.sorter.keysOf(batch));
  }

  private forgetFirsts(): void {
    this.firsts = undefined;
    this.context.budget.release(this.firstsBytes);
    this.firstsBytes = 0;
  }

  /** Leaves out blocks whose rows are all among those that are skipped. @returns how many rows */
  private leaveOut(): number {
    const { firsts, runs } = this;
    if (firsts === undefined) return 0;
    const all = runs.map((run, i) => ({ rows: run.blockRows, firsts: firsts[i] ?? NO_KEYS }));
    const counts = leftOutBlocks(all, this.skip, this.order.sorter);
    this.forgetFirsts();
    return runs.reduce((rows, run, i) => rows + run.leaveOut(counts[i] ?? 0), 0);
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
    const { context, spill, order } = this;
    const leftOut = this.leaveOut();
    const keep = this.keep === undefined ? undefined : this.keep - leftOut;
    while (this.runs.length > fanIn) {
      const before = this.file;
      const file = await spill.create();
      const longer: SpilledRows[] = [];
      for (let at = 0; at < this.runs.length; at += fanIn) {
        const run = spill.rowsIn(file, order.columns);
        const some = mergeRuns(this.runs.slice(at, at + fanIn), order, context);
        for await (const batch of between(some, 0, keep)) await run.add(batch);
        await run.finish();
        longer.push(run);
      }
      if (before !== undefined) await spill.drop(before);
      this.file = file;
      this.runs = longer;
    }
    yield* between(mergeRuns(this.runs, order, context), this.skip - leftOut, keep);
  }
}

/** The rows of places `[from, to)`. */
async function* between(batches: AsyncIterable<ExecBatch>, from: number, to: number | undefined): AsyncGenerator<ExecBatch> {
  let at = 0;
  const end = to ?? Number.POSITIVE_INFINITY;
  for await (const batch of batches) {
    const start = Math.min(batch.rowCount, Math.max(0, from - at));
    const wanted = Math.min(batch.rowCount, end - at);
    if (start < wanted) yield* pieces(sliceBatch(batch, start, wanted), BATCH_ROWS);
    at += batch.rowCount;
    if (at >= end) return;
  }
}
