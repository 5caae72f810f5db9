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

/** Numbers in the order of a key's values under its ORDER BY item: `codes.length === rowCount`. None is NaN. */
export function orderCodes(vector: Vector, item: SortItem, rowCount: number): Float64Array {
  const { type } = item.expression;
  const direct = directCodes(vector, type, item, rowCount);
  if (direct !== undefined) return direct;
  const ranks = vector.kind === "dictionary" ? dictionaryRanks(vector, item, rowCount) : valueRanks(vector, type, item, rowCount);
  return ranks;
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

function dictionaryRanks(vector: Extract<Vector, { kind: "dictionary" }>, item: SortItem, rowCount: number): Float64Array {
  const { codes, dictionary } = vector;
  const used = new Set<number>();
  for (let i = 0; i < rowCount; i++) used.add(codes[i] ?? 0);
  const entries = new Map([...used].map((code) => [code, dictionary[code]] as const));
  const ranks = ranked(entries, item);
  const ranksOfRows = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) ranksOfRows[i] = ranks.get(codes[i] ?? 0) ?? 0;
  return ranksOfRows;
}

function valueRanks(vector: Vector, type: DataType, item: SortItem, rowCount: number): Float64Array {
  const numbers = new Map<string, number>();
  const values = new Map<number, Present | undefined>();
  const codes = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) {
    const value = valueAt(vector, type, i);
    const key = valueKey(value);
    let number = numbers.get(key);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(key, number);
      values.set(number, value);
    }
    codes[i] = number;
  }
  const ranks = ranked(values, item);
  for (let i = 0; i < rowCount; i++) codes[i] = ranks.get(codes[i] ?? 0) ?? 0;
  return codes;
}

/** The place of each distinct value in the order; equal values, such as several entries of one text, share one. */
function ranked(values: ReadonlyMap<number, Present | undefined>, item: SortItem): ReadonlyMap<number, number> {
  const sorted = [...values].filter((entry): entry is [number, Present] => entry[1] !== undefined);
  sorted.sort(([, a], [, b]) => compareValues(a, b));
  const ranks = new Map<number, number>();
  let rank = 0;
  let previous: Present | undefined;
  for (const [number, value] of sorted) {
    if (previous !== undefined && compareValues(previous, value) !== 0) rank++;
    ranks.set(number, item.descending ? -rank : rank);
    previous = value;
  }
  for (const [number, value] of values) if (value === undefined) ranks.set(number, nullCode(item));
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

/** The layout of rows in `order`. @param partition @param peers codes of the keys, over unsorted rows */
export function layoutOf(
  partition: readonly Float64Array[],
  peers: readonly Float64Array[],
  order: Uint32Array | undefined,
  rowCount: number,
): Layout {
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
