/**
 * The input of a window operator in parts that are whole partitions: all of it at once where it fits in memory; else it is sorted over the
 * disk, and as many partitions as fit come at a time. One that alone does not fit comes as rows on disk.
 */
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { HeldRows } from "../rows/held-rows.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { type BatchKeys, Sorter } from "../rows/sorter.ts";
import { heldOrSorted } from "../sort/held-or-sorted.ts";
import { pieces } from "../rows/pieces.ts";
import type { SpillContext } from "../spill/spill-context.ts";
import { LargePartition } from "./large-partition.ts";
import type { WindowPlan } from "./sorted-rows.ts";

/** Bytes a row that the layout and the order take; that sorting takes for each key; that a call may take for its frames. */
const LAYOUT_BYTES = 16;
const KEY_BYTES = 9;
const CALL_BYTES = 32;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;

/** See the file header. Rows in memory are the reader's to clear, partitions on disk are not; parts come in the order of the partitions. */
export function wholePartitions(
  node: WindowPlan,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<HeldRows | LargePartition> {
  const held = newRows(node, context);
  const order = { items: [...node.partitionBy, ...node.orderBy], columns: node.input.columns };
  return heldOrSorted<HeldRows | LargePartition>(order, held, input, context, spill, {
    held: () => (held.rowCount > 0 ? [held] : []),
    sorted: (rows) => cut(node, rows, context, spill),
  });
}

function newRows(node: WindowPlan, { budget }: ExecContext): HeldRows {
  return new HeldRows(node.input.columns, budget, LAYOUT_BYTES + laterBytes(node));
}

/** Bytes that are counted for a row so that there is room for sorting, and then for calls, which count what they hold themselves. */
export function laterBytes({ partitionBy, orderBy, calls }: WindowPlan): number {
  return (partitionBy.length + orderBy.length) * KEY_BYTES + calls.length * CALL_BYTES;
}

/** Sorted rows, cut where partitions begin. A partition that does not fit in memory stays on disk. */
async function* cut(
  node: WindowPlan,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<HeldRows | LargePartition> {
  const borders = new Borders(node, context);
  const gathered = new Gathered(node, context, spill);
  for await (const batch of input) {
    for (const piece of pieces(batch, spill.rowsOf(gathered.costOf(batch), batch.rowCount, PIECES_PER_SHARE))) {
      yield* gathered.take(piece, borders.in(piece));
    }
    await context.pace.turn();
  }
  yield* gathered.end();
}

/** Rows of the partitions that come next: in memory, from `start` on those of one that has just begun; or all of one, on disk. */
class Gathered {
  private readonly node: WindowPlan;
  private readonly context: ExecContext;
  private readonly spill: SpillContext;
  private rows: HeldRows;
  private start = 0;
  private large: LargePartition | undefined;

  constructor(node: WindowPlan, context: ExecContext, spill: SpillContext) {
    this.node = node;
    this.context = context;
    this.spill = spill;
    this.rows = newRows(node, context);
  }

  costOf(batch: ExecBatch): number {
    return this.rows.costOf(batch);
  }

  /** Takes further rows; gives the partitions that go before them where there is no room for all. */
  async *take(piece: ExecBatch, { first, last }: BordersOf): AsyncGenerator<HeldRows | LargePartition> {
    let [rest, border] = [piece, last];
    if (this.large === undefined && this.rows.rowCount > 0 && !this.spill.fits(this.rows.costOf(piece), this.context.budget)) {
      if (this.start > 0) yield* this.wholeOnes();
      else await this.park();
    }
    if (this.large !== undefined) {
      const to = first < 0 ? piece.rowCount : first;
      await this.large.add(sliceBatch(piece, 0, to));
      if (first < 0) return;
      yield* this.end();
      rest = sliceBatch(piece, first, piece.rowCount);
      border = last - first;
    }
    if (border >= 0) this.start = this.rows.rowCount + border;
    this.rows.add(rest);
  }

  /** Gives what is left. */
  async *end(): AsyncGenerator<HeldRows | LargePartition> {
    const { large } = this;
    if (large !== undefined) {
      this.large = undefined;
      await large.finish();
      yield large;
      await large.drop();
    } else if (this.rows.rowCount > 0) yield this.rows;
  }

  /** Gives all partitions but the one that has begun. */
  private async *wholeOnes(): AsyncGenerator<HeldRows> {
    const all = await this.rows.joinedInTurns(this.context);
    this.rows.clear();
    const [whole, begun] = [newRows(this.node, this.context), newRows(this.node, this.context)];
    whole.add(sliceBatch(all, 0, this.start));
    if (this.start < all.rowCount) begun.add(sliceBatch(all, this.start, all.rowCount));
    this.rows = begun;
    this.start = 0;
    yield whole;
    whole.clear();
  }

  /** Moves the rows of the partition that has begun to disk. */
  private async park(): Promise<void> {
    this.large = await LargePartition.create(this.node, this.context, this.spill);
    for (const part of this.rows.drain()) {
      checkCancelled(this.context);
      await this.large.add(part);
      await this.context.pace.turn();
    }
  }
}

/** The first and the last row of a batch that begin a partition, or -1. */
interface BordersOf {
  readonly first: number;
  readonly last: number;
}

/** Finds where partitions begin in sorted rows that come batch by batch. */
class Borders {
  private readonly sorter: Sorter;
  private previous: { readonly keys: BatchKeys; readonly row: number } | undefined;

  constructor(node: WindowPlan, context: ExecContext) {
    this.sorter = new Sorter(node.partitionBy, node.input.columns, context);
  }

  /** Borders of the next batch. */
  in(batch: ExecBatch): BordersOf {
    const keys = this.sorter.keysOf(batch);
    const { previous, sorter } = this;
    const end = batch.rowCount;
    this.previous = { keys, row: end - 1 };
    const isBorder = (row: number): boolean =>
      row > 0
        ? sorter.compare(keys, row - 1, keys, row) !== 0
        : previous === undefined || sorter.compare(previous.keys, previous.row, keys, 0) !== 0;
    // Rows are sorted: between two of one partition lies no border.
    const isOne = end > 0 && sorter.compare(keys, 0, keys, end - 1) === 0;
    if (isOne) return isBorder(0) ? { first: 0, last: 0 } : { first: -1, last: -1 };
    let [first, last] = [0, end - 1];
    while (first < end && !isBorder(first)) first++;
    while (last > first && !isBorder(last)) last--;
    return { first, last };
  }
}
