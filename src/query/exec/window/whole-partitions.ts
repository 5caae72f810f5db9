/**
 * The input of a window operator in parts that are whole partitions: all of it at once where it fits in memory; else it is sorted over the
 * disk, and as many partitions as fit come at a time. One partition alone has to fit.
 */
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { PlanNode } from "../../plan/node.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "../exec-context.ts";
import { HeldRows } from "../held-rows.ts";
import { sliceBatch } from "../kernels/slice.ts";
import { sortedRows } from "../sort.ts";
import { Sorter } from "../sorter.ts";
import { pieces } from "../spill/pieces.ts";
import type { SpillContext } from "../spill/spill-context.ts";

type WindowNode = Extract<PlanNode, { kind: "window" }>;

/** Bytes a row that sorting takes for each key, that the layout takes, that a call takes for its frames and its result. */
const KEY_BYTES = 8;
const LAYOUT_BYTES = 16;
const CALL_BYTES = 32;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;

/** See the file header. Rows are the reader's to clear; parts come in the order of the partitions. */
export async function* wholePartitions(
  node: WindowNode,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<HeldRows> {
  const { columns } = node.input;
  const held = newRows(node, context);
  const batches = input[Symbol.asyncIterator]();
  try {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      checkCancelled(context);
      if (held.rowCount > 0 && !spill.fits(held.costOf(next.value), context.budget)) {
        const items = [...node.partitionBy, ...node.orderBy];
        const all = chained(held, next.value, batches);
        yield* cut(node, sortedRows({ items, columns, keep: undefined }, all, context, spill), context, spill);
        return;
      }
      if (next.value.rowCount > 0) held.add(next.value);
      await context.pace.turn();
    }
  } finally {
    await batches.return?.();
  }
  if (held.rowCount > 0) yield held;
}

function newRows(node: WindowNode, { budget }: ExecContext): HeldRows {
  const keyCount = node.partitionBy.length + node.orderBy.length;
  return new HeldRows(node.input.columns, budget, LAYOUT_BYTES + keyCount * KEY_BYTES + node.calls.length * CALL_BYTES);
}

/** What is held, the batch at hand, and what follows. */
async function* chained(held: HeldRows, batch: ExecBatch, rest: AsyncIterator<ExecBatch>): AsyncGenerator<ExecBatch> {
  // The batch is valid until the next is asked for, which is behind it.
  yield* held.drain();
  yield batch;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Sorted rows, cut where partitions begin. */
async function* cut(
  node: WindowNode,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<HeldRows> {
  const borders = new Borders(node, context);
  let rows = newRows(node, context);
  let start = 0;
  for await (const batch of input) {
    for (const piece of pieces(batch, spill.rowsOf(rows.costOf(batch), batch.rowCount, PIECES_PER_SHARE))) {
      if (start > 0 && !spill.fits(rows.costOf(piece), context.budget)) {
        const all = rows.joined();
        rows.clear();
        const [whole, begun] = [newRows(node, context), newRows(node, context)];
        whole.add(sliceBatch(all, 0, start));
        if (start < all.rowCount) begun.add(rowsFrom(all, start));
        yield whole;
        whole.clear();
        rows = begun;
        start = 0;
      }
      const border = borders.lastIn(piece);
      if (border >= 0) start = rows.rowCount + border;
      rows.add(piece);
    }
    await context.pace.turn();
  }
  if (rows.rowCount > 0) yield rows;
}

function rowsFrom(batch: Batch, from: number): Batch {
  return sliceBatch(batch, from, batch.rowCount);
}

/** Finds where partitions begin in sorted rows that come batch by batch. */
class Borders {
  private readonly sorter: Sorter;
  private previous: { readonly keys: readonly Vector[]; readonly row: number } | undefined;

  constructor(node: WindowNode, context: ExecContext) {
    this.sorter = new Sorter(node.partitionBy, node.input.columns, context);
  }

  /** The last row of a batch that begins a partition, or -1. */
  lastIn(batch: ExecBatch): number {
    const keys = this.sorter.keysOf(batch);
    const { previous, sorter } = this;
    const last = batch.rowCount - 1;
    this.previous = { keys, row: last };
    if (previous !== undefined && sorter.compare(previous.keys, previous.row, keys, last) === 0) return -1;
    for (let row = last; row > 0; row--) if (sorter.compare(keys, row - 1, keys, row) !== 0) return row;
    return previous === undefined || sorter.compare(previous.keys, previous.row, keys, 0) !== 0 ? 0 : -1;
  }
}
