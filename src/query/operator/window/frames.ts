/**
 * The frame of each row as two positions, `[starts[i], ends[i])`, empty where they meet. Both never fall within a partition as rows go on,
 * for every kind of frame: what the loops over frames rely on.
 */
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Value } from "../../function/value/value.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { FrameBound, WindowFrame } from "./node.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { compareItem } from "../rows/row-accumulator.ts";
import type { Layout } from "./layout.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** Frames of rows, as positions of rows. */
export interface Frames {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Values of an expression over all sorted rows. */
export type VectorOf = (expression: TypedExpression) => Vector;

/** The frames of all rows. @param item the only key of the order, for bounds by value */
export function framesOf(frame: WindowFrame, item: SortItem | undefined, layout: Layout, vectorOf: VectorOf): Frames {
  const starts = edge(frame.start, frame.unit, true, item, layout, vectorOf);
  const ends = edge(frame.end, frame.unit, false, item, layout, vectorOf);
  for (let i = 0; i < layout.rowCount; i++) if ((ends[i] ?? 0) < (starts[i] ?? 0)) ends[i] = starts[i] ?? 0;
  return { starts, ends };
}

function edge(
  bound: FrameBound,
  unit: WindowFrame["unit"],
  isStart: boolean,
  item: SortItem | undefined,
  layout: Layout,
  vectorOf: VectorOf,
): Uint32Array {
  switch (bound.kind) {
    case "unbounded":
      return partitionEdges(layout, isStart);
    case "current":
      return unit === "rows" ? rowEdges(0, isStart, layout) : groupEdges(0, isStart, layout);
    case "steps":
      return unit === "rows" ? rowEdges(bound.steps, isStart, layout) : groupEdges(bound.steps, isStart, layout);
    case "value": {
      const edges = groupEdges(0, isStart, layout);
      if (item !== undefined) valueEdges(edges, vectorOf(bound.key), vectorOf(bound.value), bound.key.type, isStart, item, layout);
      return edges;
    }
  }
}

function partitionEdges({ partitionStarts, rowCount }: Layout, isStart: boolean): Uint32Array {
  const edges = new Uint32Array(rowCount);
  for (let p = 0; p + 1 < partitionStarts.length; p++) {
    const [from = 0, to = 0] = [partitionStarts[p], partitionStarts[p + 1]];
    edges.fill(isStart ? from : to, from, to);
  }
  return edges;
}

function rowEdges(steps: number, isStart: boolean, { partitionStarts, rowCount }: Layout): Uint32Array {
  const edges = new Uint32Array(rowCount);
  const shift = isStart ? steps : steps + 1;
  for (let p = 0; p + 1 < partitionStarts.length; p++) {
    const [from = 0, to = 0] = [partitionStarts[p], partitionStarts[p + 1]];
    for (let i = from; i < to; i++) edges[i] = Math.min(Math.max(i + shift, from), to);
  }
  return edges;
}

function groupEdges(steps: number, isStart: boolean, { partitionStarts, groupStarts, groupOf, rowCount }: Layout): Uint32Array {
  const edges = new Uint32Array(rowCount);
  const shift = isStart ? steps : steps + 1;
  for (let p = 0; p + 1 < partitionStarts.length; p++) {
    const [from = 0, to = 0] = [partitionStarts[p], partitionStarts[p + 1]];
    const first = groupOf[from] ?? 0;
    const last = (groupOf[to - 1] ?? 0) + 1;
    for (let i = from; i < to; i++) edges[i] = groupStarts[Math.min(Math.max((groupOf[i] ?? 0) + shift, first), last)] ?? to;
  }
  return edges;
}

/** Moves the edges of rows whose value is not NULL: to the first row that is not before it, or to the first one behind it. */
function valueEdges(
  edges: Uint32Array,
  key: Vector,
  value: Vector,
  type: DataType,
  isStart: boolean,
  item: SortItem,
  layout: Layout,
): void {
  const { partitionStarts, rowCount } = layout;
  const order = comparison(key, value, type, item, rowCount);
  for (let p = 0; p + 1 < partitionStarts.length; p++) {
    const [from = 0, to = 0] = [partitionStarts[p], partitionStarts[p + 1]];
    let at = from;
    for (let i = from; i < to; i++) {
      if (order.isNull(i)) continue;
      if (isStart) while (at < to && order.compare(at, i) < 0) at++;
      else while (at < to && order.compare(at, i) <= 0) at++;
      edges[i] = at;
    }
  }
}

interface KeyOrder {
  /** Whether the value of a row is NULL. */
  readonly isNull: (row: number) => boolean;
  /** Order of the key of one row and the value of another. */
  readonly compare: (keyRow: number, valueRow: number) => number;
}

function comparison(key: Vector, value: Vector, type: DataType, item: SortItem, rowCount: number): KeyOrder {
  return numberComparison(key, value, type, item, rowCount) ?? valueComparison(key, value, type, item, rowCount);
}

function valueComparison(key: Vector, value: Vector, type: DataType, item: SortItem, rowCount: number): KeyOrder {
  const read = (vector: Vector): Value[] => Array.from({ length: rowCount }, (_, row) => valueAt(vector, type, row));
  const [keys, values] = [read(key), read(value)];
  return {
    isNull: (row) => values[row] === undefined,
    compare: (keyRow, valueRow) => compareItem(item, keys[keyRow], values[valueRow]),
  };
}

/** The same on plain numbers, where both are such; undefined where they are not. */
function numberComparison(key: Vector, value: Vector, type: DataType, item: SortItem, rowCount: number): KeyOrder | undefined {
  const base = key.kind === "time" ? key.base : 0n;
  const keys = numbersOf(key, base, rowCount);
  const values = numbersOf(value, base, rowCount);
  if (keys === undefined || values === undefined || key.kind !== value.kind) return undefined;
  const { validity } = value as Extract<Vector, { kind: "number" | "time" }>; // numbersOf gave numbers
  const keyValidity = (key as Extract<Vector, { kind: "number" | "time" }>).validity;
  if (type.kind === "float" && (keyValidity !== undefined || keys.includes(Number.NaN) || values.includes(Number.NaN))) return undefined;
  const sign = item.descending ? -1 : 1;
  const missing = item.nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  for (let i = 0; i < rowCount; i++) {
    keys[i] = keyValidity?.[i] === 0 ? missing : sign * (keys[i] ?? 0);
    values[i] = sign * (values[i] ?? 0);
  }
  return {
    isNull: (row) => validity?.[row] === 0,
    compare: (keyRow, valueRow) => {
      const [a = 0, b = 0] = [keys[keyRow], values[valueRow]];
      return a < b ? -1 : a > b ? 1 : 0;
    },
  };
}

/** The numbers of a vector, times as they lie from `base`, copied; undefined when it holds others. */
function numbersOf(vector: Vector, base: bigint, rowCount: number): Float64Array | undefined {
  if (vector.kind === "number") return new Float64Array(vector.values.subarray(0, rowCount));
  if (vector.kind !== "time") return undefined;
  const shift = Number(vector.base - base);
  const offsets = new Float64Array(vector.offsets.subarray(0, rowCount));
  if (shift === 0) return offsets;
  for (let i = 0; i < rowCount; i++) {
    const moved = (offsets[i] ?? 0) + shift;
    if (!Number.isSafeInteger(moved)) return undefined;
    offsets[i] = moved;
  }
  return offsets;
}
