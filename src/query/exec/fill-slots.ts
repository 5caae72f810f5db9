/**
 * Series of slots without gaps: from the first slot of a series to its last, with FILL in the place of NULL.
 *
 * Groups are held, numbered by series and sorted by slot. Then rows come out a few thousand at a time, so that a long gap costs time and
 * no memory. A row is a position in the held rows, behind which two more rows stand: what calls give without rows, and the constants of
 * FILL. So every rule but LINEAR is a choice of positions, and columns of all types are gathered alike.
 */
import { assert } from "../../base/assert.ts";
import type { Batch } from "../../column/batch.ts";
import { FLOAT64 } from "../../column/data-type.ts";
import { isTimes } from "../../column/times.ts";
import type { Vector } from "../../column/vector.ts";
import { castValue } from "../function/cast.ts";
import type { FilledColumn, PlanNode } from "../plan/node.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { HeldRows } from "./held-rows.ts";
import { concat } from "./kernels/concat.ts";
import { gather } from "./kernels/gather.ts";
import { RowCodes } from "./row-codes.ts";
import { valueAt, valuesVector } from "./vector-values.ts";

type FillSlots = Extract<PlanNode, { kind: "fill-slots" }>;

/** Rows of a batch that is given out. */
const BATCH_ROWS = 8192;
/** Bytes that a held group costs beside its values, for the budget. */
const GROUP_BYTES = 24;
/** Offsets of times are exact below this. */
const EXACT_MAX = 2 ** 52;

/** The series of `input`, one after the other, slots ascending. */
export async function* fillSlots(node: FillSlots, input: AsyncIterable<ExecBatch>, shared: ExecContext): AsyncIterable<ExecBatch> {
  const budget = shared.budget.part("FILL");
  const context = { ...shared, budget };
  try {
    const held = new HeldRows(node.input.columns, budget);
    for await (const batch of input) {
      checkCancelled(context);
      if (batch.rowCount > 0) held.add(batch);
    }
    if (held.rowCount === 0) return;
    const writer = new SlotWriter(node, held.joined(), context);
    while (writer.next()) {
      checkCancelled(context);
      yield writer.batch();
      await context.pace.turn();
    }
  } finally {
    budget.close();
  }
}

/** One column that is filled. */
interface FillColumn {
  readonly item: FilledColumn;
  /** The held rows, the row of calls without rows, the row of constants. */
  readonly source: Vector;
  /** 1 where `source` is NULL. */
  readonly isNull: Uint8Array;
  /** For LINEAR: the values as floats. */
  readonly floats: Float64Array | undefined;
  /** For LINEAR: whether the result is of type Float32. */
  readonly isSingle: boolean;
  /** For LINEAR: the groups of the series that have a value, and how many of them lie before the current slot. */
  points: number[];
  cursor: number;
  /** Position of the last row of the series that was not NULL, or -1. */
  previous: number;
}

/** Walks over the slots of all series and writes them batch by batch. */
class SlotWriter {
  private readonly node: FillSlots;
  private readonly groups: Batch;
  private readonly columns: readonly FillColumn[];
  /** Series of each group, and its slot in widths from `origin`. */
  private readonly series: Int32Array;
  private readonly steps: Float64Array;
  private readonly origin: bigint;
  /** Groups by series and slot. */
  private readonly order: Uint32Array;
  /** Where in `order` the walk stands, and at which slot. */
  private at = 0;
  private step = 0;
  /** Positions of the rows of the batch that is written: keys, and each column. */
  private readonly keyRows = new Uint32Array(BATCH_ROWS);
  private readonly rows: readonly Uint32Array[];
  private readonly lines: readonly (Float64Array | undefined)[];
  private readonly lineNulls: readonly Uint8Array[];
  private readonly offsets = new Float64Array(BATCH_ROWS);
  private base = 0;
  private count = 0;

  constructor(node: FillSlots, groups: Batch, context: ExecContext) {
    this.node = node;
    this.groups = groups;
    const { rowCount, vectors } = groups;
    const { keyCount } = node;
    context.budget.reserve(rowCount * (GROUP_BYTES + 9 * node.items.length));
    const types = node.input.columns.slice(0, keyCount).map((column) => column.type);
    const codes = new RowCodes(types, true, context.budget.reserve);
    this.series = codes.add(vectors.slice(0, keyCount), rowCount);
    const slots = slotSteps(vectors[keyCount], rowCount, node.width);
    this.origin = slots.origin;
    this.steps = slots.steps;
    this.order = Uint32Array.from({ length: rowCount }, (_, i) => i);
    const { series, steps } = this;
    this.order.sort((a, b) => (series[a] ?? 0) - (series[b] ?? 0) || (steps[a] ?? 0) - (steps[b] ?? 0));
    this.columns = node.items.map((item, i) => fillColumn(item, node, i, groups, context));
    this.rows = node.items.map(() => new Uint32Array(BATCH_ROWS));
    this.lines = this.columns.map(({ floats }) => (floats === undefined ? undefined : new Float64Array(BATCH_ROWS)));
    this.lineNulls = this.columns.map(({ floats }) => new Uint8Array(floats === undefined ? 0 : BATCH_ROWS));
    this.begin();
  }

  /** Writes the next rows. Returns false when there are none. */
  next(): boolean {
    this.count = 0;
    const { order, steps, series } = this;
    while (this.count < BATCH_ROWS && this.at < order.length) {
      if (this.count === 0) this.base = this.step;
      const group = order[this.at] ?? 0;
      const offset = (this.step - this.base) * Number(this.node.width);
      if (Math.abs(offset) > EXACT_MAX) break;
      this.offsets[this.count] = offset;
      const isThere = steps[group] === this.step;
      this.keyRows[this.count] = group;
      for (let c = 0; c < this.columns.length; c++) this.write(c, isThere ? group : -1);
      this.count++;
      this.step++;
      if (!isThere) continue;
      this.at++;
      const following = order[this.at];
      if (following === undefined || series[following] === series[group]) continue;
      this.begin();
    }
    return this.count > 0;
  }

  /** The rows just written. */
  batch(): Batch {
    const { node, groups, count } = this;
    const keys = groups.vectors.slice(0, node.keyCount).map((vector) => gather(vector, this.keyRows, count));
    const base = this.origin + BigInt(this.base) * node.width;
    const slot: Vector = { kind: "time", base, offsets: this.offsets.slice(0, count), validity: undefined };
    const filled = this.columns.map((column, c): Vector => {
      const line = this.lines[c];
      if (line !== undefined) return { kind: "number", values: line.slice(0, count), validity: this.lineNulls[c]?.slice(0, count) };
      return gather(column.source, this.rows[c] ?? this.keyRows, count);
    });
    return { rowCount: count, vectors: [...keys, slot, ...filled] };
  }

  /** One column of the row that is written. @param group -1: the slot has no rows */
  private write(c: number, group: number): void {
    const column = this.columns[c];
    const rows = this.rows[c];
    if (column === undefined || rows === undefined) return;
    const empty = this.groups.rowCount;
    const row = group < 0 ? empty : group;
    const isNull = column.isNull[row] === 1;
    const line = this.lines[c];
    if (line !== undefined) this.writeLine(column, line, this.lineNulls[c], row, isNull);
    else if (!isNull) rows[this.count] = row;
    else if (column.item.rule.kind === "prev" && column.previous >= 0) rows[this.count] = column.previous;
    else rows[this.count] = column.item.rule.kind === "constant" ? empty + 1 : row;
    if (!isNull) column.previous = row;
  }

  private writeLine(column: FillColumn, line: Float64Array, validity: Uint8Array | undefined, row: number, isNull: boolean): void {
    const { count } = this;
    const value = isNull ? this.onLine(column) : column.floats?.[row];
    line[count] = column.isSingle ? Math.fround(value ?? 0) : (value ?? 0);
    if (validity !== undefined) validity[count] = value === undefined ? 0 : 1;
  }

  /**
   * The value at the current slot on the line through the points before and behind it, or through the two nearest on one side.
   * Undefined when the series has fewer than two points.
   */
  private onLine(column: FillColumn): number | undefined {
    const { points } = column;
    const { steps, step } = this;
    if (points.length < 2) return undefined;
    while (column.cursor < points.length && (steps[points[column.cursor] ?? 0] ?? 0) < step) column.cursor++;
    const right = Math.min(Math.max(column.cursor, 1), points.length - 1);
    const [a, b] = [points[right - 1] ?? 0, points[right] ?? 0];
    const [x, y] = [steps[a] ?? 0, steps[b] ?? 0];
    const [from, to] = [column.floats?.[a] ?? 0, column.floats?.[b] ?? 0];
    return from + ((to - from) * (step - x)) / (y - x);
  }

  /** Begins the series at the current place in `order`. */
  private begin(): void {
    const { order, series, steps } = this;
    const first = order[this.at] ?? 0;
    this.step = steps[first] ?? 0;
    for (const column of this.columns) {
      column.previous = -1;
      if (column.floats === undefined) continue;
      column.cursor = 0;
      column.points = [];
      for (let at = this.at; at < order.length; at++) {
        const group = order[at] ?? 0;
        if (series[group] !== series[first]) break;
        if (column.isNull[group] !== 1) column.points.push(group);
      }
    }
  }
}

/** Slots as whole widths from an origin that is one of them. */
function slotSteps(vector: Vector | undefined, rowCount: number, width: bigint): { readonly origin: bigint; readonly steps: Float64Array } {
  const steps = new Float64Array(rowCount);
  assert(vector !== undefined && isTimes(vector), `slots are times; got ${vector?.kind}`);
  if (vector.kind === "wide") {
    const origin = BigInt(vector.values[0] ?? 0n);
    for (let row = 0; row < rowCount; row++) steps[row] = Number((BigInt(vector.values[row] ?? 0n) - origin) / width);
    return { origin, steps };
  }
  const { base, offsets } = vector;
  const first = offsets[0] ?? 0;
  const size = Number(width);
  // Both offsets are exact and their difference is off by one at most, which rounding undoes: a width is a millisecond or more.
  for (let row = 0; row < rowCount; row++) steps[row] = Math.round(((offsets[row] ?? 0) - first) / size);
  return { origin: base + BigInt(first), steps };
}

function fillColumn(item: FilledColumn, node: FillSlots, index: number, groups: Batch, context: ExecContext): FillColumn {
  const { rowCount, vectors } = groups;
  const type = node.input.columns[item.column]?.type ?? { kind: "null" };
  const constant = item.rule.kind === "constant" ? item.rule.value : undefined;
  const held = vectors[item.column];
  const ends = { vector: valuesVector(type, [item.empty, constant]), rowCount: 2 };
  const source = held === undefined ? ends.vector : concat(type, [{ vector: held, rowCount }, ends]);
  const isNull = new Uint8Array(rowCount + 2);
  const isLine = item.rule.kind === "linear";
  const floats = isLine ? new Float64Array(rowCount + 2) : undefined;
  for (let row = 0; row < rowCount + 2; row++) {
    const value = valueAt(source, type, row);
    if (value === undefined) isNull[row] = 1;
    else if (floats !== undefined) floats[row] = Number(castValue(value, type, FLOAT64, context.environment));
  }
  const result = node.columns[node.keyCount + 1 + index]?.type;
  const isSingle = result?.kind === "float" && result.bits === 32;
  return { item, source, isNull, floats, isSingle, points: [], cursor: 0, previous: -1 };
}
