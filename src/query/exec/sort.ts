/**
 * ORDER BY: stable, in memory. With a LIMIT above it, rows that cannot be among the first are thrown away whenever four times as many
 * as wanted have gathered, so memory stays small and the work is O(n log k).
 */
import { scalarAt } from "../../column/scalar.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { Value } from "../function/value.ts";
import type { PlanNode, SortItem } from "../plan/node.ts";
import { VectorEvaluator } from "./evaluator.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { gatherBatch, HeldRows } from "./held-rows.ts";
import { compareItem } from "./row-accumulator.ts";

/** Rows of a batch that a sort gives out. */
const BATCH_ROWS = 8192;
/** Fewest rows gathered before a top-N throws away. */
const GATHERED_MIN = 4096;

/** The rows of `input` in order. */
export async function* sort(
  node: Extract<PlanNode, { kind: "sort" }>,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const { keep } = node;
  if (keep === 0) return;
  const rows = new HeldRows(node.columns, context.budget);
  const sorter = new Sorter(node.items, node.columns, context);
  const most = keep === undefined ? Number.POSITIVE_INFINITY : Math.max(keep * 4, GATHERED_MIN);
  for await (const batch of input) {
    checkCancelled(context);
    if (batch.rowCount > 0) rows.add(batch);
    if (keep !== undefined && rows.rowCount > most) rows.keep(sorter.order(rows.joined()), keep);
    await context.pace.turn();
  }
  if (rows.rowCount === 0) return;
  const all = rows.joined();
  const order = sorter.order(all);
  const count = Math.min(keep ?? all.rowCount, all.rowCount);
  for (let at = 0; at < count; at += BATCH_ROWS) {
    const part = order.subarray(at, Math.min(at + BATCH_ROWS, count));
    yield gatherBatch(all, part, part.length);
    await context.pace.turn();
  }
}

class Sorter {
  private readonly items: readonly SortItem[];
  private readonly evaluators: readonly VectorEvaluator[];

  constructor(items: readonly SortItem[], headers: readonly ColumnHeader[], context: ExecContext) {
    this.items = items;
    this.evaluators = items.map((item) => new VectorEvaluator(item.expression, headers, context));
  }

  /** Row positions in order; equal rows keep theirs. */
  order(batch: Batch): Uint32Array {
    const { items } = this;
    const keys = this.evaluators.map((evaluator, i) => {
      const type = items[i]?.expression.type ?? { kind: "null" };
      const vector = evaluator.vector(batch);
      return Array.from({ length: batch.rowCount }, (_, row): Value => scalarAt(vector, type, row));
    });
    const rows = Uint32Array.from({ length: batch.rowCount }, (_, i) => i);
    return rows.sort((a, b) => {
      for (let k = 0; k < items.length; k++) {
        const item = items[k];
        const values = keys[k];
        const order = item === undefined || values === undefined ? 0 : compareItem(item, values[a], values[b]);
        if (order !== 0) return order;
      }
      return a - b;
    });
  }
}
