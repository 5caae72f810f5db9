/**
 * The frame of each row as two positions, `[starts[i], ends[i])`, empty where they meet. Both never fall as rows go on, from one chunk to
 * the next neither, for every kind of frame: what the loops over frames rely on. Edges of rows are computed, those of groups looked up,
 * and those by value found by a cursor that goes through the keys once.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { valueAt } from "../../expression/vector-values.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { compareItem } from "../rows/row-accumulator.ts";
import type { FrameBound, WindowFrame } from "./node.ts";
import { offsetsFrom } from "./plain-numbers.ts";
import { type Chunk, RowValues, type SortedRows } from "./sorted-rows.ts";

/** Frames of the rows of a chunk, as positions of rows. */
export interface Frames {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** The frames of some calls, chunk by chunk. */
export class FramesOf {
  private readonly start: Edge;
  private readonly end: Edge;
  /** Of the chunk at hand: calls that share frames ask one after the other. */
  private known: { readonly chunk: Chunk; readonly frames: Frames } | undefined;

  /** @param item the only key of the order, for bounds by value */
  constructor({ unit, start, end }: WindowFrame, item: SortItem | undefined, rows: SortedRows, context: ExecContext) {
    const edge = (bound: FrameBound, isStart: boolean): Edge => {
      if (bound.kind !== "value") return (chunk) => placeEdges(bound, unit, isStart, chunk, rows);
      const edges = new ValueEdges(bound, item, isStart, rows, context);
      return (chunk) => edges.of(chunk);
    };
    this.start = edge(start, true);
    this.end = edge(end, false);
  }

  /** Frames of the rows of the next chunk, or of the one at hand again. */
  of(chunk: Chunk): Frames | Promise<Frames> {
    if (this.known?.chunk === chunk) return this.known.frames;
    const starts = this.start(chunk);
    if (starts instanceof Promise) return starts.then(async (found) => this.between(chunk, found, await this.end(chunk)));
    const ends = this.end(chunk);
    return ends instanceof Promise ? ends.then((found) => this.between(chunk, starts, found)) : this.between(chunk, starts, ends);
  }

  private between(chunk: Chunk, starts: Uint32Array, ends: Uint32Array): Frames {
    for (let i = 0; i < ends.length; i++) if ((ends[i] as number) < (starts[i] as number)) ends[i] = starts[i] as number;
    this.known = { chunk, frames: { starts, ends } };
    return this.known.frames;
  }
}

/** One end of the frames of a chunk. */
type Edge = (chunk: Chunk) => Uint32Array | Promise<Uint32Array>;

/** Edges that places alone decide. */
function placeEdges(
  bound: Exclude<FrameBound, { kind: "value" }>,
  unit: WindowFrame["unit"],
  isStart: boolean,
  { from, to, groups, partition }: Chunk,
  { partitionStarts, partitionGroups, groups: allGroups }: SortedRows,
): Uint32Array | Promise<Uint32Array> {
  const edges = new Uint32Array(to - from);
  const shift = (bound.kind === "steps" ? bound.steps : 0) + (isStart ? 0 : 1);
  const areRows = unit === "rows";
  for (let p = partition; (partitionStarts[p] as number) < to; p++) {
    const first = partitionStarts[p] as number;
    const end = partitionStarts[p + 1] as number;
    const row = Math.max(first, from);
    const rowEnd = Math.min(end, to);
    if (bound.kind === "unbounded") edges.fill(isStart ? first : end, row - from, rowEnd - from);
    else if (areRows) shiftRows(edges, from, row, rowEnd, shift, first, end);
    else shiftGroups(groups, edges, row - from, rowEnd - from, shift, partitionGroups[p] as number, partitionGroups[p + 1] as number);
  }
  return areRows || bound.kind === "unbounded" ? edges : allGroups.at(edges);
}

function shiftRows(into: Uint32Array, base: number, from: number, to: number, shift: number, first: number, end: number): void {
  for (let i = from; i < to; i++) into[i - base] = Math.min(Math.max(i + shift, first), end);
}

function shiftGroups(groups: Uint32Array, into: Uint32Array, from: number, to: number, shift: number, first: number, end: number): void {
  for (let i = from; i < to; i++) into[i] = Math.min(Math.max((groups[i] as number) + shift, first), end);
}

/** Order of the key at one place and the value at another. */
type KeyOrder = (key: number, value: number) => number;

/** Edges by value: the first row that is not before it, or the first one behind it; of NULL the edge of its peers. */
class ValueEdges {
  private readonly item: SortItem;
  private readonly isStart: boolean;
  private readonly type: DataType;
  private readonly rows: SortedRows;
  private readonly context: ExecContext;
  private readonly values: VectorEvaluator;
  private readonly keyValues: RowValues;
  /** The row that the cursor has come to, and the rows whose keys are at hand. */
  private at = 0;
  private partition = 0;
  private from = 0;
  private to = 0;
  private keys: Vector | undefined;

  constructor(
    bound: Extract<FrameBound, { kind: "value" }>,
    item: SortItem | undefined,
    isStart: boolean,
    rows: SortedRows,
    context: ExecContext,
  ) {
    this.item = item ?? { expression: bound.key, descending: false, nullsFirst: false };
    this.isStart = isStart;
    this.type = bound.key.type;
    this.rows = rows;
    this.context = context;
    this.values = new VectorEvaluator(bound.value, rows.columns, context);
    this.keyValues = new RowValues([bound.key], rows, context);
  }

  async of(chunk: Chunk): Promise<Uint32Array> {
    const edges = await placeEdges({ kind: "current" }, "range", this.isStart, chunk, this.rows);
    const values = await this.values.vectorInTurns(chunk.batch);
    for (let i = 0; (i = this.moved(edges, values, i, chunk)) < edges.length; ) await this.readOn();
    return edges;
  }

  /** Moves edges from `i` on, up to the row that needs a key which is not at hand: that is the result. */
  private moved(edges: Uint32Array, values: Vector, i: number, chunk: Chunk): number {
    const { partitionStarts } = this.rows;
    const { from, to } = this;
    const isNull = nullsOf(values, this.type);
    const order = this.keys === undefined ? undefined : orderOf(this.keys, values, this.type, this.item, edges.length);
    const behind = this.isStart ? 0 : 1;
    let { at, partition } = this;
    let end = partitionStarts[partition + 1] as number;
    for (; i < edges.length; i++) {
      while (end <= chunk.from + i) {
        at = Math.max(at, end);
        end = partitionStarts[++partition + 1] as number;
      }
      if (isNull(i)) continue;
      while (at < to && at < end && order !== undefined && order(at - from, i) < behind) at++;
      if (at >= to && at < end) break;
      edges[i] = at;
    }
    [this.at, this.partition] = [at, partition];
    return i;
  }

  /** Reads the keys from the cursor on. */
  private async readOn(): Promise<void> {
    checkCancelled(this.context);
    if (this.context.pace.isDue()) await this.context.pace.turn();
    this.from = this.at;
    this.to = Math.min(this.rows.rowCount, this.at + this.rows.chunkRows);
    [this.keys] = await this.keyValues.over(this.from, this.to);
  }
}

function nullsOf(vector: Vector, type: DataType): (row: number) => boolean {
  if (vector.kind !== "number" && vector.kind !== "time") return (row) => valueAt(vector, type, row) === undefined;
  const { validity } = vector;
  return (row) => validity?.[row] === 0;
}

/** How keys and values, the first `count` of which are looked at, compare. No value that is looked at is NULL. */
function orderOf(keys: Vector, values: Vector, type: DataType, item: SortItem, count: number): KeyOrder {
  const base = keys.kind === "time" ? keys.base : 0n;
  const y = keys.kind === values.kind ? offsetsFrom(base, values, count) : undefined;
  if (y === undefined || (keys.kind !== "number" && keys.kind !== "time")) {
    return (key, value) => compareItem(item, valueAt(keys, type, key), valueAt(values, type, value));
  }
  const x = keys.kind === "time" ? keys.offsets : keys.values;
  const { validity } = keys;
  const [sign, missing] = [item.descending ? -1 : 1, item.nullsFirst ? -1 : 1];
  return (key, value) => {
    if (validity !== undefined && validity[key] === 0) return missing;
    const a = x[key] as number;
    const b = y[value] as number;
    if (a < b) return -sign;
    if (a > b) return sign;
    return a === b ? 0 : sign * (Number(a !== a) - Number(b !== b)); // NaN is the greatest
  };
}
