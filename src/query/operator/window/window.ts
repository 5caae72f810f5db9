/**
 * The window operator: holds its rows, sorts them by partition and order, and gives them out in that order, chunk by chunk, with a column
 * for each call. Rows that do not fit in memory are sorted over the disk, and some whole partitions are held at a time; one that alone does
 * not fit stays there. Calls are the same over either (`sorted-rows.ts`).
 */
import type { Vector } from "../../../column/vector.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { SpillContext } from "../spill/spill-context.ts";
import { HeldRows } from "../rows/held-rows.ts";
import { callsOver, type ChunkCall } from "./calls.ts";
import { HeldPartitions } from "./held-partitions.ts";
import { type Chunk, chunkAfter, type WindowPlan } from "./sorted-rows.ts";
import { wholePartitions } from "./whole-partitions.ts";

/** Rows of partitions that are in memory with a column more for each call. */
type OverHeld = (rows: HeldRows, node: WindowPlan, context: ExecContext) => Promise<ExecBatch>;

/**
 * The rows of `input`, sorted, with a column more for each call. One generator, not those of `holding` around it: each takes 1 µs of the 20
 * that a window over ten rows takes.
 *
 * @param overHeld what does it in memory; undefined: what is below
 */
export async function* window(
  node: WindowPlan,
  input: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  overHeld?: OverHeld,
): AsyncGenerator<ExecBatch> {
  const budget = shared.budget.part("window");
  const context = { ...shared, budget };
  const spill = new SpillContext(node, context);
  try {
    for await (const rows of wholePartitions(node, input, context, spill)) {
      const isHeld = rows instanceof HeldRows;
      const others = budget.used - (isHeld ? rows.bytesHeld : 0);
      if (isHeld && overHeld !== undefined) yield await overHeld(rows, node, context);
      else {
        const sorted = isHeld ? await HeldPartitions.of(node, rows, context) : rows;
        const calls = callsOver(node, sorted, context);
        for (let chunk = await chunkAfter(sorted, undefined); chunk !== undefined; chunk = await chunkAfter(sorted, chunk)) {
          yield computed(chunk, calls, context);
        }
      }
      if (isHeld) rows.clear();
      budget.release(budget.used - others); // what calls counted
    }
  } finally {
    budget.close();
    await spill.close();
  }
}

/** A chunk with a column more for each call. */
async function computed(chunk: Chunk, calls: readonly ChunkCall[], context: ExecContext): Promise<ExecBatch> {
  const { rowCount, vectors } = chunk.batch;
  const all: Vector[] = [...vectors];
  for (const call of calls) {
    checkCancelled(context);
    const added = call(chunk);
    all.push(added instanceof Promise ? await added : added);
    if (context.pace.isDue()) await context.pace.turn();
  }
  return { rowCount, vectors: all };
}
