/**
 * Sorted runs on disk merged into one order, block by block.
 *
 *   1. each run has one block in memory; the run whose block ends first in the order bounds the step
 *   2. of every run, the rows up to that bound can come out now (found by halving); they are joined and sorted with the loops that sort
 *      any batch
 *   3. runs whose block is used up read the next
 *
 * Equal rows come out in the order of the runs, which is that of the input: of runs before the bounding one, rows equal to the bound come
 * out too; of those behind it they wait, since more of the bounding run may follow.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { sliceBatch } from "../../../column/slice.ts";
import type { BatchKeys, Sorter } from "../rows/sorter.ts";
import { oneBatch } from "./concat-batches.ts";
import type { SpilledRows } from "./spilled-rows.ts";

/** How rows are ordered, and of what columns they are. */
export interface RunOrder {
  readonly sorter: Sorter;
  readonly columns: readonly ColumnHeader[];
}

/** The block of a run that is being used up. */
interface Cursor {
  readonly blocks: AsyncGenerator<ExecBatch>;
  batch: ExecBatch;
  /** Made once a block. */
  keys: BatchKeys;
  at: number;
}

const NO_KEYS: BatchKeys = { vectors: [], keys: [] };

/** The rows of all runs in order. Batches are the reader's own. */
export async function* mergeRuns(runs: readonly SpilledRows[], order: RunOrder, context: ExecContext): AsyncGenerator<ExecBatch> {
  let cursors: Cursor[] = [];
  for (const run of runs) {
    const cursor: Cursor = { blocks: run.read(), batch: { rowCount: 0, vectors: [] }, keys: NO_KEYS, at: 0 };
    if (await advance(cursor, order.sorter)) cursors.push(cursor);
  }
  while (cursors.length > 0) {
    checkCancelled(context);
    const taken = step(cursors, order.sorter);
    const all = oneBatch(order.columns, taken);
    yield taken.length === 1 ? all : gatherBatch(all, order.sorter.order(all), all.rowCount);
    const left: Cursor[] = [];
    for (const cursor of cursors) {
      if (cursor.at < cursor.batch.rowCount || (await advance(cursor, order.sorter))) left.push(cursor);
    }
    cursors = left;
    await context.pace.turn();
  }
}

/** Reads the next block; false when there is none. */
async function advance(cursor: Cursor, sorter: Sorter): Promise<boolean> {
  const next = await cursor.blocks.next();
  if (next.done === true) return false;
  cursor.batch = next.value;
  cursor.keys = sorter.keysOf(next.value);
  cursor.at = 0;
  return true;
}

/** Takes the rows that can come out, at least those of one block, run by run. */
function step(cursors: readonly Cursor[], sorter: Sorter): readonly ExecBatch[] {
  const [first, ...others] = cursors;
  if (first === undefined) return [];
  let bound = first;
  let owner = 0;
  for (const [i, cursor] of others.entries()) {
    if (sorter.compare(cursor.keys, cursor.batch.rowCount - 1, bound.keys, bound.batch.rowCount - 1) >= 0) continue;
    bound = cursor;
    owner = i + 1;
  }
  const taken: ExecBatch[] = [];
  for (const [i, cursor] of cursors.entries()) {
    const end = i === owner ? cursor.batch.rowCount : endOf(cursor, bound, i < owner, sorter);
    if (end > cursor.at) taken.push(sliceBatch(cursor.batch, cursor.at, end));
    cursor.at = end;
  }
  return taken;
}

/** The first row of a block that is beyond the last of `bound`: behind it, or unless `withEqual` equal to it. */
function endOf(cursor: Cursor, bound: Cursor, withEqual: boolean, sorter: Sorter): number {
  const last = bound.batch.rowCount - 1;
  let low = cursor.at;
  let high = cursor.batch.rowCount;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = sorter.compare(cursor.keys, middle, bound.keys, last);
    if (order < 0 || (withEqual && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
