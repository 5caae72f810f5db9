/**
 * ORDER BY: stable, in memory. With a LIMIT above it, rows that cannot be among the first are thrown away whenever four times as many
 * as wanted have gathered, so memory stays small and the work is O(n log k).
 */
import { assert } from "../../base/assert.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import { compareValues, type Value } from "../function/value.ts";
import type { PlanNode, SortItem } from "../plan/node.ts";
import { VectorEvaluator } from "./evaluator.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { gatherBatch, HeldRows } from "./held-rows.ts";
import { sortedRows, sortKey } from "./kernels/sort-keys.ts";
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
  /** Compares values as they are: the oracle of tests. */
  private readonly isPlain: boolean;

  constructor(items: readonly SortItem[], headers: readonly ColumnHeader[], context: ExecContext) {
    this.isPlain = context.interpretOnly;
    this.items = items;
    this.evaluators = items.map((item) => new VectorEvaluator(item.expression, headers, context));
  }

  /** Row positions in order; equal rows keep theirs. */
  order(batch: Batch): Uint32Array {
    const keys = this.evaluators.map((evaluator, i) => {
      const item = this.items[i];
      assert(item !== undefined, `an item a key; got ${this.items.length}`);
      const vector = evaluator.vector(batch);
      const key = this.isPlain ? undefined : sortKey(vector, batch.rowCount, item, compareTexts);
      return key ?? comparerOf(vector, batch.rowCount, item);
    });
    return sortedRows(batch.rowCount, keys);
  }
}

function compareTexts(a: string, b: string): number {
  return compareValues(a, b);
}

/** Compares rows by values of any kind. */
function comparerOf(vector: Vector, rowCount: number, item: SortItem): (a: number, b: number) => number {
  const values = Array.from({ length: rowCount }, (_, row): Value => scalarAt(vector, item.expression.type, row));
  return (a, b) => compareItem(item, values[a], values[b]);
}
