/**
 * The groups that FILL goes through, series by series and slot by slot: all of them at once where they fit in memory; otherwise they are
 * sorted over the disk and come some at a time.
 *
 * LINEAR looks ahead to the next two groups of the series that have a value, however far they lie. So groups are gone through once from the
 * last to the first, where each notes for those before it what comes: in memory over positions, on disk block by block into a second file
 * with four columns more, which is read from its end again.
 *
 *   sorted rows ─► file 1 ─► blocks from the last to the first, points noted ─► file 2 ─► blocks from its last, that is, in order
 */
import { assert } from "../../../base/assert.ts";
import type { Batch } from "../../../column/batch.ts";
import { type DataType, FLOAT64 } from "../../../column/data-type.ts";
import { isTimes } from "../../../column/times.ts";
import type { Vector } from "../../../column/vector.ts";
import { castValue } from "../../../value/cast.ts";
import type { PlanNode } from "../contract/node.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { HeldRows } from "../rows/held-rows.ts";
import { KeyTable } from "../group-keys/key-table.ts";
import { type BatchKeys, Sorter } from "../rows/sorter.ts";
import { heldOrSorted } from "../sort/held-or-sorted.ts";
import { pieces } from "../rows/pieces.ts";
import type { SpillContext } from "../spill/spill-context.ts";
import { valueAt } from "../../expression/vector-values.ts";

type FillSlots = Extract<PlanNode, { kind: "fill-slots" }>;

/** Bytes that a held group costs beside its values: its place, its series, its slot; for each item a mark and its value once more. */
const GROUP_BYTES = 24;
const ITEM_BYTES = 18;
/** Bytes of the points that follow, for each item that is LINEAR. */
const POINT_BYTES = 40;
/** Parts of the operator's share of memory that one piece takes. */
const PIECES_PER_SHARE = 8;
/** Columns that a LINEAR item adds to the rows on disk: slot and value of the next point, and of the one behind it. */
const POINT_COLUMNS = 4;

/** The next two groups of the series, from a group on, that have a value: slots in widths from the origin, NaN without any; values. */
export interface NextPoints {
  readonly slot: Float64Array;
  readonly value: Float64Array;
  readonly slot2: Float64Array;
  readonly value2: Float64Array;
}

/** Some groups, whole series or parts of them. */
export interface SlotPiece {
  readonly groups: Batch;
  /** Positions of the groups by series and slot. */
  readonly order: Uint32Array;
  /** A number of each group's series, other than that of every other one. */
  readonly series: Int32Array;
  /** The slot of each group in widths from `origin`, which is the same for all pieces. */
  readonly steps: Float64Array;
  readonly origin: bigint;
  /** By item; undefined unless it is LINEAR. By position in `groups`. */
  readonly points: readonly (NextPoints | undefined)[];
}

/** Bytes that a group takes beside its values. */
function rowBytes({ items }: FillSlots): number {
  return GROUP_BYTES + items.length * ITEM_BYTES + items.filter(({ rule }) => rule.kind === "linear").length * POINT_BYTES;
}

/** What groups are sorted by on disk. */
export function slotOrder({ input, keyCount }: FillSlots): readonly SortItem[] {
  return input.columns.slice(0, keyCount + 1).map(
    ({ name, type }, index): SortItem => ({
      expression: { kind: "column", type, index, name },
      descending: false,
      nullsFirst: true,
    }),
  );
}

/** See the file header. */
export function slotPieces(
  node: FillSlots,
  input: AsyncIterable<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<SlotPiece> {
  const held = new HeldRows(node.input.columns, context.budget, rowBytes(node));
  return heldOrSorted({ items: slotOrder(node), columns: node.input.columns }, held, input, context, spill, {
    held: async function* () {
      if (held.rowCount > 0) yield wholePiece(node, await held.joinedInTurns(context), context);
    },
    sorted: (rows) => sortedPieces(node, rows, context, spill),
  });
}

/** All groups. */
function wholePiece(node: FillSlots, groups: Batch, context: ExecContext): SlotPiece {
  const { rowCount, vectors } = groups;
  const types = node.input.columns.slice(0, node.keyCount).map((column) => column.type);
  const series = new KeyTable(types, { nullsMatch: true }, context.budget.reserve).add(vectors.slice(0, node.keyCount), rowCount);
  const { origin, steps } = slotSteps(vectors[node.keyCount], rowCount, node.width);
  const order = Uint32Array.from({ length: rowCount }, (_, i) => i);
  order.sort((a, b) => (series[a] as number) - (series[b] as number) || (steps[a] as number) - (steps[b] as number));
  const points = node.items.map((_, i) => {
    const values = lineValues(node, i, groups, context);
    if (values === undefined) return undefined;
    const next = new PointsAhead(rowCount);
    for (let at = rowCount - 1; at >= 0; at--) {
      const row = order[at] as number;
      if (at + 1 < rowCount && series[order[at + 1] as number] !== series[row]) next.forget();
      next.note(row, steps[row] as number, values[row]);
    }
    return next.points;
  });
  return { groups, order, series, steps, origin, points };
}

/** Goes through the groups of a series from the last to the first. */
class PointsAhead {
  readonly points: NextPoints;
  private slot = Number.NaN;
  private value = 0;
  private slot2 = Number.NaN;
  private value2 = 0;

  constructor(rowCount: number, before?: PointsAhead) {
    const column = (): Float64Array => new Float64Array(rowCount);
    this.points = { slot: column(), value: column(), slot2: column(), value2: column() };
    if (before === undefined) return;
    [this.slot, this.value, this.slot2, this.value2] = [before.slot, before.value, before.slot2, before.value2];
  }

  /** Begins another series. */
  forget(): void {
    this.slot = Number.NaN;
    this.slot2 = Number.NaN;
  }

  /** Notes for a group what follows from it on. @param value undefined: it has none */
  note(row: number, step: number, value: number | undefined): void {
    if (value !== undefined) {
      [this.slot2, this.value2] = [this.slot, this.value];
      [this.slot, this.value] = [step, value];
    }
    const { points } = this;
    points.slot[row] = this.slot;
    points.value[row] = this.value;
    points.slot2[row] = this.slot2;
    points.value2[row] = this.value2;
  }
}

/** Reads the values of an item that is LINEAR as floats, undefined for NULL; undefined of any other. */
function lineValues(node: FillSlots, index: number, groups: Batch, context: ExecContext): readonly (number | undefined)[] | undefined {
  const item = node.items[index];
  if (item?.rule.kind !== "linear") return undefined;
  const vector = groups.vectors[item.column];
  const type: DataType = node.input.columns[item.column]?.type ?? { kind: "null" };
  return Array.from({ length: groups.rowCount }, (_, row) => {
    const value = vector === undefined ? undefined : valueAt(vector, type, row);
    return value === undefined ? undefined : Number(castValue(value, type, FLOAT64, context.environment));
  });
}

/** Sorted groups, as many at a time as one block or batch has. */
async function* sortedPieces(
  node: FillSlots,
  input: AsyncGenerator<ExecBatch>,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<SlotPiece> {
  const hasLines = node.items.some(({ rule }) => rule.kind === "linear");
  const frame: SlotFrame = { origin: undefined };
  const walk = new SortedWalk(node, frame, context);
  const rows = hasLines ? withPoints(node, input, frame, context, spill) : input;
  for await (const batch of rows) {
    checkCancelled(context);
    for (const piece of pieces(batch, spill.rowsOf(batch.rowCount * rowBytes(node), batch.rowCount, PIECES_PER_SHARE))) {
      yield walk.piece(piece);
    }
    await context.pace.turn();
  }
}

/** Sorted groups with the columns of the points that follow each. */
async function* withPoints(
  node: FillSlots,
  input: AsyncGenerator<ExecBatch>,
  frame: SlotFrame,
  context: ExecContext,
  spill: SpillContext,
): AsyncGenerator<ExecBatch> {
  const { columns } = node.input;
  const plainFile = await spill.create();
  const plain = spill.rowsIn(plainFile, columns);
  for await (const batch of input) {
    checkCancelled(context);
    frame.origin ??= slotSteps(batch.vectors[node.keyCount], batch.rowCount, node.width).origin;
    await plain.add(batch);
  }
  await plain.finish();
  const lines = node.items.map(({ rule }) => rule.kind === "linear");
  const added = lines.flatMap((isLine, i) => (isLine ? Array.from({ length: POINT_COLUMNS }, () => `point ${i}`) : []));
  const file = await spill.create();
  const noted = spill.rowsIn(file, [...columns, ...added.map((name) => ({ name, type: FLOAT64 }))]);
  const walk = new SortedWalk(node, frame, context);
  let before: readonly (PointsAhead | undefined)[] = lines.map(() => undefined);
  for await (const { rowCount, vectors } of plain.readBackwards()) {
    checkCancelled(context);
    const { steps, series } = walk.backwards({ rowCount, vectors });
    const ahead = lines.map((_, i) => {
      const values = lineValues(node, i, { rowCount, vectors }, context);
      if (values === undefined) return undefined;
      const next = new PointsAhead(rowCount, before[i]);
      for (let row = rowCount - 1; row >= 0; row--) {
        if (series[row] !== series[row + 1]) next.forget();
        next.note(row, steps[row] as number, values[row]);
      }
      return next;
    });
    before = ahead;
    const points = ahead.flatMap((each) => (each === undefined ? [] : pointVectors(each.points)));
    await noted.add({ rowCount, vectors: [...vectors, ...points] });
    await noted.finish(); // A block a batch: blocks alone are read backwards.
    await context.pace.turn();
  }
  await spill.drop(plainFile);
  yield* noted.readBackwards();
  await spill.drop(file);
}

function pointVectors({ slot, value, slot2, value2 }: NextPoints): readonly Vector[] {
  return [slot, value, slot2, value2].map((values): Vector => ({ kind: "number", values, validity: undefined }));
}

/** What the slots of all pieces count from; a slot of the first batch that is seen. */
interface SlotFrame {
  origin: bigint | undefined;
}

/** Numbers series and slots of sorted groups that come batch by batch. */
class SortedWalk {
  private readonly node: FillSlots;
  private readonly frame: SlotFrame;
  private readonly sorter: Sorter;
  private number = 0;
  private neighbour: { readonly keys: BatchKeys; readonly row: number } | undefined;

  constructor(node: FillSlots, frame: SlotFrame, context: ExecContext) {
    this.node = node;
    this.frame = frame;
    this.sorter = new Sorter(slotOrder(node).slice(0, node.keyCount), node.input.columns, context);
  }

  /** The next batch in order, with the columns of points behind its own. */
  piece({ rowCount, vectors }: ExecBatch): SlotPiece {
    const { node, sorter } = this;
    const keys = sorter.keysOf({ rowCount, vectors });
    const series = new Int32Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      if (this.neighbour !== undefined && sorter.compare(this.neighbour.keys, this.neighbour.row, keys, row) !== 0) this.number++;
      this.neighbour = { keys, row };
      series[row] = this.number;
    }
    const { origin, steps } = this.stepsOf({ rowCount, vectors });
    let at = node.input.columns.length;
    const points = node.items.map(({ rule }) => {
      if (rule.kind !== "linear") return undefined;
      at += POINT_COLUMNS;
      return pointsOf(vectors.slice(at - POINT_COLUMNS, at));
    });
    const groups = { rowCount, vectors: vectors.slice(0, node.input.columns.length) };
    return { groups, order: Uint32Array.from({ length: rowCount }, (_, i) => i), series, steps, origin, points };
  }

  /** The batch before. Element `rowCount` of the series is that of the batch behind it. */
  backwards({ rowCount, vectors }: ExecBatch): { readonly steps: Float64Array; readonly series: Int32Array } {
    const { sorter } = this;
    const keys = sorter.keysOf({ rowCount, vectors });
    const series = new Int32Array(rowCount + 1).fill(this.number);
    for (let row = rowCount - 1; row >= 0; row--) {
      if (this.neighbour !== undefined && sorter.compare(keys, row, this.neighbour.keys, this.neighbour.row) !== 0) this.number++;
      this.neighbour = { keys, row };
      series[row] = this.number;
    }
    return { steps: this.stepsOf({ rowCount, vectors }).steps, series };
  }

  private stepsOf({ rowCount, vectors }: ExecBatch): { readonly origin: bigint; readonly steps: Float64Array } {
    const found = slotSteps(vectors[this.node.keyCount], rowCount, this.node.width, this.frame.origin);
    this.frame.origin ??= found.origin;
    return found;
  }
}

function pointsOf(vectors: readonly Vector[]): NextPoints {
  const [slot, value, slot2, value2] = vectors.map((vector) => {
    assert(vector.kind === "number" && vector.values instanceof Float64Array, `points are floats; got a ${vector.kind} vector`);
    return vector.values;
  });
  assert(slot !== undefined && value !== undefined && slot2 !== undefined && value2 !== undefined, "four columns a line");
  return { slot, value, slot2, value2 };
}

/** Slots as whole widths from an origin that is one of them; the first of the rows unless it is given. */
function slotSteps(
  vector: Vector | undefined,
  rowCount: number,
  width: bigint,
  given?: bigint,
): { readonly origin: bigint; readonly steps: Float64Array } {
  const steps = new Float64Array(rowCount);
  assert(vector !== undefined && isTimes(vector), `slots are times; got ${vector?.kind}`);
  if (vector.kind === "wide") {
    const origin = given ?? BigInt(vector.values[0] ?? 0n);
    for (let row = 0; row < rowCount; row++) steps[row] = Number((BigInt(vector.values[row] ?? 0n) - origin) / width);
    return { origin, steps };
  }
  const { base, offsets } = vector;
  const first = offsets[0] ?? 0;
  const size = Number(width);
  const origin = given ?? base + BigInt(first);
  const before = Number((base + BigInt(first) - origin) / width);
  // Both offsets are exact and their difference is off by one at most, which rounding undoes: a width is a millisecond or more.
  for (let row = 0; row < rowCount; row++) steps[row] = before + Math.round(((offsets[row] as number) - first) / size);
  return { origin, steps };
}
