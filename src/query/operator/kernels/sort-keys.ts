/**
 * What rows of a window are sorted by, as numbers: two rows are peers where the numbers are equal. And the order of rows by comparing.
 *
 *   numbers, times   themselves (offsets, of times); negated for DESC
 *   class of a row   0 NULLs first, 1 and 2 numbers and NaN (the other way round for DESC), 3 NULLs last; undefined: all are 1
 */
import { countingUp } from "../../../base/bytes/counting-up.ts";
import { FLOAT64, INT32 } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import { type RowKey, rowKeys, type SortDirection } from "./row-keys.ts";

/** One key of an ORDER BY over some rows. */
export interface SortKey {
  readonly values: Float64Array;
  readonly classes: Uint8Array | undefined;
}

/** The key of a vector of numbers or times within 2^53 of each other; undefined for others. */
export function sortKey(vector: Vector, rowCount: number, direction: SortDirection): SortKey | undefined {
  switch (vector.kind) {
    case "number":
      return numberKey(new Float64Array(vector.values.subarray(0, rowCount)), vector.validity, direction);
    case "time":
      return numberKey(vector.offsets.slice(0, rowCount), vector.validity, direction);
    default:
      return undefined;
  }
}

/** Takes `values` for its own. */
function numberKey(values: Float64Array, validity: Validity, { descending, nullsFirst }: SortDirection): SortKey {
  const sign = descending ? -1 : 1;
  const nullClass = nullsFirst ? 0 : 3;
  let classes: Uint8Array | undefined;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (validity?.[i] === 0) {
      classes ??= new Uint8Array(values.length).fill(descending ? 2 : 1);
      classes[i] = nullClass;
      values[i] = 0;
    } else if (value !== value) {
      classes ??= new Uint8Array(values.length).fill(descending ? 2 : 1);
      classes[i] = descending ? 1 : 2;
      values[i] = 0;
    } else values[i] = sign * value;
  }
  return { values, classes };
}

const ASCENDING: SortDirection = { descending: false, nullsFirst: true };

/** What sorts take for a key. */
export function rowKeysOf({ values, classes }: SortKey): readonly RowKey[] {
  const { length } = values;
  const numbers = rowKeys({ kind: "number", values, validity: undefined }, FLOAT64, length, ASCENDING);
  if (classes === undefined) return numbers;
  return [...rowKeys({ kind: "number", values: classes, validity: undefined }, INT32, length, ASCENDING), ...numbers];
}

/** Rows that are compared with each other in one step: of long texts each takes 5 µs. */
const COMPARED_ROWS = 1 << 12;

type Compare = (a: number, b: number) => number;

/**
 * Rows `[0, rowCount)` in the order of a comparison of positions; equal rows keep theirs. Short ranges are sorted, then merged two by two.
 * In steps: the oracle of `row-order.ts`, for values of any kind.
 */
export function* comparedOrder(length: number, compare: Compare): Generator<void, Uint32Array<ArrayBuffer>> {
  const rows = countingUp(length);
  for (let at = 0; at < length; at += COMPARED_ROWS) {
    rows.subarray(at, Math.min(length, at + COMPARED_ROWS)).sort((a, b) => compare(a, b) || a - b);
    yield;
  }
  let from = rows;
  let to = new Uint32Array(length > COMPARED_ROWS ? length : 0);
  for (let width = COMPARED_ROWS; width < length; width *= 2) {
    for (let at = 0; at < length; at += 2 * width) {
      yield* mergeRanges(from, to, at, Math.min(length, at + width), Math.min(length, at + 2 * width), compare);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Sorted rows `[start, middle)` and `[middle, end)` of `from` as one in `to`. */
function* mergeRanges(
  from: Uint32Array,
  to: Uint32Array,
  start: number,
  middle: number,
  end: number,
  compare: Compare,
): Generator<void, void> {
  let [left, right] = [start, middle];
  for (let at = start; at < end; ) {
    const stop = Math.min(end, at + COMPARED_ROWS);
    for (; at < stop; at++) {
      const takesLeft = right >= end || (left < middle && compare(from[left]!, from[right]!) <= 0);
      to[at] = takesLeft ? from[left++]! : from[right++]!;
    }
    yield;
  }
}
