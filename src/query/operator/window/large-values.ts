/** Values of rows of a partition on disk: at positions that are found out first, and positions of rows that are not NULL. */
import type { Vector } from "../../../column/vector.ts";
import { columnsOf, type TypedExpression } from "../../expression/expression.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import { concat } from "../kernels/concat.ts";
import { sliceBatch } from "../../../column/slice.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import { constantVector } from "../../expression/vector-values.ts";
import { NONE, picked } from "./choose.ts";
import { type LargePartition, numbers, numbersAt } from "./large-partition.ts";
import { presence } from "./presence.ts";

/** Reads an expression at positions. */
export class LargeValues {
  private readonly value: TypedExpression;
  private readonly partition: LargePartition;
  private readonly context: ExecContext;
  private readonly evaluator: VectorEvaluator;
  private readonly needed: ReadonlySet<number>;

  constructor(value: TypedExpression, partition: LargePartition, context: ExecContext) {
    this.value = value;
    this.partition = partition;
    this.context = context;
    this.evaluator = new VectorEvaluator(value, partition.columns, context);
    this.needed = columnsOf(value);
  }

  /**
   * Values at `source`, whose positions do not fall but for `NONE`; there `otherwise` of the same place, or NULL. Positions that lie far
   * from each other are read apart.
   */
  async at(source: Uint32Array, otherwise: Vector | undefined): Promise<Vector> {
    const { type } = this.value;
    const [first, last] = ends(source);
    if (first === NONE) return otherwise ?? constantVector(type, undefined, source.length);
    const count = last + 1 - first;
    if (count > this.partition.chunkRows * 2 && source.length > 1) {
      const half = source.length >>> 1;
      const behind = otherwise === undefined ? undefined : sliceVector(otherwise, half, source.length);
      const parts = [await this.at(source.subarray(0, half), otherwise), await this.at(source.subarray(half), behind)];
      const [left, right] = parts;
      if (left === undefined || right === undefined) return constantVector(type, undefined, source.length);
      return concat(type, [
        { vector: left, rowCount: half },
        { vector: right, rowCount: source.length - half },
      ]);
    }
    checkCancelled(this.context);
    const vector = this.evaluator.vector(await this.partition.read(first, last + 1, this.needed));
    const moved = source.map((row) => (row === NONE ? NONE : row - first));
    return picked(vector, count, moved, otherwise, type);
  }
}

function sliceVector(vector: Vector, from: number, to: number): Vector | undefined {
  return sliceBatch({ rowCount: to, vectors: [vector] }, from, to).vectors[0];
}

/** The first and last position that is one, or `NONE`. */
function ends(source: Uint32Array): readonly [number, number] {
  let [first, last] = [NONE, NONE];
  for (let i = 0; i < source.length; i++) {
    const row = source[i] ?? NONE;
    if (row === NONE) continue;
    if (first === NONE) first = row;
    last = row;
  }
  return [first, last];
}

/** The rows of a partition whose value is not NULL, by their number among each other. */
export class PresentRows {
  private readonly rows: SpilledRows;

  private constructor(rows: SpilledRows) {
    this.rows = rows;
  }

  /** Reads through the whole partition. */
  static async find(value: TypedExpression, partition: LargePartition, context: ExecContext): Promise<PresentRows> {
    const rows = partition.newNumbers();
    const evaluator = new VectorEvaluator(value, partition.columns, context);
    const needed = columnsOf(value);
    for (let from = 0; from < partition.rowCount; from += partition.chunkRows) {
      checkCancelled(context);
      const batch = await partition.read(from, Math.min(partition.rowCount, from + partition.chunkRows), needed);
      const present = presence(evaluator.vector(batch), batch.rowCount);
      const found: number[] = [];
      for (let i = 0; i < batch.rowCount; i++) if (present?.[i] !== 0) found.push(from + i);
      await rows.add({ rowCount: found.length, vectors: [numbers(found)] });
      await context.pace.turn();
    }
    await rows.finish();
    return new PresentRows(rows);
  }

  get count(): number {
    return this.rows.rowCount;
  }

  /** Positions of the rows with these numbers, which do not fall but for `NONE`. */
  async positions(source: Uint32Array): Promise<Uint32Array> {
    const wanted = source.filter((number) => number !== NONE);
    const found = await numbersAt(this.rows, wanted, NONE);
    let at = 0;
    return source.map((number) => (number === NONE ? NONE : (found[at++] ?? NONE)));
  }

  /** Counts how many of the rows lie before positions that do not fall, from one call to the next. */
  counter(chunkRows: number): (positions: Uint32Array) => Promise<Uint32Array> {
    let [before, from] = [0, 0];
    let near: Uint32Array = new Uint32Array(0);
    return async (positions) => {
      const counts = new Uint32Array(positions.length);
      for (let i = 0; i < positions.length; i++) {
        const position = positions[i] ?? 0;
        for (; before < this.count; before++) {
          if (before >= from + near.length) {
            from = before;
            near = await numbersAt(
              this.rows,
              Uint32Array.from({ length: Math.min(chunkRows, this.count - from) }, (_, k) => from + k),
              NONE,
            );
          }
          if ((near[before - from] ?? NONE) >= position) break;
        }
        counts[i] = before;
      }
      return counts;
    };
  }
}
