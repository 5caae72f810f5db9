/** The order of rows under ORDER BY items. */
import { assert } from "../../../base/assert.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { compareValues, type Value } from "../../function/value/value.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { atOnce, inTurns } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { type RowOrderKey, sortKey, sortSteps } from "../kernels/sort-keys.ts";
import { compareItem } from "./row-accumulator.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** Values that are read before others get a turn: texts take about 200 ns each. */
const VALUES_PER_STEP = 16_384;

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

  /** The vectors of the items over a batch. */
  keysOf(batch: Batch): readonly Vector[] {
    return this.evaluators.map((evaluator) => evaluator.vector(batch));
  }

  /** Row positions in order; equal rows keep theirs. Of few rows: nothing else gets a turn. */
  order(batch: Batch): Uint32Array {
    return atOnce(this.steps(batch));
  }

  /** As `order`, of any number of rows. @throws DbError Cancelled */
  async ordered(batch: Batch, context: ExecContext): Promise<Uint32Array> {
    return inTurns(this.steps(batch), context);
  }

  private *steps(batch: Batch): Generator<void, Uint32Array> {
    const keys: RowOrderKey[] = [];
    for (const [i, evaluator] of this.evaluators.entries()) {
      const item = this.items[i];
      assert(item !== undefined, `an item a key; got ${this.items.length}`);
      const vector = evaluator.vector(batch);
      yield;
      const key = this.isPlain ? undefined : sortKey(vector, batch.rowCount, item, compareTexts);
      keys.push(key ?? (yield* comparerOf(vector, batch.rowCount, item)));
      yield;
    }
    return yield* sortSteps(batch.rowCount, keys);
  }

  /** The order of row `x` of one batch and row `y` of another by their keys: negative, 0 or positive. */
  compare(a: readonly Vector[], x: number, b: readonly Vector[], y: number): number {
    for (const [i, item] of this.items.entries()) {
      const [left, right] = [a[i], b[i]];
      if (left === undefined || right === undefined) continue;
      const { type } = item.expression;
      const order = compareItem(item, valueAt(left, type, x), valueAt(right, type, y));
      if (order !== 0) return order;
    }
    return 0;
  }
}

function compareTexts(a: string, b: string): number {
  return compareValues(a, b);
}

/** Compares rows by values of any kind, which are read first. */
function* comparerOf(vector: Vector, rowCount: number, item: SortItem): Generator<void, (a: number, b: number) => number> {
  const values: Value[] = [];
  for (let row = 0; row < rowCount; row++) {
    values.push(valueAt(vector, item.expression.type, row));
    if (row % VALUES_PER_STEP === VALUES_PER_STEP - 1) yield;
  }
  return (a, b) => compareItem(item, values[a], values[b]);
}
