/**
 * Joins. The right side is read whole and held; rows of the left side stream past it and come out in their order.
 *
 *   build   ids of key values (`RowCodes`); heads[id] → first held row, next[row] → the next one of equal keys
 *   probe   id of each left row's keys → its chain; without keys every held row is a candidate
 *   filter  `residual` over the candidate pairs of some left rows at a time
 *   pair    what is left, each left row in turn; one without a partner is paired with the held row of NULLs behind the others
 */
import { assert } from "../../base/assert.ts";
import type { Batch } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import type { PlanNode } from "../plan/node.ts";
import { FilterEvaluator, VectorEvaluator } from "./evaluator.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { gatherBatch, HeldRows } from "./held-rows.ts";
import { concat } from "./kernels/concat.ts";
import { NO_ROW, RowCodes } from "./row-codes.ts";
import { constantVector } from "./vector-values.ts";

type Join = Extract<PlanNode, { kind: "join" }>;

/** Candidate pairs that are tested and given out at once; more when one row alone has more. */
const PAIRS_MAX = 8192;
/** Bytes that a held row costs in its chain. */
const CHAIN_BYTES = 8;

/** The rows of a join. */
export async function* join(
  node: Join,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const held = await build(node, right, context);
  if (held.rowCount === 0 && (node.join === "inner" || node.join === "semi")) return;
  const leftKeys = node.keys.map((key) => new VectorEvaluator(key.left, node.left.columns, context));
  const pairs = new Pairs(node, held, context);
  for await (const batch of left) {
    checkCancelled(context);
    const ids =
      leftKeys.length === 0
        ? undefined
        : held.codes.find(
            leftKeys.map((key) => key.vector(batch)),
            batch.rowCount,
          );
    for (let row = 0; row < batch.rowCount; ) {
      const end = pairs.collect(ids, row, batch.rowCount);
      const made = pairs.finish(batch, row, end);
      row = end;
      if (made.rowCount > 0) yield made;
      await context.pace.turn();
    }
  }
  if (node.join === "full") yield* leftOver(node, held);
}

/** The right side of a join, and behind its rows one of NULLs. */
interface Held {
  readonly rows: Batch;
  readonly rowCount: number;
  readonly codes: RowCodes;
  readonly heads: Int32Array;
  readonly next: Int32Array;
  /** Which rows found a partner; for full joins. */
  readonly met: Uint8Array;
}

async function build(node: Join, right: AsyncIterable<ExecBatch>, context: ExecContext): Promise<Held> {
  const { columns } = node.right;
  const rows = new HeldRows(columns, context.budget);
  for await (const batch of right) {
    checkCancelled(context);
    if (batch.rowCount > 0) rows.add(batch);
    await context.pace.turn();
  }
  const { rowCount } = rows;
  const all: Batch = rowCount === 0 ? { rowCount, vectors: columns.map(({ type }) => constantVector(type, undefined, 0)) } : rows.joined();
  const codes = new RowCodes(
    node.keys.map((key) => key.right.type),
    false,
    context.budget.reserve,
  );
  context.budget.reserve(rowCount * CHAIN_BYTES);
  const next = new Int32Array(rowCount).fill(NO_ROW);
  const keys = node.keys.map((key) => new VectorEvaluator(key.right, columns, context).vector(all));
  const ids = keys.length === 0 ? undefined : codes.add(keys, rowCount);
  const heads = new Int32Array(codes.size).fill(NO_ROW);
  // From the last row to the first, so that chains ascend.
  for (let row = rowCount - 1; ids !== undefined && row >= 0; row--) {
    const id = ids[row] ?? 0;
    if (id === NO_ROW) continue;
    next[row] = heads[id] ?? 0;
    heads[id] = row;
  }
  const padded: Batch = {
    rowCount: rowCount + 1,
    vectors: columns.map(({ type }, c) => {
      const vector = all.vectors[c];
      const nulls = { vector: constantVector(type, undefined, 1), rowCount: 1 };
      return vector === undefined || rowCount === 0 ? nulls.vector : concat(type, [{ vector, rowCount }, nulls]);
    }),
  };
  return { rows: padded, rowCount, codes, heads, next, met: new Uint8Array(node.join === "full" ? rowCount : 0) };
}

/** Pairs of some rows of one left batch. */
class Pairs {
  private left = new Uint32Array(PAIRS_MAX);
  private right = new Uint32Array(PAIRS_MAX);
  private count = 0;
  private readonly node: Join;
  private readonly held: Held;
  private readonly residual: FilterEvaluator | undefined;

  constructor(node: Join, held: Held, context: ExecContext) {
    this.node = node;
    this.held = held;
    const columns = [...node.left.columns, ...node.right.columns];
    this.residual = node.residual === undefined ? undefined : new FilterEvaluator(node.residual, columns, context);
  }

  /** Collects the candidates of rows `[from, end)` and gives `end`: at least one row. */
  collect(ids: Int32Array | undefined, from: number, to: number): number {
    const { heads, next, rowCount } = this.held;
    // A semi or anti join asks whether there is a partner, so without a residual one candidate will do.
    const one = this.residual === undefined && (this.node.join === "semi" || this.node.join === "anti");
    this.count = 0;
    let row = from;
    for (; row < to; row++) {
      if (ids === undefined) {
        const candidates = one ? Math.min(rowCount, 1) : rowCount;
        if (this.count > 0 && this.count + candidates > PAIRS_MAX) break;
        for (let partner = 0; partner < candidates; partner++) this.push(row, partner);
        continue;
      }
      if (this.count >= PAIRS_MAX) break;
      const id = ids[row] ?? 0;
      for (let partner = id === NO_ROW ? NO_ROW : (heads[id] ?? 0); partner !== NO_ROW; partner = next[partner] ?? 0) {
        this.push(row, partner);
        if (one) break;
      }
    }
    return row;
  }

  private push(row: number, partner: number): void {
    if (this.count === this.left.length) {
      this.left = doubled(this.left);
      this.right = doubled(this.right);
    }
    this.left[this.count] = row;
    this.right[this.count++] = partner;
  }

  /** What the join gives for rows `[from, to)` of a left batch. */
  finish(batch: ExecBatch, from: number, to: number): ExecBatch {
    const kept = this.keep(batch);
    switch (this.node.join) {
      case "inner":
        return this.gathered(batch, kept);
      case "semi":
      case "anti":
        return this.filtered(batch, kept, from, to);
      case "left":
      case "full":
        return this.gathered(batch, this.withNulls(kept, from, to));
    }
  }

  /** Drops the candidates that the residual refuses; notes which held rows have met. */
  private keep(batch: ExecBatch): number {
    if (this.residual !== undefined && this.count > 0) {
      const { selection, count } = this.residual.select(this.gathered(batch, this.count));
      for (let i = 0; i < count; i++) {
        const at = selection[i] ?? 0;
        this.left[i] = this.left[at] ?? 0;
        this.right[i] = this.right[at] ?? 0;
      }
      this.count = count;
    }
    if (this.node.join === "full") for (let i = 0; i < this.count; i++) this.held.met[this.right[i] ?? 0] = 1;
    return this.count;
  }

  private gathered(batch: ExecBatch, count: number): ExecBatch {
    const own = gatherBatch(batch, this.left, count).vectors;
    return { rowCount: count, vectors: [...own, ...gatherBatch(this.held.rows, this.right, count).vectors] };
  }

  /** The left rows that have a partner, or have none. */
  private filtered(batch: ExecBatch, count: number, from: number, to: number): ExecBatch {
    const wanted = this.node.join === "semi";
    const selection = new Uint32Array(to - from);
    let [kept, at] = [0, 0];
    for (let row = from; row < to; row++) {
      const found = at < count && this.left[at] === row;
      while (at < count && this.left[at] === row) at++;
      if (found === wanted) selection[kept++] = row;
    }
    return gatherBatch(batch, selection, kept);
  }

  /** Adds a pair with the row of NULLs for each left row without a partner, in its place; gives the number of pairs. */
  private withNulls(count: number, from: number, to: number): number {
    const [left, right] = [this.left.slice(0, count), this.right.slice(0, count)];
    this.count = 0;
    let at = 0;
    for (let row = from; row < to; row++) {
      if (at >= count || left[at] !== row) this.push(row, this.held.rowCount);
      for (; at < count && left[at] === row; at++) this.push(row, right[at] ?? 0);
    }
    return this.count;
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(array.length * 2);
  grown.set(array);
  return grown;
}

/** The held rows that no left row met, with NULLs on the left. */
function* leftOver(node: Join, { rows, rowCount, met }: Held): Iterable<ExecBatch> {
  assert(met.length === rowCount, `a full join notes all ${rowCount} rows; got ${met.length}`);
  const selection = new Uint32Array(PAIRS_MAX);
  for (let row = 0; row < rowCount; ) {
    let count = 0;
    for (; row < rowCount && count < PAIRS_MAX; row++) if (met[row] === 0) selection[count++] = row;
    if (count === 0) return;
    const nulls = node.left.columns.map(({ type }): Vector => constantVector(type, undefined, count));
    yield { rowCount: count, vectors: [...nulls, ...gatherBatch(rows, selection, count).vectors] };
  }
}
