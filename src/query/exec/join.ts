/**
 * Joins. The right side is read whole and held; rows of the left side stream past it and come out in their order. A right side that does
 * not fit in memory goes to disk, split by the hash of its keys, and the left side likewise: then each part is joined by itself.
 *
 *   build   ids of key values (`RowCodes`); heads[id] → first held row, next[row] → the next one of equal keys
 *   probe   id of each left row's keys → its chain; without keys every held row is a candidate
 *   filter  `residual` over the candidate pairs of some left rows at a time
 *   pair    what is left, each left row in turn; one without a partner is paired with the held row of NULLs behind the others
 */
import { assert } from "../../base/assert.ts";
import type { Batch } from "../../column/batch.ts";
import type { DataType } from "../../column/data-type.ts";
import type { Vector } from "../../column/vector.ts";
import type { PlanNode } from "../plan/node.ts";
import { FilterEvaluator, VectorEvaluator } from "./evaluator.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { gatherBatch, HeldRows } from "./held-rows.ts";
import { concat } from "./kernels/concat.ts";
import { sliceBatch } from "./kernels/slice.ts";
import { pieces } from "./spill/pieces.ts";
import { Partitions, SPLIT_LEVELS_MAX } from "./spill/partitions.ts";
import { rowHashes } from "./spill/row-hashes.ts";
import { SpillContext } from "./spill/spill-context.ts";
import type { SpilledRows } from "./spill/spilled-rows.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { NO_ROW, RowCodes } from "./row-codes.ts";
import { constantVector } from "./vector-values.ts";

type Join = Extract<PlanNode, { kind: "join" }>;

/** Candidate pairs that are tested and given out at once; more when one row alone has more. */
const PAIRS_MAX = 8192;
/** Bytes that a held row costs in its chain and among the codes of rows; each of its keys on top, about, as long as it is no text. */
const HELD_BYTES = 32;
const KEY_BYTES = 16;
/** With more than this part of all rows in one of many parts, most rows have one key: splitting again would not help. */
const SKEW = 0.75;
/** Rows whose keys are looked up before others get a turn: each key takes about 100 ns a row. */
const PIECE_ROWS = 16_384;
/** Parts of the operator's share of memory that one piece of a batch takes. */
const PIECES_PER_SHARE = 8;

/** The rows of a join. */
export async function* join(
  node: Join,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  context: ExecContext,
): AsyncIterable<ExecBatch> {
  const spill = new SpillContext(node, context);
  try {
    yield* joined(node, left, right, context, { spill, level: 0 });
  } finally {
    await spill.close();
  }
}

/** How far the sides of a join have been split. */
interface Depth {
  readonly spill: SpillContext;
  readonly level: number;
}

/** Joins what fits in memory; otherwise both sides go to disk in parts that meet, which are joined one after the other. */
async function* joined(
  node: Join,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  depth: Depth,
): AsyncGenerator<ExecBatch> {
  const { spill, level } = depth;
  const budget = shared.budget.part("join");
  const context = { ...shared, budget };
  let parted: PartedRows | undefined;
  try {
    const rows = newHeldRows(node, budget);
    for await (const batch of right) {
      checkCancelled(context);
      for (const piece of pieces(batch, spill.rowsOf(rows.costOf(batch), batch.rowCount, PIECES_PER_SHARE))) {
        if (parted === undefined && rows.rowCount > 0 && !spill.fits(rows.costOf(piece), budget)) {
          parted = await PartedRows.create(node, "right", context, depth);
          await parted.add(await rows.joinedInTurns(context));
          rows.clear();
        }
        if (parted === undefined) rows.add(piece);
        else await parted.add(piece);
      }
      await context.pace.turn();
    }
    if (parted === undefined) {
      if (rows.rowCount === 0 && (node.join === "inner" || node.join === "semi")) return;
      yield* probe(node, left, await build(node, await rows.take(context), context), context);
      return;
    }
  } finally {
    budget.close();
  }
  await parted.finish();
  const other = await PartedRows.create(node, "left", shared, depth);
  for await (const batch of left) {
    checkCancelled(context);
    await other.add(batch);
    await context.pace.turn();
  }
  await other.finish();
  for (const [i, part] of parted.parts.entries()) {
    const own = other.parts[i];
    if (own === undefined || (own.rowCount === 0 && (node.join !== "full" || part.rowCount === 0))) continue;
    if (!parted.isSplit || part.rowCount > parted.rowCount * SKEW) yield* chunked(node, own, part, shared, spill);
    else yield* joined(node, own.read(), part.read(), shared, { spill, level: level + 1 });
  }
  await other.drop();
  await parted.drop();
}

/** One side of a join on disk, split by the hash of its keys; in one part where there are no keys, or no bits of the hash left. */
class PartedRows {
  readonly isSplit: boolean;
  private readonly columns: PlanNode["columns"];
  private readonly types: readonly DataType[];
  private readonly keys: readonly VectorEvaluator[];
  private readonly partitions: Partitions;

  private constructor(node: Join, side: "left" | "right", context: ExecContext, partitions: Partitions, isSplit: boolean) {
    this.columns = node[side].columns;
    this.types = node.keys.map((key) => key[side].type);
    this.keys = node.keys.map((key) => new VectorEvaluator(key[side], this.columns, context));
    this.partitions = partitions;
    this.isSplit = isSplit;
  }

  static async create(node: Join, side: "left" | "right", context: ExecContext, { spill, level }: Depth): Promise<PartedRows> {
    const isSplit = node.keys.length > 0 && level < SPLIT_LEVELS_MAX;
    const partitions = await Partitions.create(node[side].columns, isSplit ? level : 0, spill, isSplit);
    return new PartedRows(node, side, context, partitions, isSplit);
  }

  get parts(): readonly SpilledRows[] {
    return this.partitions.parts;
  }

  /** Rows of all parts. */
  get rowCount(): number {
    return this.parts.reduce((sum, part) => sum + part.rowCount, 0);
  }

  /** Copies the rows of a batch. */
  async add({ rowCount, vectors }: ExecBatch): Promise<void> {
    const batch: ExecBatch = { rowCount, vectors }; // Of the left side, runs would tell nothing.
    if (rowCount === 0) return;
    const keys = this.isSplit ? this.keys.map((key) => key.vector(batch)) : [];
    await this.partitions.add(batch, rowHashes(keys, this.types, rowCount));
  }

  finish(): Promise<void> {
    return this.partitions.finish();
  }

  drop(): Promise<void> {
    return this.partitions.drop();
  }
}

/**
 * Joins two sides on disk that cannot be split, since all rows have one key or there are no keys: as many rows of the right side as fit in
 * memory at a time, past which the whole left side streams. What a left row met is noted until all of the right side has been there.
 */
async function* chunked(
  node: Join,
  left: SpilledRows,
  right: SpilledRows,
  shared: ExecContext,
  spill: SpillContext,
): AsyncGenerator<ExecBatch> {
  const all = shared.budget.part("join");
  try {
    all.reserve(left.rowCount);
    const met = new Uint8Array(left.rowCount);
    for await (const { rows, context } of chunksOf(node, right.read(), shared, spill)) {
      yield* probe(node, left.read(), await build(node, await rows.take(context), context), context, met);
    }
    if (node.join !== "inner") yield* unmet(node, left, met, shared);
  } finally {
    all.close();
  }
}

/** As many rows of the right side as fit at a time, and the context that they and what is built over them are counted on until the next. */
async function* chunksOf(
  node: Join,
  right: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  spill: SpillContext,
): AsyncGenerator<{ readonly rows: HeldRows; readonly context: ExecContext }> {
  const budget = shared.budget.part("join");
  const context = { ...shared, budget };
  try {
    let rows = newHeldRows(node, budget);
    for await (const batch of right) {
      for (const piece of pieces(batch, spill.rowsOf(rows.costOf(batch), batch.rowCount, PIECES_PER_SHARE))) {
        if (rows.rowCount > 0 && !spill.fits(rows.costOf(piece), budget)) {
          yield { rows, context };
          budget.release(budget.used);
          rows = newHeldRows(node, budget);
        }
        rows.add(piece);
      }
    }
    if (rows.rowCount > 0) yield { rows, context };
  } finally {
    budget.close();
  }
}

/** The left rows that come out by themselves once it is known which of them met a row of the right side. */
async function* unmet(node: Join, left: SpilledRows, met: Uint8Array, context: ExecContext): AsyncGenerator<ExecBatch> {
  const wanted = node.join === "semi" ? 1 : 0;
  const withNulls = node.join === "left" || node.join === "full";
  let base = 0;
  for await (const batch of left.read()) {
    checkCancelled(context);
    const selection = new Uint32Array(batch.rowCount);
    let count = 0;
    for (let row = 0; row < batch.rowCount; row++) if (met[base + row] === wanted) selection[count++] = row;
    base += batch.rowCount;
    if (count === 0) continue;
    const own = gatherBatch(batch, selection, count);
    const nulls = withNulls ? node.right.columns.map(({ type }) => constantVector(type, undefined, count)) : [];
    yield { rowCount: count, vectors: [...own.vectors, ...nulls] };
    await context.pace.turn();
  }
}

/**
 * The pairs of left rows with held ones.
 *
 * @param met of a join in several passes: takes a 1 for each left row that met, counted over all batches; what depends on there being no
 *   partner at all is then left to `unmet`
 */
async function* probe(
  node: Join,
  left: AsyncIterable<ExecBatch>,
  held: Held,
  context: ExecContext,
  met?: Uint8Array,
): AsyncGenerator<ExecBatch> {
  const leftKeys = node.keys.map((key) => new VectorEvaluator(key.left, node.left.columns, context));
  const pairs = new Pairs(node, held, context, met);
  for await (const batch of left) {
    for (const piece of pieces(batch, PIECE_ROWS)) {
      checkCancelled(context);
      const keys = leftKeys.map((key) => key.vector(piece));
      yield* pairs.of(piece, keys.length === 0 ? undefined : held.codes.find(keys, piece.rowCount), context);
      await context.pace.turn();
    }
  }
  if (node.join === "full") yield* leftOver(node, held);
}

const newHeldRows = (node: Join, budget: MemoryBudget): HeldRows =>
  new HeldRows(node.right.columns, budget, HELD_BYTES + node.keys.length * KEY_BYTES);

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

async function build(node: Join, all: Batch, context: ExecContext): Promise<Held> {
  const { columns } = node.right;
  const { rowCount } = all;
  const codes = new RowCodes(
    node.keys.map((key) => key.right.type),
    false,
    context.budget.reserve,
  );
  const next = new Int32Array(rowCount).fill(NO_ROW);
  const keys = node.keys.map((key) => new VectorEvaluator(key.right, columns, context));
  const ids = keys.length === 0 ? undefined : new Int32Array(rowCount);
  for (let at = 0; ids !== undefined && at < rowCount; at += PIECE_ROWS) {
    checkCancelled(context);
    const part = sliceBatch(all, at, Math.min(rowCount, at + PIECE_ROWS));
    ids.set(
      codes.add(
        keys.map((key) => key.vector(part)),
        part.rowCount,
      ),
      at,
    );
    await context.pace.turn();
  }
  const heads = new Int32Array(codes.size).fill(NO_ROW);
  // From the last row to the first, so that chains ascend.
  for (let row = rowCount - 1; ids !== undefined && row >= 0; row--) {
    const id = ids[row] ?? 0;
    if (id === NO_ROW) continue;
    next[row] = heads[id] ?? 0;
    heads[id] = row;
  }
  const padded: Batch = { rowCount: rowCount + 1, vectors: await withNullRow(all, columns, context) };
  return { rows: padded, rowCount, codes, heads, next, met: new Uint8Array(node.join === "full" ? rowCount : 0) };
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

/** Pairs of some rows of one left batch. */
class Pairs {
  private left = new Uint32Array(PAIRS_MAX);
  private right = new Uint32Array(PAIRS_MAX);
  private count = 0;
  private readonly node: Join;
  private readonly held: Held;
  private readonly residual: FilterEvaluator | undefined;
  private readonly met: Uint8Array | undefined;
  /** Left rows of the batches before. */
  private base = 0;

  constructor(node: Join, held: Held, context: ExecContext, met?: Uint8Array) {
    this.met = met;
    this.node = node;
    this.held = held;
    const columns = [...node.left.columns, ...node.right.columns];
    this.residual = node.residual === undefined ? undefined : new FilterEvaluator(node.residual, columns, context);
  }

  /** The pairs of a left batch, some rows at a time. */
  async *of(batch: ExecBatch, ids: Int32Array | undefined, context: ExecContext): AsyncGenerator<ExecBatch> {
    for (let row = 0; row < batch.rowCount; ) {
      checkCancelled(context);
      const end = this.collect(ids, row, batch.rowCount);
      const made = this.finish(batch, row, end);
      row = end;
      if (made.rowCount > 0) yield made;
      await context.pace.turn();
    }
    this.base += batch.rowCount;
  }

  /** Collects the candidates of rows `[from, end)` and gives `end`: at least one row. */
  private collect(ids: Int32Array | undefined, from: number, to: number): number {
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
  private finish(batch: ExecBatch, from: number, to: number): ExecBatch {
    const kept = this.keep(batch);
    if (this.met !== undefined) {
      const asksOnly = this.node.join === "semi" || this.node.join === "anti";
      return asksOnly ? { rowCount: 0, vectors: [] } : this.gathered(batch, kept);
    }
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
    const { met, base } = this;
    if (met !== undefined) for (let i = 0; i < this.count; i++) met[base + (this.left[i] ?? 0)] = 1;
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
