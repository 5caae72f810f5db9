/**
 * Joins. One side is read whole and held, the right one unless the left is found to be smaller (`join-sides.ts`); rows of the other side
 * stream past it and come out in their order (`join-pairs.ts`). A side that does not fit in memory goes to disk, split by the hash of its
 * keys, and the other one likewise: then each part is joined by itself.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gather } from "../kernels/gather.ts";
import { gatherBatch, HeldRows } from "../rows/held-rows.ts";
import { build, type Held, indexBytes, isPadded } from "./held-side.ts";
import { hasNull, isNullAt, JoinKeys, keyTypesOf } from "./join-keys.ts";
import { probe } from "./join-pairs.ts";
import { heldSide, type Join, mayHoldLeft, otherSide, PIECES_PER_SHARE, type Side, SideReader, smallerSide } from "./join-sides.ts";
import { readColumns, type ReadColumns, withoutUnread } from "./read-columns.ts";
import { pieces } from "../rows/pieces.ts";
import { Partitions, SPLIT_LEVELS_MAX } from "../spill/partitions.ts";
import { keyHashes } from "../group-keys/key-hashes.ts";
import { type SpillContext, withSpill } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { constantVector } from "../../expression/vector-values.ts";

/** With more than this part of all rows in one of many parts, most rows have one key: splitting again would not help. */
const SKEW = 0.75;

/**
 * The rows of a join.
 *
 * @param needed columns that the reader looks at; undefined: all
 */
export function join(
  node: Join,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  context: ExecContext,
  needed?: ReadonlySet<number>,
): AsyncIterable<ExecBatch> {
  const read = readColumns(node, needed);
  return withSpill(node, context, (spill) =>
    joined(node, left, right, context, { spill, level: 0, read, known: smallerSide(node, context) }),
  );
}

/** How far the sides of a join have been split. */
interface Depth {
  readonly spill: SpillContext;
  readonly read: ReadColumns;
  readonly level: number;
  /** The side to hold; undefined: to be found out. */
  readonly known?: Side | undefined;
}

/** Joins what fits in memory; otherwise both sides go to disk in parts that meet, which are joined one after the other. */
async function* joined(
  node: Join,
  left: AsyncIterable<ExecBatch>,
  right: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  depth: Depth,
): AsyncGenerator<ExecBatch> {
  const budget = shared.budget.part("join");
  const context = { ...shared, budget };
  const readers = {
    left: new SideReader(node, "left", left, newHeldRows(node, "left", budget), context, depth.spill),
    right: new SideReader(node, "right", right, newHeldRows(node, "right", budget), context, depth.spill),
  };
  let parted: PartedSides;
  try {
    const { known } = depth;
    const first = readers[known ?? "right"];
    const held = await heldSide(first, known === undefined && mayHoldLeft(node, shared) ? readers.left : undefined, context);
    if (held !== undefined) {
      const { side, rows } = held;
      if (depth.level === 0) noteHeld(node, side, shared);
      if (rows.rowCount === 0 && (side === "left" || node.join === "inner" || node.join === "semi")) return;
      yield* probe(node, readers[otherSide(side)].rest(), await built(node, side, rows, depth.read, context), depth.read, context);
      return;
    }
    parted = await partedSides(node, readers, context, depth);
  } finally {
    budget.close();
    await readers.left.close();
    await readers.right.close();
  }
  // What NULL means to NOT IN by one key is settled by then: the right side has rows, none of them NULL.
  if (!parted.right.hasNullKey) yield* joinedParts(isNotInByOne(node) ? { ...node, join: "anti" } : node, parted, shared, depth);
}

const isNotInByOne = (node: Join): boolean => node.join === "not-in" && node.keys.length === 1;

/** Both sides of a join on disk. */
interface PartedSides {
  readonly left: PartedRows;
  readonly right: PartedRows;
}

/** Writes all rows of both sides to disk, in parts that meet. */
async function partedSides(
  node: Join,
  readers: Readonly<Record<Side, SideReader>>,
  context: ExecContext,
  depth: Depth,
): Promise<PartedSides> {
  const written = async (side: Side): Promise<PartedRows> => {
    const parted = await PartedRows.create(node, side, context, depth);
    for await (const batch of readers[side].rest()) {
      checkCancelled(context);
      await parted.add(batch);
      await context.pace.turn();
    }
    await parted.finish();
    return parted;
  };
  const right = await written("right");
  return { left: await written("left"), right };
}

/** Joins parts that meet. Of each, the smaller side is held where that may be. */
async function* joinedParts(node: Join, { left, right }: PartedSides, shared: ExecContext, depth: Depth): AsyncGenerator<ExecBatch> {
  const { spill, level, read } = depth;
  for (const [i, part] of right.parts.entries()) {
    const own = left.parts[i];
    if (own === undefined || (own.rowCount === 0 && (node.join !== "full" || part.rowCount === 0))) continue;
    const known = mayHoldLeft(node, shared) && own.memoryBytes < part.memoryBytes ? "left" : "right";
    const [held, all] = known === "left" ? [own, left] : [part, right];
    if (!right.isSplit || held.rowCount > all.rowCount * SKEW) yield* chunked(node, known, { left: own, right: part }, shared, depth);
    else yield* joined(node, own.read(), part.read(), shared, { spill, read, level: level + 1, known });
  }
  await left.drop();
  await right.drop();
}

/** One side of a join on disk, split by the hash of its keys; in one part where there are no keys, or no bits of the hash left. */
class PartedRows {
  readonly isSplit: boolean;
  /** Of NOT IN by one key: whether it was NULL. */
  hasNullKey = false;
  private readonly types: readonly DataType[];
  private readonly keys: JoinKeys;
  private readonly isNotIn: boolean;
  private readonly partitions: Partitions;

  private constructor(node: Join, side: Side, context: ExecContext, partitions: Partitions, isSplit: boolean) {
    this.isNotIn = isNotInByOne(node);
    this.types = keyTypesOf(node);
    this.keys = new JoinKeys(node, side, context);
    this.partitions = partitions;
    this.isSplit = isSplit;
  }

  static async create(node: Join, side: Side, context: ExecContext, { spill, level }: Depth): Promise<PartedRows> {
    // To NOT IN by several keys, rows with NULLs may be equal to those of all parts.
    const isSplit = node.keys.length > 0 && level < SPLIT_LEVELS_MAX && (node.join !== "not-in" || node.keys.length === 1);
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
    const keys = this.isSplit || this.isNotIn ? await this.keys.of(batch) : [];
    if (!this.isNotIn || !hasNull(keys, rowCount)) return this.partitions.add(batch, this.hashesOf(keys, rowCount));
    this.hasNullKey = true;
    // Beside rows on the right, a NULL of the left is not among what is not in them.
    const present = presentRows(keys, rowCount);
    const own = keys.map((key) => gather(key, present, present.length));
    await this.partitions.add(gatherBatch(batch, present, present.length), this.hashesOf(own, present.length));
  }

  private hashesOf(keys: readonly Vector[], rowCount: number): Uint32Array {
    return this.isSplit ? keyHashes(keys, this.types, rowCount) : new Uint32Array(rowCount);
  }

  finish(): Promise<void> {
    return this.partitions.finish();
  }

  drop(): Promise<void> {
    return this.partitions.drop();
  }
}

/**
 * Joins two sides on disk that cannot be split, since all rows have one key or there are no keys: as many rows of one side as fit in memory
 * at a time, past which the whole other side streams. What a left row met while it streamed is noted until all of the right side has been
 * there.
 */
async function* chunked(
  node: Join,
  side: Side,
  sides: Readonly<Record<Side, SpilledRows>>,
  shared: ExecContext,
  { spill, read }: Depth,
): AsyncGenerator<ExecBatch> {
  const all = shared.budget.part("join");
  const streaming = sides[otherSide(side)];
  try {
    const noted = side === "right" ? streaming.rowCount : 0;
    all.reserve(noted);
    const met = side === "right" ? new Uint8Array(noted) : undefined;
    for await (const { rows, context } of chunksOf(node, side, sides[side].read(), shared, spill)) {
      yield* probe(node, streaming.read(), await built(node, side, rows, read, context), read, context, met);
    }
    if (met !== undefined && node.join !== "inner") yield* unmet(node, streaming, met, shared);
  } finally {
    all.close();
  }
}

/** As many rows of one side as fit at a time, and the context that they and what is built over them are counted on until the next. */
async function* chunksOf(
  node: Join,
  side: Side,
  batches: AsyncIterable<ExecBatch>,
  shared: ExecContext,
  spill: SpillContext,
): AsyncGenerator<{ readonly rows: HeldRows; readonly context: ExecContext }> {
  const budget = shared.budget.part("join");
  const context = { ...shared, budget };
  try {
    let rows = newHeldRows(node, side, budget);
    for await (const batch of batches) {
      for (const piece of pieces(batch, spill.rowsOf(rows.costOf(batch), batch.rowCount, PIECES_PER_SHARE))) {
        if (rows.rowCount > 0 && !spill.fits(rows.costOf(piece), budget)) {
          yield { rows, context };
          budget.release(budget.used);
          rows = newHeldRows(node, side, budget);
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

/** The rows of which no key is NULL. */
function presentRows(keys: readonly Vector[], rowCount: number): Uint32Array {
  const selection = new Uint32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (keys.every((key) => !isNullAt(key, row))) selection[count++] = row;
  return selection.subarray(0, count);
}

const newHeldRows = (node: Join, side: Side, budget: MemoryBudget): HeldRows =>
  new HeldRows(node[side].columns, budget, indexBytes(node, side));

/** The held side from its rows, which are forgotten. */
async function built(node: Join, side: Side, rows: HeldRows, read: ReadColumns, context: ExecContext): Promise<Held> {
  rows.releaseBeside(); // What it takes, it counts itself.
  if (isPadded(node)) rows.addNulls();
  const held = await build(node, side, await rows.take(context), context);
  return { ...held, rows: withoutUnread(held.rows, read[side]) };
}

/** Notes for EXPLAIN ANALYZE which side is held. */
function noteHeld(node: Join, side: Side, { metrics }: ExecContext): void {
  const own = metrics?.get(node);
  if (own !== undefined) own.held = side;
}
