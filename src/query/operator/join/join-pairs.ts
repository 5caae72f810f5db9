/**
 * The pairs of a join whose held side is in memory.
 *
 *   probe   each streaming row's keys → the first held row of them, and its chain (`held-side.ts`); without keys every held row is a candidate
 *   filter  `residual` over the candidate pairs of some streaming rows at a time
 *   pair    what is left, each streaming row in turn; of outer joins, one without a partner is paired with the held row of NULLs behind
 *           the others; of semi and anti joins whose left side is held, its rows come out at the end
 *
 * Semi and anti joins by keys alone make no pairs: a held row says that there is a partner.
 */
import { assert } from "../../../base/assert.ts";
import { countingUp } from "../../../base/bytes/counting-up.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import { presenceOf } from "../../../column/coded-text.ts";
import type { Vector } from "../../../column/vector.ts";
import { FilterEvaluator } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherRuns } from "../kernels/gather.ts";
import { type Held, PIECE_ROWS } from "./held-side.ts";
import { JoinKeys } from "./join-keys.ts";
import { asksOnly, hasPairs, type Join, otherSide } from "./join-sides.ts";
import { gatherRead, type ReadColumns } from "./read-columns.ts";
import { NO_ROW } from "../kernels/row-index.ts";
import { takesLong } from "../rows/short-pieces.ts";
import { pieces } from "../rows/pieces.ts";
import { constantVector } from "../../expression/vector-values.ts";

/** Candidate pairs that are tested and given out at once. Reason: one row may have as many candidates as there are rows. */
const PAIRS_MAX = 16_384;
/** The same at first where the condition takes long for one, and the milliseconds below and above which there are more and fewer. */
const LONG_PAIRS = 16;
const QUICK_MS = 1;
const LONG_MS = 8;

/**
 * The pairs of streaming rows with held ones.
 *
 * @param read columns that come out as they are
 * @param met of a join in several passes: takes a 1 for each streaming row that met, counted over all batches; what depends on there being
 *   no partner at all is then left to `unmet`
 */
export async function* probe(
  node: Join,
  streaming: AsyncIterable<ExecBatch>,
  held: Held,
  read: ReadColumns,
  context: ExecContext,
  met?: Uint8Array,
): AsyncGenerator<ExecBatch> {
  const ownKeys = new JoinKeys(node, otherSide(held.side), context);
  const pairs = hasPairs(node) ? new Pairs(node, held, read, context, met) : undefined;
  let base = 0;
  for await (const batch of streaming) {
    for (const piece of pieces(batch, PIECE_ROWS)) {
      checkCancelled(context);
      // Before its work, since pairs go on to joins above before any work after it: of 200, each makes the code of its keys first.
      await context.pace.turn();
      const keys = await ownKeys.of(piece);
      const ids = held.keys?.find(keys, piece.rowCount);
      if (pairs !== undefined) yield* pairs.of(piece, ids, context);
      else if (ids === undefined) continue;
      else if (held.byNulls !== undefined) {
        const own = met?.subarray(base, base + piece.rowCount) ?? new Uint8Array(piece.rowCount);
        await held.byNulls.meet(keys, ids, own, context);
        if (met === undefined) {
          const kept = unmetRows(own);
          if (kept.length > 0) yield rowsOf(piece, kept, read.left);
        }
      } else if (held.side === "left") noteRows(held, ids);
      else if (met !== undefined) noteMet(ids, met, base);
      else {
        const kept = keptRows(node, held, keys, ids);
        if (kept.length > 0) yield rowsOf(piece, kept, read.left);
      }
      base += piece.rowCount;
    }
  }
  if (node.join === "full") yield* leftOver(node, held, read);
  else if (held.side === "left" && asksOnly(node)) yield* notedRows(held, node.join === "semi" ? 1 : 0, read.left);
}

/** Pairs of some rows of one streaming batch: row `own[i]` of it with row `partner[i]` of those held. */
class Pairs {
  private own = new Uint32Array(PAIRS_MAX);
  private partner = new Uint32Array(PAIRS_MAX);
  private count = 0;
  private readonly node: Join;
  private readonly held: Held;
  private readonly read: ReadColumns;
  private readonly residual: FilterEvaluator | undefined;
  private readonly met: Uint8Array | undefined;
  /** The next candidate of a row whose candidates are too many for once, and whether it has met one before. */
  private resumed = NO_ROW;
  private hasMet = false;
  /** Streaming rows of the batches before. */
  private base = 0;
  /** Candidates that are looked at together: few where the condition takes long for one. */
  private pairsMax: number;

  constructor(node: Join, held: Held, read: ReadColumns, context: ExecContext, met?: Uint8Array) {
    this.met = met;
    this.read = read;
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
    const { own, partner, pairsMax } = this;
    if (ids === undefined) return this.collectAll(from, to);
    const next = this.held.keys?.next;
    if (next === undefined) {
      const end = Math.min(to, from + pairsMax);
      this.count = eachRow(ids, from, end, own, partner);
      return end;
    }
    let row = from;
    let count = 0;
    let at = this.resumed;
    for (; row < to; row++) {
      if (at === NO_ROW) at = ids[row] as number;
      for (; at !== NO_ROW && count < pairsMax; at = next[at] as number) {
        own[count] = row;
        partner[count++] = at;
      }
      if (at !== NO_ROW || count === pairsMax) break;
    }
    this.count = count;
    this.resumed = at;
    // The row whose last candidate was the last one for now is done.
    return at === NO_ROW && row < to ? row + 1 : row;
  }

  /** The same where each held row is a candidate. */
  private collectAll(from: number, to: number): number {
    const { own, partner, pairsMax } = this;
    // Whether there is a partner, one row says as well as all.
    const isAny = asksOnly(this.node) && this.residual === undefined;
    const rowCount = isAny ? Math.min(1, this.held.rowCount) : this.held.rowCount;
    if (rowCount === 0) {
      this.count = 0;
      return to;
    }
    let at = this.resumed === NO_ROW ? 0 : this.resumed;
    let [row, count] = [from, 0];
    while (row < to && count < pairsMax) {
      own[count] = row;
      partner[count++] = at++;
      if (at < rowCount) continue;
      at = 0;
      row++;
    }
    this.count = count;
    this.resumed = at === 0 ? NO_ROW : at;
    return row;
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
      case "not-in":
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
    const { held, read } = this;
    const all = isAll(this.own, count, batch.rowCount);
    const own = all ? batch.vectors : gatherRead(batch, read[otherSide(held.side)], this.own, count).vectors;
    const partners = gatherRead(held.rows, read[held.side], this.partner, count).vectors;
    return { rowCount: count, vectors: held.side === "left" ? [...partners, ...own] : [...own, ...partners] };
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
    return gatherRead(batch, this.read.left, selection, kept);
  }

  /** Adds a pair with the row of NULLs for each left row without a partner, in its place; gives the number of pairs. */
  private withNulls(count: number, from: number, to: number, hasMet: boolean): number {
    const [left, right] = [this.own.slice(0, count), this.partner.slice(0, count)];
    const most = count + to - from;
    if (this.own.length < most) [this.own, this.partner] = [longer(this.own, most), longer(this.partner, most)];
    const { own, partner } = this;
    const nullRow = this.held.rowCount;
    let [at, made] = [0, 0];
    for (let row = from; row < to; row++) {
      if ((at >= count || left[at] !== row) && !(hasMet && row === from)) {
        own[made] = row;
        partner[made++] = nullRow;
      }
      for (; at < count && left[at] === row; at++) {
        own[made] = row;
        partner[made++] = right[at] as number;
      }
    }
    for (; at < count; at++) {
      own[made] = to; // some of the row that goes on
      partner[made++] = right[at] as number;
    }
    return (this.count = made);
  }
}

/** Rows that have one partner. @returns how many pairs */
function eachRow(ids: Int32Array, from: number, to: number, own: Uint32Array, partner: Uint32Array): number {
  let count = 0;
  for (let row = from; row < to; row++) {
    const id = ids[row] as number;
    own[count] = row;
    partner[count] = id;
    count += (~id >>> 31) & 1;
  }
  return count;
}

/** Whether rows are those of a whole batch, each once: they ascend. */
function isAll(rows: Uint32Array, count: number, rowCount: number): boolean {
  if (count !== rowCount) return false;
  for (let i = 0; i < count; i++) if (rows[i] !== i) return false;
  return true;
}

/** Notes the first rows of keys and those that are equal, each key once. */
function noteRows({ keys, met }: Held, firsts: Int32Array): void {
  const next = keys?.next;
  for (let i = 0; i < firsts.length; i++) {
    const first = firsts[i] as number;
    if (first === NO_ROW || met[first] === 1) continue;
    met[first] = 1;
    if (next !== undefined) for (let row = next[first] as number; row !== NO_ROW; row = next[row] as number) met[row] = 1;
  }
}

/** Notes which rows have a partner, from `met[base]` on. */
function noteMet(ids: Int32Array, met: Uint8Array, base: number): void {
  for (let i = 0; i < ids.length; i++) if (ids[i] !== NO_ROW) met[base + i] = 1;
}

function unmetRows(met: Uint8Array): Uint32Array {
  const selection = new Uint32Array(met.length);
  let count = 0;
  for (let row = 0; row < met.length; row++) {
    selection[count] = row;
    count += 1 - (met[row] as number);
  }
  return selection.subarray(0, count);
}

/** The rows that stay by whether their keys are held. */
function keptRows(node: Join, held: Held, keys: readonly Vector[], ids: Int32Array): Uint32Array {
  const { length } = ids;
  const isNotIn = node.join === "not-in";
  if (isNotIn && held.rowCount === 0) return countingUp(length);
  if (held.hasNullKey) return new Uint32Array(0);
  // NULL has no row.
  if (isNotIn) for (const key of keys) leaveOutNulls(key, ids);
  const selection = new Uint32Array(length);
  const wanted = node.join === "semi" ? 1 : 0;
  let count = 0;
  for (let row = 0; row < length; row++) {
    selection[count] = row;
    const id = ids[row] as number;
    count += id < NO_ROW ? 0 : ((~id >>> 31) & 1) ^ wanted ^ 1;
  }
  return selection.subarray(0, count);
}

/** What is neither a row nor none, for NULLs. */
const NULL_ROW = -2;

function leaveOutNulls(key: Vector, ids: Int32Array): void {
  if (key.kind === "dictionary") {
    for (let i = 0; i < ids.length; i++) if (key.dictionary[key.codes[i] as number] === undefined) ids[i] = NULL_ROW;
    return;
  }
  const validity = presenceOf(key, ids.length);
  if (validity !== undefined) for (let i = 0; i < ids.length; i++) if (validity[i] === 0) ids[i] = NULL_ROW;
}

/** Some rows of a batch, which ascend, and their runs. */
function rowsOf(batch: ExecBatch, selection: Uint32Array, read: readonly boolean[]): ExecBatch {
  const { length } = selection;
  if (length === batch.rowCount) return batch;
  return {
    ...gatherRead(batch, read, selection, length),
    runs: batch.runs === undefined ? undefined : gatherRuns(batch.runs, selection, length),
  };
}

/** The held rows that no streaming row met, with NULLs on the left. */
function* leftOver(node: Join, held: Held, read: ReadColumns): Iterable<ExecBatch> {
  for (const { rowCount, vectors } of notedRows(held, 0, read.right)) {
    const nulls = node.left.columns.map(({ type }): Vector => constantVector(type, undefined, rowCount));
    yield { rowCount, vectors: [...nulls, ...vectors] };
  }
}

/** The held rows that some streaming row met (`wanted` 1), or none (0). */
function* notedRows({ rows, rowCount, met }: Held, wanted: number, read: readonly boolean[]): Iterable<ExecBatch> {
  assert(met.length === rowCount, `which of ${rowCount} rows met is noted for each; got ${met.length}`);
  const selection = new Uint32Array(PAIRS_MAX);
  for (let row = 0; row < rowCount; ) {
    let count = 0;
    for (; row < rowCount && count < PAIRS_MAX; row++) if (met[row] === wanted) selection[count++] = row;
    if (count === 0) return;
    yield gatherRead(rows, read, selection, count);
  }
}
