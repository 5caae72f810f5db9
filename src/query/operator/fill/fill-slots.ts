/**
 * Series of slots without gaps: from the first slot of a series to its last, with FILL in the place of NULL.
 *
 * Groups come by series and slot (`slot-pieces.ts`), all at once or, where they do not fit in memory, some at a time. Rows come out a few
 * thousand at a time, so that a long gap costs time and no memory. A row is a position in the groups at hand, behind which three more rows
 * stand: what calls give without rows, the constants of FILL, and what the groups before left to PREV. So every rule but LINEAR is a choice
 * of positions, and columns of all types are gathered alike.
 */
import type { Batch } from "../../../column/batch.ts";
import { type DataType, FLOAT64 } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { castValue } from "../../../value/cast.ts";
import type { Value } from "../../function/value/value.ts";
import type { FilledColumn } from "./node.ts";
import type { PlanNode } from "../contract/node.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { concat } from "../kernels/concat.ts";
import { gather } from "../kernels/gather.ts";
import { type NextPoints, type SlotPiece, slotPieces } from "./slot-pieces.ts";
import { holding } from "../spill/spill-context.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";

type FillSlots = Extract<PlanNode, { kind: "fill-slots" }>;

/** Rows of a batch that is given out. */
const BATCH_ROWS = 8192;
/** Offsets of times are exact below this. */
const EXACT_MAX = 2 ** 52;
/** Rows behind the groups at hand: counted from the first of them. */
const [EMPTY, CONSTANT, BEFORE, EXTRA_ROWS] = [0, 1, 2, 3];

/** The series of `input`, one after the other, slots ascending. */
export function fillSlots(node: FillSlots, input: AsyncIterable<ExecBatch>, shared: ExecContext): AsyncIterable<ExecBatch> {
  return holding("FILL", node, shared, async function* (context, spill) {
    const walk = new SlotWalk(node);
    for await (const piece of slotPieces(node, input, context, spill)) {
      const writer = new SlotWriter(node, piece, walk, context);
      while (writer.next()) {
        checkCancelled(context);
        yield writer.batch();
        await context.pace.turn();
      }
      writer.end();
    }
  });
}

/** A group of a series with a value: its slot in widths from the origin. */
interface Point {
  readonly step: number;
  readonly value: number;
}

/** What is left of a column from the slots before. */
interface ColumnWalk {
  /** The last value that was not NULL, for PREV. */
  previous: Value;
  /** For LINEAR: the last two groups with a value. */
  last: Point | undefined;
  beforeLast: Point | undefined;
}

/** How far the slots of all series are written. */
class SlotWalk {
  series = -1;
  /** The next slot of that series, in widths from the origin. */
  step = 0;
  readonly columns: readonly ColumnWalk[];

  constructor(node: FillSlots) {
    this.columns = node.items.map(() => ({ previous: undefined, last: undefined, beforeLast: undefined }));
  }

  /** Begins a series at its first slot. */
  begin(series: number, step: number): void {
    this.series = series;
    this.step = step;
    for (const column of this.columns) {
      column.previous = undefined;
      column.last = undefined;
      column.beforeLast = undefined;
    }
  }
}

/** One column of a piece that is filled. */
interface FillColumn {
  readonly item: FilledColumn;
  readonly type: DataType;
  readonly walk: ColumnWalk;
  /** The groups, and the rows behind them. */
  readonly source: Vector;
  /** 1 where `source` is NULL. */
  readonly isNull: Uint8Array;
  /** For LINEAR: the values as floats, what follows each group, and the column that is written. */
  readonly line: LineColumn | undefined;
  /** Position of the last row of the series that was not NULL, or -1. */
  previous: number;
  /** Positions of the rows of the batch that is written. */
  readonly rows: Uint32Array;
}

interface LineColumn {
  readonly floats: Float64Array;
  readonly points: NextPoints;
  readonly isSingle: boolean;
  readonly values: Float64Array;
  readonly validity: Uint8Array;
}

/** Walks over the slots of the groups at hand and writes them batch by batch. */
class SlotWriter {
  private readonly node: FillSlots;
  private readonly piece: SlotPiece;
  private readonly walk: SlotWalk;
  private readonly columns: readonly FillColumn[];
  /** Where in the order of the groups the walk stands. */
  private at = 0;
  /** Positions of the groups that keys are taken from. */
  private readonly keyRows = new Uint32Array(BATCH_ROWS);
  private readonly offsets = new Float64Array(BATCH_ROWS);
  private base = 0;
  private count = 0;

  constructor(node: FillSlots, piece: SlotPiece, walk: SlotWalk, context: ExecContext) {
    this.node = node;
    this.piece = piece;
    this.walk = walk;
    this.begin();
    this.columns = node.items.map((_, i) => fillColumn(node, i, piece, walk, context));
  }

  /** Writes the next rows. Returns false when there are none. */
  next(): boolean {
    this.count = 0;
    const { walk, columns } = this;
    const { order, steps } = this.piece;
    while (this.count < BATCH_ROWS && this.at < order.length) {
      if (this.count === 0) this.base = walk.step;
      const group = order[this.at] as number;
      const offset = (walk.step - this.base) * Number(this.node.width);
      if (Math.abs(offset) > EXACT_MAX) break;
      this.offsets[this.count] = offset;
      const isThere = steps[group] === walk.step;
      this.keyRows[this.count] = group;
      for (let c = 0; c < columns.length; c++) this.write(columns[c], group, isThere);
      this.count++;
      walk.step++;
      if (!isThere) continue;
      this.at++;
      if (this.begin()) for (let c = 0; c < columns.length; c++) forget(columns[c]);
    }
    return this.count > 0;
  }

  /** The rows just written. */
  batch(): Batch {
    const { node, count } = this;
    const { groups, origin } = this.piece;
    const keys = groups.vectors.slice(0, node.keyCount).map((vector) => gather(vector, this.keyRows, count));
    const base = origin + BigInt(this.base) * node.width;
    const slot: Vector = { kind: "time", base, offsets: this.offsets.slice(0, count), validity: undefined };
    const filled = this.columns.map(({ line, source, rows }): Vector => {
      if (line === undefined) return gather(source, rows, count);
      return { kind: "number", values: line.values.slice(0, count), validity: line.validity.slice(0, count) };
    });
    return { rowCount: count, vectors: [...keys, slot, ...filled] };
  }

  /** Leaves to the next groups what they need of these. */
  end(): void {
    for (const { walk, previous, source, type } of this.columns) {
      const value = previous < 0 ? undefined : valueAt(source, type, previous);
      walk.previous = value instanceof Uint8Array ? value.slice() : value;
    }
  }

  /** One column of the row that is written. @param group the next group of the series, which the slot is that of or lies before */
  private write(column: FillColumn | undefined, group: number, isThere: boolean): void {
    if (column === undefined) return;
    const { item, rows, line } = column;
    const behind = this.piece.groups.rowCount;
    const row = isThere ? group : behind + EMPTY;
    const isNull = column.isNull[row] === 1;
    if (line !== undefined) this.writeLine(column, line, group, row, isNull, isThere);
    else if (!isNull) rows[this.count] = row;
    else if (item.rule.kind === "prev" && column.previous >= 0) rows[this.count] = column.previous;
    else rows[this.count] = item.rule.kind === "constant" ? behind + CONSTANT : row;
    if (!isNull) column.previous = row;
  }

  private writeLine({ walk }: FillColumn, line: LineColumn, group: number, row: number, isNull: boolean, isThere: boolean): void {
    const { step } = this.walk;
    const value = isNull ? onLine(walk, line.points, group, step) : line.floats[row];
    line.values[this.count] = line.isSingle ? Math.fround(value ?? 0) : (value ?? 0);
    line.validity[this.count] = value === undefined ? 0 : 1;
    if (isNull || !isThere) return;
    walk.beforeLast = walk.last;
    walk.last = { step, value: line.floats[row] as number };
  }

  /** Begins the series of the group at hand, if it is another one. */
  private begin(): boolean {
    const { order, series, steps } = this.piece;
    const group = order[this.at];
    if (group === undefined || series[group] === this.walk.series) return false;
    this.walk.begin(series[group] as number, steps[group] as number);
    return true;
  }
}

function forget(column: FillColumn | undefined): void {
  if (column !== undefined) column.previous = -1;
}

/**
 * The value at a slot on the line through the points before and behind it, or through the two nearest on one side. Undefined when the
 * series has fewer than two points.
 */
function onLine({ last, beforeLast }: ColumnWalk, points: NextPoints, group: number, step: number): number | undefined {
  const [x = Number.NaN, y = 0] = [points.slot[group], points.value[group]];
  if (Number.isNaN(x)) return last === undefined || beforeLast === undefined ? undefined : between(beforeLast, last, step);
  if (last !== undefined) return between(last, { step: x, value: y }, step);
  const [x2 = Number.NaN, y2 = 0] = [points.slot2[group], points.value2[group]];
  return Number.isNaN(x2) ? undefined : between({ step: x, value: y }, { step: x2, value: y2 }, step);
}

function between(a: Point, b: Point, step: number): number {
  return a.value + ((b.value - a.value) * (step - a.step)) / (b.step - a.step);
}

function fillColumn(node: FillSlots, index: number, { groups, points }: SlotPiece, walk: SlotWalk, context: ExecContext): FillColumn {
  const { rowCount, vectors } = groups;
  const item = node.items[index] ?? { column: -1, rule: { kind: "none" }, empty: undefined };
  const own = walk.columns[index] ?? { previous: undefined, last: undefined, beforeLast: undefined };
  const type: DataType = node.input.columns[item.column]?.type ?? { kind: "null" };
  const constant = item.rule.kind === "constant" ? item.rule.value : undefined;
  const held = vectors[item.column];
  const extra = { vector: valuesVector(type, [item.empty, constant, own.previous]), rowCount: EXTRA_ROWS };
  const source = held === undefined ? extra.vector : concat(type, [{ vector: held, rowCount }, extra]);
  const all = rowCount + EXTRA_ROWS;
  const isNull = new Uint8Array(all);
  const ahead = points[index];
  const floats = new Float64Array(ahead === undefined ? 0 : all);
  for (let row = 0; row < all; row++) {
    const value = valueAt(source, type, row);
    if (value === undefined) isNull[row] = 1;
    else if (ahead !== undefined) floats[row] = Number(castValue(value, type, FLOAT64, context.environment));
  }
  const previous = own.previous === undefined ? -1 : rowCount + BEFORE;
  return {
    item,
    type,
    walk: own,
    source,
    isNull,
    line: ahead && lineOf(node, index, floats, ahead),
    previous,
    rows: new Uint32Array(BATCH_ROWS),
  };
}

function lineOf(node: FillSlots, index: number, floats: Float64Array, points: NextPoints): LineColumn {
  const result = node.columns[node.keyCount + 1 + index]?.type;
  const isSingle = result?.kind === "float" && result.bits === 32;
  return { floats, points, isSingle, values: new Float64Array(BATCH_ROWS), validity: new Uint8Array(BATCH_ROWS) };
}
