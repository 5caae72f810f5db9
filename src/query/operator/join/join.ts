/**
 * Joins. One side is read whole and held, the right one unless the left is found to be smaller (`join-sides.ts`); rows of the other side
 * stream past it and come out in their order (`join-pairs.ts`). A side that does not fit in memory is split by the hash of its keys, and
 * the other one likewise: parts that fit stay and are joined at once, the others go to disk, and each is joined by itself.
 */
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch, HeldRows } from "../rows/held-rows.ts";
import { build, type Held, indexBytes, isPadded } from "./held-side.ts";
import { probe } from "./join-pairs.ts";
import { KeptParts } from "./kept-parts.ts";
import { isNotInByOne, PartedRows } from "./parted-rows.ts";
import {
  heldSide,
  type Join,
  mayHoldLeft,
  otherSide,
  PIECES_PER_SHARE,
  rowsToCome,
  type Side,
  SideReader,
  smallerSide,
} from "./join-sides.ts";
import { readColumns, type ReadColumns, withoutUnread } from "./read-columns.ts";
import { pieces } from "../rows/pieces.ts";
import { type SpillContext, withSpill } from "../spill/spill-context.ts";
import type { SpilledRows } from "../spill/spilled-rows.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { constantVector } from "../../expression/vector-values.ts";

/** Bytes of a row that its index takes, about, when it is asked whether all rows will fit. */
const ROOM_INDEX_BYTES = 16;
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
  const held = (side: Side): HeldRows => newHeldRows(node, side, budget, rowsExpected(node, side, budget, depth));
  const readers = {
    left: new SideReader(node, "left", left, held("left"), context, depth.spill),
    right: new SideReader(node, "right", right, held("right"), context, depth.spill),
  };
  let parted: PartedSides | undefined;
  try {
    const { known } = depth;
    const first = readers[known ?? "right"];
    const whole = await heldSide(first, known === undefined && mayHoldLeft(node, shared) ? readers.left : undefined, context);
    if (whole !== undefined) {
      const { side, rows } = whole;
      if (depth.level === 0) noteHeld(node, side, shared);
      if (rows.rowCount === 0 && (side === "left" || node.join === "inner" || node.join === "semi")) return;
      yield* probe(node, readers[otherSide(side)].rest(), await built(node, side, rows, depth.read, context), depth.read, context);
      return;
    }
    parted = yield* inParts(node, first.side, readers, context, depth);
  } finally {
    budget.close();
    await readers.left.close();
    await readers.right.close();
  }
  if (parted !== undefined) yield* joinedParts(settled(node), parted, shared, depth);
}

/** A join in parts: what NULL means to NOT IN by one key is settled by then, the right side has rows, none of them NULL. */
const settled = (node: Join): Join => (isNotInByOne(node) ? { ...node, join: "anti" } : node);

/** What is on disk of both sides of a join. */
interface PartedSides {
  readonly left: PartedRows;
  readonly right: PartedRows;
  /** Rows that were in memory. */
  readonly keptRows: number;
}

/**
 * Splits both sides in parts that meet. Parts of `side` that fit stay in memory and are joined as the other side streams past
 * (`kept-parts.ts`); where there is no way to split, all goes to disk.
 *
 * @returns what is on disk; undefined: nothing comes out
 */
async function* inParts(
  node: Join,
  side: Side,
  readers: Readonly<Record<Side, SideReader>>,
  context: ExecContext,
  { spill, level, read }: Depth,
): AsyncGenerator<ExecBatch, PartedSides | undefined> {
  const { budget } = context;
  const own = await PartedRows.create(node, side, context, spill, level);
  const fits = (bytes: number): boolean => spill.fits(bytes, budget);
  const kept = own.isSplit ? new KeptParts(newHeldRows(node, side, budget), own.parts, fits, context) : undefined;
  for await (const batch of readers[side].rest()) {
    checkCancelled(context);
    await own.add(batch, kept);
    await context.pace.turn();
  }
  await own.finish();
  if (side === "right" && own.hasNullKey) return undefined;
  const other = await PartedRows.create(node, otherSide(side), context, spill, level);
  const streaming = streamed(readers[otherSide(side)].rest(), other, kept, context);
  let keptRows = 0;
  if (kept === undefined) for await (const _ of streaming);
  else {
    const as = settled(node);
    keptRows = kept.rows.rowCount;
    yield* probe(as, streaming, await built(as, side, kept.rows, read, context), read, context);
  }
  await other.finish();
  return side === "left" ? { left: own, right: other, keptRows } : { left: other, right: own, keptRows };
}

/** Writes rows to disk, but gives out those whose part is in memory on the other side. */
async function* streamed(
  batches: AsyncIterable<ExecBatch>,
  rows: PartedRows,
  kept: KeptParts | undefined,
  context: ExecContext,
): AsyncGenerator<ExecBatch> {
  for await (const batch of batches) {
    checkCancelled(context);
    if (kept === undefined) await rows.add(batch);
    else {
      const here = await rows.addOthers(batch, kept);
      if (here.rowCount > 0) yield here;
    }
    await context.pace.turn();
  }
}

/** Joins parts that meet. Of each, the smaller side is held where that may be. */
async function* joinedParts(
  node: Join,
  { left, right, keptRows }: PartedSides,
  shared: ExecContext,
  depth: Depth,
): AsyncGenerator<ExecBatch> {
  const { spill, level, read } = depth;
  for (const [i, part] of right.parts.entries()) {
    const own = left.parts[i];
    if (own === undefined || (own.rowCount === 0 && (node.join !== "full" || part.rowCount === 0))) continue;
    const known = mayHoldLeft(node, shared) && own.memoryBytes < part.memoryBytes ? "left" : "right";
    const [held, all] = known === "left" ? [own, left] : [part, right];
    if (!right.isSplit || held.rowCount > (all.rowCount + keptRows) * SKEW)
      yield* chunked(node, known, { left: own, right: part }, shared, depth);
    else yield* joined(node, own.read(), part.read(), shared, { spill, read, level: level + 1, known });
  }
  await left.drop();
  await right.drop();
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

/** @param rowsExpected rows that will come, if that is known */
function newHeldRows(node: Join, side: Side, budget: MemoryBudget, rowsExpected = 0): HeldRows {
  return new HeldRows(node[side].columns, budget, indexBytes(node, side), rowsExpected);
}

/** Rows that a side will hold: known where it is chosen by the plan, and all fit. */
function rowsExpected(node: Join, side: Side, budget: MemoryBudget, { level, known }: Depth): number {
  const rows = level === 0 && (known ?? "right") === side ? rowsToCome(node, side) : 0;
  return budget.fits(rows * (node[side].columns.length * 8 + ROOM_INDEX_BYTES)) ? rows : 0;
}

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
