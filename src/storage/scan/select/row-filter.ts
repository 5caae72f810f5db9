/**
 * Which rows of a batch may meet a condition, found before its other columns are read: of a query for one row in ten nine tenths of what
 * a scan would join are never touched. Whoever asked for the scan tests the rows again, so a row too many does no harm.
 */
import type { ColumnCondition } from "./column-condition.ts";
import type { Piece, ScanColumn } from "../runs/scan-source.ts";

/** Bounds on a column of numbers, inclusive; undefined = open. NaN is above all numbers. NULL meets none. */
export interface RowFilter {
  readonly column: ScanColumn;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** The filter that the conditions of a scan allow, which all rows of interest meet. @param fields what the scan reads */
export function rowFilterOf(conditions: readonly ColumnCondition[], fields: readonly ScanColumn[]): RowFilter | undefined {
  for (const condition of conditions) {
    if (condition.kind !== "range") continue;
    const { min, columnId } = condition;
    const max = Number.isNaN(condition.max) ? undefined : condition.max; // Nothing is above NaN.
    if ((min !== undefined && typeof min !== "number") || (max !== undefined && typeof max !== "number")) continue;
    if (min === undefined && max === undefined) continue;
    const column = fields.find(({ id }) => id === columnId);
    if (column?.type.kind === "int" || column?.type.kind === "float") return { column, min, max };
  }
  return undefined;
}

/** Positions of the rows that may meet the filter, ascending; `pieces` are its column's values, `rowCount` of them. */
export function selectRows({ min, max }: RowFilter, pieces: readonly Piece[], rowCount: number): Uint32Array {
  const selected = new Uint32Array(rowCount);
  const low = min ?? Number.NEGATIVE_INFINITY;
  const isOpen = max === undefined;
  const high = max ?? Number.POSITIVE_INFINITY;
  let count = 0;
  let at = 0;
  for (const { vector, from, to } of pieces) {
    const shift = at - from;
    at += to - from;
    if (vector === undefined) continue; // NULLs
    if (vector.kind !== "number") {
      for (let i = from; i < to; i++) selected[count++] = i + shift;
      continue;
    }
    const { values, validity } = vector;
    count = isOpen
      ? selectAbove(values, from, to, shift, low, selected, count)
      : selectBetween(values, from, to, shift, low, high, selected, count);
    if (validity !== undefined) count = dropNulls(validity, shift, from + shift, selected, count);
  }
  return selected.subarray(0, count);
}

type Numbers = Extract<NonNullable<Piece["vector"]>, { kind: "number" }>["values"];

/** Without a branch a row: whether a row is wanted is a coin that the processor cannot guess. */
function selectAbove(values: Numbers, from: number, to: number, shift: number, low: number, selected: Uint32Array, count: number): number {
  let next = count;
  for (let i = from; i < to; i++) {
    selected[next] = i + shift;
    next += (values[i] as number) < low ? 0 : 1; // NaN is above.
  }
  return next;
}

function selectBetween(
  values: Numbers,
  from: number,
  to: number,
  shift: number,
  low: number,
  high: number,
  selected: Uint32Array,
  count: number,
): number {
  let next = count;
  for (let i = from; i < to; i++) {
    const value = values[i] as number;
    selected[next] = i + shift;
    next += value >= low && value <= high ? 1 : 0;
  }
  return next;
}

/** Takes NULLs out of the positions from `first` on. */
function dropNulls(validity: Uint8Array, shift: number, first: number, selected: Uint32Array, count: number): number {
  let begin = count;
  while (begin > 0 && (selected[begin - 1] as number) >= first) begin--;
  let kept = begin;
  for (let i = begin; i < count; i++) {
    const row = selected[i] as number;
    if (validity[row - shift] !== 0) selected[kept++] = row;
  }
  return kept;
}
