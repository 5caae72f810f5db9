/**
 * How rows lie once they are sorted: partitions one after the other, each a row of groups of peers (`sorted-rows.ts`).
 *
 * Rows are sorted once, by numbers where the values of a key are numbers or times. Most input comes sorted from the scan, which one pass
 * over the keys finds out.
 */
import type { Vector } from "../../../column/vector.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { compareRows, type RowKey, rowKeys } from "../kernels/row-keys.ts";
import { orderOfRows } from "../kernels/row-order.ts";
import { rowKeysOf, type SortKey, sortKey } from "../kernels/sort-keys.ts";

/** Where partitions and groups of sorted rows begin, ascending. */
export interface Layout {
  /** With the number of rows at the end. */
  readonly partitionStarts: Uint32Array;
  /** The first group of each partition, with the number of groups at the end. */
  readonly partitionGroups: Uint32Array;
  readonly groupStarts: Uint32Array;
}

/** Rows whose place is looked for in one step: of numbers alone, and where keys are compared, of which long texts take a microsecond. */
const LAID_PER_STEP = 1 << 16;
const COMPARED_PER_STEP = 1 << 12;

/** What rows are sorted by under one item: numbers, or what sorts take for all other values. */
export type OrderKey = SortKey | readonly RowKey[];

/** The key of an ORDER BY item over some rows. */
export function orderKey(vector: Vector, item: SortItem, rowCount: number): OrderKey {
  return sortKey(vector, rowCount, item) ?? rowKeys(vector, item.expression.type, rowCount, item);
}

/** Row positions in the order of several keys, equal rows as they came; undefined when the rows lie in order already. In steps. */
export function* sortedOrder(keys: readonly OrderKey[], rowCount: number): Generator<void, Uint32Array | undefined> {
  let row = 1;
  while (row < rowCount) {
    const end = Math.min(rowCount, row + (keys.every(isNumbers) ? LAID_PER_STEP : COMPARED_PER_STEP));
    if (!areSorted(keys, row, end))
      return yield* orderOfRows(
        keys.flatMap((key) => (isNumbers(key) ? rowKeysOf(key) : key)),
        rowCount,
      );
    row = end;
    yield;
  }
  return undefined;
}

function isNumbers(key: OrderKey): key is SortKey {
  return "classes" in key;
}

/** Whether no row of `[from, to)` comes before the one before it. */
function areSorted(keys: readonly OrderKey[], from: number, to: number): boolean {
  const [first] = keys;
  if (keys.length === 1 && first !== undefined && isNumbers(first) && first.classes === undefined) {
    const { values } = first;
    for (let row = from; row < to; row++) if ((values[row - 1] as number) > (values[row] as number)) return false;
    return true;
  }
  for (let row = from; row < to; row++) if (areTurned(keys, row - 1, row)) return false;
  return true;
}

/** Whether row `a` comes behind row `b`. */
function areTurned(keys: readonly OrderKey[], a: number, b: number): boolean {
  for (let k = 0; k < keys.length; k++) {
    const key = keys[k] as OrderKey;
    if (!isNumbers(key)) {
      const order = compareRows(key, a, key, b);
      if (order !== 0) return order > 0;
      continue;
    }
    const { values, classes } = key;
    if (classes !== undefined && classes[a] !== classes[b]) return (classes[a] as number) > (classes[b] as number);
    if (values[a] !== values[b]) return (values[a] as number) > (values[b] as number);
  }
  return false;
}

/** What begins with a row. */
const GROUP = 1;
const PARTITION = 2;

/** The layout of rows in `order`, in steps. @param partition @param peers keys over unsorted rows */
export function* layoutOf(
  partition: readonly OrderKey[],
  peers: readonly OrderKey[],
  order: Uint32Array | undefined,
  rowCount: number,
): Generator<void, Layout> {
  const step = [...partition, ...peers].every(isNumbers) ? LAID_PER_STEP : COMPARED_PER_STEP;
  const begins = new Uint8Array(rowCount);
  begins[0] = PARTITION;
  let partitions = 0;
  let groups = 0;
  for (let from = 0; from < rowCount; from += step) {
    const to = Math.min(rowCount, from + step);
    for (const key of peers) markChanges(key, order, begins, GROUP, Math.max(1, from), to);
    for (const key of partition) markChanges(key, order, begins, PARTITION, Math.max(1, from), to);
    partitions += countOf(begins, PARTITION, from, to);
    groups += to - from - countOf(begins, 0, from, to);
    yield;
  }
  const layout = new GrowingLayout(partitions, groups, rowCount);
  for (let from = 0; from < rowCount; from += LAID_PER_STEP) {
    layout.add(begins, from, Math.min(rowCount, from + LAID_PER_STEP));
    yield;
  }
  return layout;
}

function countOf(marks: Uint8Array, mark: number, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to; i++) if (marks[i] === mark) count++;
  return count;
}

/** Filled from the first row on. */
class GrowingLayout implements Layout {
  readonly partitionStarts: Uint32Array;
  readonly partitionGroups: Uint32Array;
  readonly groupStarts: Uint32Array;
  private partitions = 0;
  private groups = 0;

  constructor(partitions: number, groups: number, rowCount: number) {
    this.partitionStarts = new Uint32Array(partitions + 1).fill(rowCount);
    this.partitionGroups = new Uint32Array(partitions + 1).fill(groups);
    this.groupStarts = new Uint32Array(groups);
  }

  add(begins: Uint8Array, from: number, to: number): void {
    const { partitionStarts, partitionGroups, groupStarts } = this;
    let { partitions, groups } = this;
    for (let i = from; i < to; i++) {
      if (begins[i] === 0) continue;
      if (begins[i] === PARTITION) {
        partitionGroups[partitions] = groups;
        partitionStarts[partitions++] = i;
      }
      groupStarts[groups++] = i;
    }
    this.partitions = partitions;
    this.groups = groups;
  }
}

/** Marks those of rows `[from, to)` in `order` whose key is not that of the row before. */
function markChanges(key: OrderKey, order: Uint32Array | undefined, begins: Uint8Array, mark: number, from: number, to: number): void {
  if (!isNumbers(key)) {
    for (let i = from; i < to; i++) {
      const [before, row] = order === undefined ? [i - 1, i] : [order[i - 1] as number, order[i] as number];
      if (compareRows(key, before, key, row) !== 0) begins[i] = mark;
    }
    return;
  }
  const { values, classes } = key;
  if (order === undefined) {
    for (let i = from; i < to; i++) if (values[i] !== values[i - 1]) begins[i] = mark;
    if (classes !== undefined) for (let i = from; i < to; i++) if (classes[i] !== classes[i - 1]) begins[i] = mark;
    return;
  }
  let before = order[from - 1] as number;
  for (let i = from; i < to; i++) {
    const row = order[i] as number;
    if (values[row] !== values[before] || (classes !== undefined && classes[row] !== classes[before])) begins[i] = mark;
    before = row;
  }
}
