/** The order of rows under ORDER BY items. */
import { assert } from "../../../base/assert.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Value } from "../../function/value/value.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { atOnce, inTurns } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { compareRows, type RowKey, rowKeys } from "../kernels/row-keys.ts";
import { ORDER_KEY_BYTES, ORDER_ROW_BYTES, orderOfRows } from "../kernels/row-order.ts";
import { comparedOrder } from "../kernels/sort-keys.ts";
import { compareItem } from "./row-accumulator.ts";
import { gatherBatch } from "./held-rows.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** Values that are read before others get a turn: texts take about 200 ns each. */
const VALUES_PER_STEP = 16_384;

/** Keys of the rows of a batch, which compare with those of others. */
export interface BatchKeys {
  readonly vectors: readonly Vector[];
  /** Undefined where values are compared as they are. */
  readonly keys: readonly RowKey[] | undefined;
}

/** Sorts batches, and compares rows of several. */
export class Sorter {
  private readonly items: readonly SortItem[];
  private readonly evaluators: readonly VectorEvaluator[];
  /** Compares values as they are: the oracle of tests. */
  private readonly isPlain: boolean;

  constructor(items: readonly SortItem[], headers: readonly ColumnHeader[], context: ExecContext) {
    this.isPlain = context.interpretOnly;
    this.items = items;
    this.evaluators = items.map((item) => new VectorEvaluator(item.expression, headers, context));
  }

  /** Whether rows have keys that `split` compares, and are not compared by their values. */
  get hasKeys(): boolean {
    return !this.isPlain;
  }

  /** Bytes that sorting takes for a row beside its values. */
  get rowBytes(): number {
    return ORDER_ROW_BYTES + ORDER_KEY_BYTES * this.items.length;
  }

  /** The keys of a batch. They are as long valid as the batch. */
  keysOf(batch: Batch): BatchKeys {
    return this.keysOfValues(this.valuesOf(batch));
  }

  /** What a batch is sorted by, a column an item. They are as long valid as the batch. */
  valuesOf(batch: Batch): Batch {
    return { rowCount: batch.rowCount, vectors: this.evaluators.map((evaluator) => evaluator.vector(batch)) };
  }

  /** The keys of what `valuesOf` gave. */
  keysOfValues({ rowCount, vectors }: Batch): BatchKeys {
    if (this.isPlain) return { vectors, keys: undefined };
    return { vectors, keys: vectors.flatMap((vector, i) => this.keysOfItem(i, vector, rowCount)) };
  }

  /** The order of what `valuesOf` gave, where rows have keys. @throws DbError Cancelled */
  async orderedValues(values: Batch, context: ExecContext): Promise<Uint32Array> {
    return inTurns(orderOfRows(this.keysOfValues(values).keys ?? [], values.rowCount), context);
  }

  private keysOfItem(i: number, vector: Vector, rowCount: number): readonly RowKey[] {
    const item = this.items[i];
    assert(item !== undefined, `an item a key; got ${this.items.length}`);
    return rowKeys(vector, item.expression.type, rowCount, item);
  }

  /** Row positions in order; equal rows keep theirs. Of few rows: nothing else gets a turn. */
  order(batch: Batch): Uint32Array {
    return atOnce(this.steps(batch, 0, batch.rowCount));
  }

  /** As `order`, of any number of rows: those that come to places `[from, to)`. @throws DbError Cancelled */
  async ordered(batch: Batch, context: ExecContext, from: number = 0, to: number = batch.rowCount): Promise<Uint32Array> {
    return inTurns(this.steps(batch, from, to), context);
  }

  private *steps(batch: Batch, from: number, to: number): Generator<void, Uint32Array> {
    if (this.isPlain) return (yield* this.compared(batch)).subarray(from, to);
    const keys: RowKey[] = [];
    for (const [i, evaluator] of this.evaluators.entries()) {
      const vector = evaluator.vector(batch);
      yield;
      keys.push(...this.keysOfItem(i, vector, batch.rowCount));
      yield;
    }
    return yield* orderOfRows(keys, batch.rowCount, from, to);
  }

  private *compared(batch: Batch): Generator<void, Uint32Array> {
    const columns: (readonly Value[])[] = [];
    for (const [i, evaluator] of this.evaluators.entries()) {
      columns.push(yield* valuesOf(evaluator.vector(batch), batch.rowCount, this.items[i]));
    }
    const { items } = this;
    return yield* comparedOrder(batch.rowCount, (a, b) => {
      for (const [i, item] of items.entries()) {
        const order = compareItem(item, columns[i]?.[a], columns[i]?.[b]);
        if (order !== 0) return order;
      }
      return 0;
    });
  }

  /** The keys of one row, on memory of their own: what other rows are to come before. Undefined where values are compared as they are. */
  boundAt(batch: Batch, row: number): BatchKeys | undefined {
    return this.isPlain ? undefined : this.keysOf(gatherBatch(batch, Uint32Array.of(row), 1));
  }

  /** Positions of the rows of a batch that come before a bound, ascending. */
  before(batch: Batch, { keys: bound }: BatchKeys): Uint32Array {
    const { keys } = this.keysOf(batch);
    const selection = new Uint32Array(batch.rowCount);
    let count = 0;
    if (keys === undefined || bound === undefined) return selection.map((_, row) => row);
    for (let row = 0; row < batch.rowCount; row++) if (compareRows(keys, row, bound, 0) < 0) selection[count++] = row;
    return selection.subarray(0, count);
  }

  /** How many rows of a batch come before `low`, and positions of those that neither do nor come behind `high`. Either may be absent. */
  split(batch: Batch, low: BatchKeys | undefined, high: BatchKeys | undefined): { readonly before: number; readonly within: Uint32Array } {
    const { keys } = this.keysOf(batch);
    assert(keys !== undefined, "rows have keys");
    const selection = new Uint32Array(batch.rowCount);
    let [before, count] = [0, 0];
    for (let row = 0; row < batch.rowCount; row++) {
      if (low?.keys !== undefined && compareRows(keys, row, low.keys, 0) < 0) before++;
      else if (high?.keys === undefined || compareRows(keys, row, high.keys, 0) <= 0) selection[count++] = row;
    }
    return { before, within: selection.subarray(0, count) };
  }

  /** The order of row `x` of one batch and row `y` of another by their keys: negative, 0 or positive. */
  compare(a: BatchKeys, x: number, b: BatchKeys, y: number): number {
    if (a.keys !== undefined && b.keys !== undefined) return compareRows(a.keys, x, b.keys, y);
    for (const [i, item] of this.items.entries()) {
      const [left, right] = [a.vectors[i], b.vectors[i]];
      if (left === undefined || right === undefined) continue;
      const { type } = item.expression;
      const order = compareItem(item, valueAt(left, type, x), valueAt(right, type, y));
      if (order !== 0) return order;
    }
    return 0;
  }
}

function* valuesOf(vector: Vector, rowCount: number, item: SortItem | undefined): Generator<void, readonly Value[]> {
  const values: Value[] = [];
  const type = item?.expression.type ?? { kind: "null" };
  for (let row = 0; row < rowCount; row++) {
    values.push(valueAt(vector, type, row));
    if (row % VALUES_PER_STEP === VALUES_PER_STEP - 1) yield;
  }
  return values;
}
