/**
 * How rows lie once they are sorted: partitions one after the other, each a row of groups of peers (`sorted-rows.ts`).
 *
 * Rows are sorted by numbers that compare as the values of the keys do, one array a key. Most input comes sorted from the scan, which
 * one pass over the numbers finds out.
 */
import type { Vector } from "../../../column/vector.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { rowKeys } from "../kernels/row-keys.ts";
import { ranksOfRows } from "../kernels/row-order.ts";
import { type SortKey, sortKey, sortSteps } from "../kernels/sort-keys.ts";

/** Where partitions and groups of sorted rows begin, ascending. */
export interface Layout {
  /** With the number of rows at the end. */
  readonly partitionStarts: Uint32Array;
  /** The first group of each partition, with the number of groups at the end. */
  readonly partitionGroups: Uint32Array;
  readonly groupStarts: Uint32Array;
}

/** Rows whose place is looked for, of numbers alone. */
const LAID_PER_STEP = 1 << 16;

/** Numbers in the order of a key's values under its ORDER BY item, one a row. In steps. */
export function* orderKey(vector: Vector, item: SortItem, rowCount: number): Generator<void, SortKey> {
  const plain = sortKey(vector, rowCount, item);
  if (plain !== undefined) return plain;
  return { values: yield* ranksOfRows(rowKeys(vector, item.expression.type, rowCount, item), rowCount), classes: undefined };
}

/** Row positions in the order of several keys, equal rows as they came; undefined when the rows lie in order already. In steps. */
export function* sortedOrder(keys: readonly SortKey[], rowCount: number): Generator<void, Uint32Array | undefined> {
  let row = 1;
  while (row < rowCount) {
    const end = Math.min(rowCount, row + LAID_PER_STEP);
    if (!areSorted(keys, row, end)) return yield* sortSteps(rowCount, keys);
    row = end;
    yield;
  }
  return undefined;
}

/** Whether no row of `[from, to)` comes before the one before it. */
function areSorted(keys: readonly SortKey[], from: number, to: number): boolean {
  const [first] = keys;
  if (keys.length === 1 && first !== undefined && first.classes === undefined) {
    const { values } = first;
    for (let row = from; row < to; row++) if ((values[row - 1] as number) > (values[row] as number)) return false;
    return true;
  }
  for (let row = from; row < to; row++) if (areTurned(keys, row - 1, row)) return false;
  return true;
}

/** Whether row `a` comes behind row `b`. */
function areTurned(keys: readonly SortKey[], a: number, b: number): boolean {
  for (let k = 0; k < keys.length; k++) {
    const { values, classes } = keys[k] as SortKey;
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
  partition: readonly SortKey[],
  peers: readonly SortKey[],
  order: Uint32Array | undefined,
  rowCount: number,
): Generator<void, Layout> {
  const begins = new Uint8Array(rowCount);
  begins[0] = PARTITION;
  let partitions = 0;
  let groups = 0;
  for (let from = 0; from < rowCount; from += LAID_PER_STEP) {
    const to = Math.min(rowCount, from + LAID_PER_STEP);
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
function markChanges(
  { values, classes }: SortKey,
  order: Uint32Array | undefined,
  begins: Uint8Array,
  mark: number,
  from: number,
  to: number,
): void {
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
