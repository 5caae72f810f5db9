/**
 * How the rows of a window operator lie once they are sorted: partitions one after the other, each a row of groups of peers.
 *
 *   rows        0 1 2 3 4 5 6 7 8
 *   partitions  |-------|---------|      partitionStarts = 0 4 9
 *   groups      |-|---|-|---|-----|      groupStarts = 0 1 3 4 6 9, groupOf = 0 1 1 2 3 3 4 4 4
 *
 * Rows are sorted by numbers that compare as the values of the keys do, one array a key. Most input comes sorted from the scan, which
 * one pass over the numbers finds out.
 */
import { SplitMap } from "../../../base/bytes/split-map.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { compareValues, type Present, valueKey } from "../../function/value/value.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { sortSteps } from "../kernels/sort-keys.ts";
import { valueAt } from "../../expression/vector-values.ts";

/** Partitions and groups of sorted rows. All positions count rows or groups from the first of the operator. */
export interface Layout {
  readonly rowCount: number;
  /** Ascending, with `rowCount` at the end. */
  readonly partitionStarts: Uint32Array;
  /** Ascending, with `rowCount` at the end. */
  readonly groupStarts: Uint32Array;
  /** The group of each row. */
  readonly groupOf: Uint32Array;
}

/** Rows that are looked at before others get a turn: some milliseconds, of texts too. */
const ROWS_PER_STEP = 4096;

/** Rows whose place is looked for, of numbers alone. */
const LAID_PER_STEP = 1 << 18;

/** Numbers in the order of a key's values under its ORDER BY item: `codes.length === rowCount`. None is NaN. In steps. */
export function* orderCodes(vector: Vector, item: SortItem, rowCount: number): Generator<void, Float64Array> {
  const { type } = item.expression;
  const direct = directCodes(vector, type, item, rowCount);
  if (direct !== undefined) return direct;
  if (vector.kind === "dictionary") return yield* dictionaryRanks(vector, item, rowCount);
  return yield* valueRanks(vector, type, item, rowCount);
}

/** Where NULL stands among numbers that lie between the infinities. */
const nullCode = (item: SortItem): number => (item.nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);

/** The values themselves, turned round for DESC, where they are plain numbers; undefined where they are not. */
function directCodes(vector: Vector, type: DataType, item: SortItem, rowCount: number): Float64Array | undefined {
  if (vector.kind !== "number" && vector.kind !== "time") return undefined;
  const source = vector.kind === "time" ? vector.offsets : vector.values;
  const { validity } = vector;
  const codes = new Float64Array(source.subarray(0, rowCount));
  if (type.kind === "float") {
    // NULL and NaN have no place among all floats.
    if (validity?.subarray(0, rowCount).includes(0) === true || codes.includes(Number.NaN)) return undefined;
  }
  if (item.descending) for (let i = 0; i < rowCount; i++) codes[i] = -(codes[i] ?? 0);
  if (validity !== undefined) {
    const missing = nullCode(item);
    for (let i = 0; i < rowCount; i++) if (validity[i] === 0) codes[i] = missing;
  }
  return codes;
}

function* dictionaryRanks(
  { codes, dictionary }: Extract<Vector, { kind: "dictionary" }>,
  item: SortItem,
  rowCount: number,
): Generator<void, Float64Array> {
  const numbers = new Int32Array(dictionary.length).fill(-1);
  const values: (Present | undefined)[] = [];
  for (let i = 0; i < rowCount; i++) {
    const code = codes[i] ?? 0;
    if (numbers[code] === -1) numbers[code] = values.push(dictionary[code]) - 1;
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
    const [x, y] = [values[a], values[b]];
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
export function* sortedOrder(keys: readonly Float64Array[], rowCount: number): Generator<void, Uint32Array | undefined> {
  if (isSorted(keys, rowCount)) return undefined;
  return yield* sortSteps(
    rowCount,
    keys.map((values) => ({ values, classes: undefined })),
  );
}

/** Not a subtraction: the difference of two equal infinities is no number. */
function difference(key: Float64Array, a: number, b: number): number {
  const x = key[a] ?? 0;
  const y = key[b] ?? 0;
  return x < y ? -1 : x > y ? 1 : 0;
}

function compareRows(keys: readonly Float64Array[], a: number, b: number): number {
  for (const key of keys) {
    const order = difference(key, a, b);
    if (order !== 0) return order;
  }
  return 0;
}

function isSorted(keys: readonly Float64Array[], rowCount: number): boolean {
  for (let i = 1; i < rowCount; i++) if (compareRows(keys, i - 1, i) > 0) return false;
  return true;
}

/** The layout of rows in `order`, in steps. @param partition @param peers codes of the keys, over unsorted rows */
export function* layoutOf(
  partition: readonly Float64Array[],
  peers: readonly Float64Array[],
  order: Uint32Array | undefined,
  rowCount: number,
): Generator<void, Layout> {
  const partitionStarts = new Uint32Array(rowCount + 1);
  const groupStarts = new Uint32Array(rowCount + 1);
  const groupOf = new Uint32Array(rowCount);
  let [partitions, groups] = [0, 0];
  for (let i = 0; i < rowCount; i++) {
    const row = order === undefined ? i : (order[i] ?? 0);
    const before = order === undefined ? i - 1 : (order[i - 1] ?? 0);
    const isNew = i === 0 || differs(partition, before, row);
    if (isNew) partitionStarts[partitions++] = i;
    if (isNew || differs(peers, before, row)) groupStarts[groups++] = i;
    groupOf[i] = groups - 1;
    if (i % LAID_PER_STEP === LAID_PER_STEP - 1) yield;
  }
  partitionStarts[partitions] = rowCount;
  groupStarts[groups] = rowCount;
  return {
    rowCount,
    partitionStarts: partitionStarts.subarray(0, partitions + 1),
    groupStarts: groupStarts.subarray(0, groups + 1),
    groupOf,
  };
}

function differs(keys: readonly Float64Array[], a: number, b: number): boolean {
  for (const key of keys) if (key[a] !== key[b]) return true;
  return false;
}
