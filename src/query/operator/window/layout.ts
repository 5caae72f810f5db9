/**
 * How rows lie once they are sorted: partitions one after the other, each a row of groups of peers (`sorted-rows.ts`).
 *
 * Rows are sorted by numbers that compare as the values of the keys do, one array a key. Most input comes sorted from the scan, which
 * one pass over the numbers finds out.
 */
import { textAt } from "../../../column/text-table.ts";
import { SplitMap } from "../../../base/bytes/split-map.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { compareValues, type Present, valueKey } from "../../function/value/value.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { type SortKey, sortKey, sortSteps } from "../kernels/sort-keys.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** Where partitions and groups of sorted rows begin, ascending. */
export interface Layout {
  /** With the number of rows at the end. */
  readonly partitionStarts: Uint32Array;
  /** The first group of each partition, with the number of groups at the end. */
  readonly partitionGroups: Uint32Array;
  readonly groupStarts: Uint32Array;
}

/** Rows that are looked at before others get a turn: some milliseconds, of texts too. */
const ROWS_PER_STEP = 4096;

/** Rows whose place is looked for, of numbers alone. */
const LAID_PER_STEP = 1 << 16;

/** Numbers in the order of a key's values under its ORDER BY item, one a row. In steps. */
export function* orderKey(vector: Vector, item: SortItem, rowCount: number): Generator<void, SortKey> {
  if (vector.kind === "dictionary") {
    const { codes, dictionary } = vector;
    return { values: yield* entryRanks(codes, dictionary.length, (code) => dictionary[code], item, rowCount), classes: undefined };
  }
  if (vector.kind === "coded") {
    const { codes, entries } = vector;
    return { values: yield* entryRanks(codes, entries.size, (code) => textAt(entries, code), item, rowCount), classes: undefined };
  }
  const plain = sortKey(vector, rowCount, item, compareValues);
  if (plain !== undefined) return plain;
  return { values: yield* valueRanks(vector, item.expression.type, item, rowCount), classes: undefined };
}

/** Where NULL stands among numbers that lie between the infinities. */
const nullCode = (item: SortItem): number => (item.nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);

function* entryRanks(
  codes: Uint32Array,
  entryCount: number,
  textOf: (code: number) => string | undefined,
  item: SortItem,
  rowCount: number,
): Generator<void, Float64Array> {
  const numbers = new Int32Array(entryCount).fill(-1);
  const values: (Present | undefined)[] = [];
  for (let i = 0; i < rowCount; i++) {
    const code = codes[i] ?? 0;
    if (numbers[code] === -1) numbers[code] = values.push(textOf(code)) - 1;
  }
  yield;
  const ranks = yield* ranked(values, item);
  const ranksOfRows = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) ranksOfRows[i] = ranks[numbers[codes[i] ?? 0] ?? 0] ?? 0;
  return ranksOfRows;
}

function* valueRanks(vector: Vector, type: DataType, item: SortItem, rowCount: number): Generator<void, Float64Array> {
  const numbers = new SplitMap<number>();
  const values: (Present | undefined)[] = [];
  const codes = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) {
    const value = valueAt(vector, type, i);
    const key = valueKey(value);
    let number = numbers.get(key);
    if (number === undefined) {
      number = values.push(value) - 1;
      numbers.set(key, number);
    }
    codes[i] = number;
    if (i % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
  }
  const ranks = yield* ranked(values, item);
  for (let i = 0; i < rowCount; i++) codes[i] = ranks[codes[i] ?? 0] ?? 0;
  return codes;
}

/** The place of each value in the order; equal values, such as several entries of one text, share one. */
function* ranked(values: readonly (Present | undefined)[], item: SortItem): Generator<void, Float64Array> {
  const byValue = (a: number, b: number): number => {
    const x = values[a];
    const y = values[b];
    return x === undefined || y === undefined ? Number(x === undefined) - Number(y === undefined) : compareValues(x, y);
  };
  const order = yield* sortSteps(values.length, [byValue]);
  const ranks = new Float64Array(values.length);
  let rank = 0;
  for (let place = 0; place < order.length; place++) {
    const at = order[place] ?? 0;
    if (place > 0 && byValue(order[place - 1] ?? 0, at) !== 0) rank++;
    ranks[at] = values[at] === undefined ? nullCode(item) : item.descending ? -rank : rank;
    if (place % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
  }
  return ranks;
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
