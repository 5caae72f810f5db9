/**
 * Joins the cells of columns into rows of bytes.
 */
import type { CellColumn } from "./cell-column.ts";

/** What stands around the cells of a row. */
export interface RowLayout {
  /** One entry a column: what comes before its cell, e.g. `[` or `,` or `,"name":`. */
  readonly before: readonly Uint8Array[];
  /** What ends each row. */
  readonly after: Uint8Array;
}

/** Bytes of rows `[start, end)` with their layout. */
export function rowBytes(columns: readonly CellColumn[], layout: RowLayout, start: number, end: number): number {
  let total = (end - start) * layout.after.length;
  for (let c = 0; c < columns.length; c++) {
    const { starts, ends } = columns[c]!;
    total += (end - start) * layout.before[c]!.length;
    for (let row = start; row < end; row++) total += ends[row]! - starts[row]!;
  }
  return total;
}

/** Writes rows `[start, end)` into `target` from `at` on, which has room for `rowBytes` of them; returns the position after them. */
export function interleave(
  columns: readonly CellColumn[],
  layout: RowLayout,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const count = columns.length;
  const bytesOf = columns.map((column) => column.bytes);
  const startsOf = columns.map((column) => column.starts);
  const endsOf = columns.map((column) => column.ends);
  const { before, after } = layout;
  let next = at;
  for (let row = start; row < end; row++) {
    for (let c = 0; c < count; c++) {
      const lead = before[c]!;
      for (let i = 0; i < lead.length; i++) target[next++] = lead[i]!;
      const bytes = bytesOf[c]!;
      const from = startsOf[c]![row]!;
      const to = endsOf[c]![row]!;
      if (to - from > 128) {
        target.set(bytes.subarray(from, to), next);
        next += to - from;
      } else {
        for (let i = from; i < to; i++) target[next++] = bytes[i]!;
      }
    }
    for (let i = 0; i < after.length; i++) target[next++] = after[i]!;
  }
  return next;
}
