/**
 * The pairs of a join whose held side is in memory.
 *
 *   build   ids of key values (`KeyTable`); heads[id] → first held row, next[row] → the next one of equal keys
 *   probe   id of each streaming row's keys → its chain; without keys every held row is a candidate
 *   filter  `residual` over the candidate pairs of some streaming rows at a time
 *   pair    what is left, each streaming row in turn; of outer joins, one without a partner is paired with the held row of NULLs behind
 *           the others; of semi and anti joins whose left side is held, its rows come out at the end
 */
import { assert } from "../../../base/assert.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { PlanNode } from "../contract/node.ts";
import { FilterEvaluator, VectorEvaluator, vectorsOf } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { type Join, otherSide, type Side } from "./join-sides.ts";
import { concat } from "../kernels/concat.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { KeyTable, NO_ROW } from "../group-keys/key-table.ts";
import { takesLong } from "../rows/short-pieces.ts";
import { pieces } from "../rows/pieces.ts";
import { constantVector } from "../../expression/vector-values.ts";

/** Candidate pairs that are tested and given out at once. Reason: one row may have as many candidates as there are rows. */
const PAIRS_MAX = 8192;
/** The same at first where the condition takes long for one, and the milliseconds below and above which there are more and fewer. */
const LONG_PAIRS = 16;
const QUICK_MS = 1;
const LONG_MS = 8;
/** Rows whose keys are looked up before others get a turn: each key takes about 100 ns a row. */
const PIECE_ROWS = 16_384;

/**
 * The pairs of streaming rows with held ones.
 *
 * @param met of a join in several passes: takes a 1 for each streaming row that met, counted over all batches; what depends on there being
 *   no partner at all is then left to `unmet`
 */
export async function* probe(
  node: Join,
  streaming: AsyncIterable<ExecBatch>,
  held: Held,
  context: ExecContext,
  met?: Uint8Array,
): AsyncGenerator<ExecBatch> {
  const own = otherSide(held.side);
  const ownKeys = node.keys.map((key) => new VectorEvaluator(key[own], node[own].columns, context));
  const pairs = new Pairs(node, held, context, met);
  for await (const batch of streaming) {
    for (const piece of pieces(batch, PIECE_ROWS)) {
      checkCancelled(context);
      // Before its work, since pairs go on to joins above before any work after it: of 200, each makes the code of its keys first.
      await context.pace.turn();
      const keys = await vectorsOf(ownKeys, piece);
      yield* pairs.of(piece, keys.length === 0 ? undefined : held.table.find(keys, piece.rowCount), context);
    }
  }
  if (node.join === "full") yield* leftOver(node, held);
  else if (held.side === "left" && asksOnly(node)) yield* notedRows(held, node.join === "semi" ? 1 : 0);
}

/** Whether a join gives rows of the left side alone. */
const asksOnly = (node: Join): boolean => node.join === "semi" || node.join === "anti";

/** The held side of a join, and behind its rows one of NULLs. */
export interface Held {
  readonly side: Side;
  readonly rows: Batch;
  readonly rowCount: number;
  readonly table: KeyTable;
  readonly heads: Int32Array;
  readonly next: Int32Array;
  /** Which rows found a partner; for full joins, and for semi and anti joins whose left side is held. */
  readonly met: Uint8Array;
}

/** Finds the partners of held rows. @throws DbError RuntimeResourcesExhausted, Cancelled */
export async function build(node: Join, side: Side, all: Batch, context: ExecContext): Promise<Held> {
  const { columns } = node[side];
  const { rowCount } = all;
  const types = node.keys.map((key) => key[side].type);
  const table = new KeyTable(types, { nullsMatch: false }, context.budget.reserve);
  const next = new Int32Array(rowCount).fill(NO_ROW);
  const keys = node.keys.map((key) => new VectorEvaluator(key[side], columns, context));
  const ids = keys.length === 0 ? undefined : new Int32Array(rowCount);
  for (let at = 0; ids !== undefined && at < rowCount; at += PIECE_ROWS) {
    checkCancelled(context);
    const part = sliceBatch(all, at, Math.min(rowCount, at + PIECE_ROWS));
    ids.set(table.add(await vectorsOf(keys, part), part.rowCount), at);
    await context.pace.turn();
  }
  const heads = new Int32Array(table.size).fill(NO_ROW);
  // From the last row to the first, so that chains ascend.
  for (let row = rowCount - 1; ids !== undefined && row >= 0; row--) {
    const id = ids[row] as number;
    if (id === NO_ROW) continue;
    next[row] = heads[id] as number;
    heads[id] = row;
  }
  const padded: Batch = { rowCount: rowCount + 1, vectors: await withNullRow(all, columns, context) };
  const isNoted = node.join === "full" || (side === "left" && asksOnly(node));
  return { side, rows: padded, rowCount, table, heads, next, met: new Uint8Array(isNoted ? rowCount : 0) };
}

/** The columns of a batch with a row of NULLs behind the others. */
async function withNullRow({ vectors, rowCount }: Batch, columns: PlanNode["columns"], context: ExecContext): Promise<readonly Vector[]> {
  const made: Vector[] = [];
  for (const [c, { type }] of columns.entries()) {
    const vector = vectors[c];
    const nulls = { vector: constantVector(type, undefined, 1), rowCount: 1 };
    made.push(vector === undefined || rowCount === 0 ? nulls.vector : concat(type, [{ vector, rowCount }, nulls]));
    await context.pace.turn();
  }
  return made;
}

/** Pairs of some rows of one streaming batch: row `own[i]` of it with row `partner[i]` of those held. */
class Pairs {
  private own = new Uint32Array(PAIRS_MAX);
  private partner = new Uint32Array(PAIRS_MAX);
  private count = 0;
  private readonly node: Join;
  private readonly held: Held;
  private readonly residual: FilterEvaluator | undefined;
  private readonly met: Uint8Array | undefined;
  /** The next candidate of a row whose candidates are too many for once, and whether it has met one before. */
  private resumed = NO_ROW;
  private hasMet = false;
  /** Streaming rows of the batches before. */
  private base = 0;
  /** Candidates that are looked at together: few where the condition takes long for one. */
  private pairsMax: number;

  constructor(node: Join, held: Held, context: ExecContext, met?: Uint8Array) {
    this.met = met;
    this.node = node;
    this.held = held;
    this.pairsMax = node.residual !== undefined && takesLong(node) ? LONG_PAIRS : PAIRS_MAX;
    const columns = [...node.left.columns, ...node.right.columns];
    this.residual = node.residual === undefined ? undefined : new FilterEvaluator(node.residual, columns, context);
  }

  /** The pairs of a streaming batch, some rows at a time. */
  async *of(batch: ExecBatch, ids: Int32Array | undefined, context: ExecContext): AsyncGenerator<ExecBatch> {
    for (let row = 0; row < batch.rowCount; ) {
      checkCancelled(context);
      const end = this.collect(ids, row, batch.rowCount);
      const begun = context.clock.monotonicMillis();
      const made = await this.finish(batch, row, end);
      if (this.pairsMax < PAIRS_MAX) this.adapt(context.clock.monotonicMillis() - begun);
      row = end;
      if (made.rowCount > 0) yield made;
      await context.pace.turn();
    }
    this.base += batch.rowCount;
  }

  /** More candidates while they are quick, fewer when they were slow. */
  private adapt(millis: number): void {
    const wanted = millis < QUICK_MS ? this.pairsMax * 4 : millis > LONG_MS ? this.pairsMax / 2 : this.pairsMax;
    this.pairsMax = Math.min(PAIRS_MAX - 1, Math.max(1, Math.floor(wanted)));
  }

  /** Collects the candidates of rows `[from, end)` and gives `end`, and some of those of row `end` where they are many. */
  private collect(ids: Int32Array | undefined, from: number, to: number): number {
    const { heads, next, rowCount, side } = this.held;
    // A semi or anti join asks whether there is a partner, so without a residual one candidate will do, or all that are held but once.
    const plain = this.residual === undefined && asksOnly(this.node);
    const one = plain && side === "right";
    this.count = 0;
    for (let row = from; row < to; row++) {
      if (this.count >= this.pairsMax) return row;
      const id = ids === undefined ? NO_ROW : (ids[row] as number);
      let partner = this.resumed;
      this.resumed = NO_ROW;
      if (partner === NO_ROW) partner = id !== NO_ROW ? (heads[id] as number) : ids === undefined && rowCount > 0 ? 0 : NO_ROW;
      while (partner !== NO_ROW) {
        if (this.count >= this.pairsMax) {
          this.resumed = partner;
          return row;
        }
        this.push(row, partner);
        if (one) break;
        if (ids !== undefined) partner = next[partner] as number;
        else partner = partner + 1 < rowCount ? partner + 1 : NO_ROW;
      }
      if (plain && side === "left" && id !== NO_ROW) heads[id] = NO_ROW;
    }
    return to;
  }

  private push(row: number, partner: number): void {
    if (this.count === this.own.length) {
      this.own = longer(this.own);
      this.partner = longer(this.partner);
    }
    this.own[this.count] = row;
    this.partner[this.count++] = partner;
  }

  /** What the join gives for rows `[from, to)` of a streaming batch, and for the candidates of row `to` that were collected. */
  private async finish(batch: ExecBatch, from: number, to: number): Promise<ExecBatch> {
    const kept = await this.keep(batch);
    const { hasMet } = this;
    const isPartMet = kept > 0 && this.own[kept - 1] === to;
    this.hasMet = this.resumed !== NO_ROW && (isPartMet || (from === to && hasMet));
    const isLater = this.met !== undefined || this.held.side === "left";
    if (isLater) return asksOnly(this.node) ? { rowCount: 0, vectors: [] } : this.gathered(batch, kept);
    switch (this.node.join) {
      case "inner":
        return this.gathered(batch, kept);
      case "semi":
      case "anti":
        return this.filtered(batch, kept, from, to, hasMet);
      case "left":
      case "full":
        return this.gathered(batch, this.withNulls(kept, from, to, hasMet));
    }
  }

  /** Drops the candidates that the residual refuses; notes which held rows have met. */
  private async keep(batch: ExecBatch): Promise<number> {
    const { residual } = this;
    if (residual !== undefined && this.count > 0) {
      const candidates = this.gathered(batch, this.count);
      const { selection, count } = await residual.selectInTurns(candidates);
      for (let i = 0; i < count; i++) {
        const at = selection[i] as number;
        this.own[i] = this.own[at] as number;
        this.partner[i] = this.partner[at] as number;
      }
      this.count = count;
    }
    const { met, base } = this;
    if (met !== undefined) for (let i = 0; i < this.count; i++) met[base + (this.own[i] as number)] = 1;
    if (this.held.met.length > 0) for (let i = 0; i < this.count; i++) this.held.met[this.partner[i] as number] = 1;
    return this.count;
  }

  /** The columns of the left side, then those of the right, of the first pairs. */
  private gathered(batch: ExecBatch, count: number): ExecBatch {
    const own = gatherBatch(batch, this.own, count).vectors;
    const partners = gatherBatch(this.held.rows, this.partner, count).vectors;
    return { rowCount: count, vectors: this.held.side === "left" ? [...partners, ...own] : [...own, ...partners] };
  }

  /** The left rows that have a partner, or have none. @param hasMet whether row `from` has met before */
  private filtered(batch: ExecBatch, count: number, from: number, to: number, hasMet: boolean): ExecBatch {
    const wanted = this.node.join === "semi";
    const selection = new Uint32Array(to - from);
    let [kept, at] = [0, 0];
    for (let row = from; row < to; row++) {
      const found = (at < count && this.own[at] === row) || (hasMet && row === from);
      while (at < count && this.own[at] === row) at++;
      if (found === wanted) selection[kept++] = row;
    }
    return gatherBatch(batch, selection, kept);
  }

  /** Adds a pair with the row of NULLs for each left row without a partner, in its place; gives the number of pairs. */
  private withNulls(count: number, from: number, to: number, hasMet: boolean): number {
    const [left, right] = [this.own.slice(0, count), this.partner.slice(0, count)];
    this.count = 0;
    let at = 0;
    for (let row = from; row < to; row++) {
      if ((at >= count || left[at] !== row) && !(hasMet && row === from)) this.push(row, this.held.rowCount);
      for (; at < count && left[at] === row; at++) this.push(row, right[at] as number);
    }
    for (; at < count; at++) this.push(to, right[at] as number); // some of the row that goes on
    return this.count;
  }
}

/** The held rows that no streaming row met, with NULLs on the left. */
function* leftOver(node: Join, held: Held): Iterable<ExecBatch> {
  for (const { rowCount, vectors } of notedRows(held, 0)) {
    const nulls = node.left.columns.map(({ type }): Vector => constantVector(type, undefined, rowCount));
    yield { rowCount, vectors: [...nulls, ...vectors] };
  }
}

/** The held rows that some streaming row met (`wanted` 1), or none (0). */
function* notedRows({ rows, rowCount, met }: Held, wanted: number): Iterable<ExecBatch> {
  assert(met.length === rowCount, `which of ${rowCount} rows met is noted for each; got ${met.length}`);
  const selection = new Uint32Array(PAIRS_MAX);
  for (let row = 0; row < rowCount; ) {
    let count = 0;
    for (; row < rowCount && count < PAIRS_MAX; row++) if (met[row] === wanted) selection[count++] = row;
    if (count === 0) return;
    yield gatherBatch(rows, selection, count);
  }
}
