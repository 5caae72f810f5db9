/**
 * Joins the cells of columns into rows of bytes: first where each row begins, then column by column, so that each loop reads one column's
 * arrays. Cells are copied four bytes at a time and may run over into what follows in their row, which is written after them, where that is
 * always long enough; the next row is there already.
 */
import type { CellColumn } from "./cell-column.ts";
import { CELL_SLACK_BYTES } from "./small-integers.ts";

/** What stands around the cells of a row. */
export interface RowLayout {
  /** One entry a column: what comes before its cell, e.g. `[` or `,` or `,"name":`. */
  readonly before: readonly Uint8Array[];
  /** What ends each row. */
  readonly after: Uint8Array;
}

/** Rows as bytes. */
export interface PrintedRows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rowCount: number;
}

/**
 * Rows `[start, end)` of the columns with their layout, at least one row and no more than make about `bytesMax` bytes: a text that all
 * rows share is printed once and copied to each.
 */
export function interleave(
  columns: readonly CellColumn[],
  layout: RowLayout,
  start: number,
  end: number,
  bytesMax: number = Number.POSITIVE_INFINITY,
): PrintedRows {
  const { before, after } = layout;
  let rowCount = end - start;
  let around = after.length;
  for (let c = 0; c < columns.length; c++) around += before[c]!.length;
  const places = new Uint32Array(rowCount + 1);
  const shortest = new Uint32Array(columns.length);
  for (let c = 0; c < columns.length; c++) shortest[c] = addLengths(columns[c]!.starts, columns[c]!.ends, start, rowCount, places);
  let length = 0;
  for (let row = 0; row < rowCount; row++) {
    const own = places[row]! + around;
    places[row] = length;
    length += own;
    if (length >= bytesMax) rowCount = row + 1;
  }
  const target = new Uint8Array(length);
  let least = around + shortest.reduce((sum, bytes) => sum + bytes, 0);
  for (let c = 0; c < columns.length; c++) {
    least -= before[c]!.length + shortest[c]!;
    const copy = least >= CELL_SLACK_BYTES - 1 ? copyCells : copyExactly;
    copy(columns[c]!, before[c]!, start, rowCount, places, target);
  }
  for (let row = 0; row < rowCount; row++) for (let i = 0, at = places[row]!; i < after.length; i++) target[at++] = after[i]!;
  return { bytes: target, rowCount };
}

/** Adds the lengths of a column's cells; returns the least of them. */
function addLengths(starts: Uint32Array, ends: Uint32Array, start: number, rowCount: number, lengths: Uint32Array): number {
  let least = 0xffff_ffff;
  for (let i = 0; i < rowCount; i++) {
    const length = ends[start + i]! - starts[start + i]!;
    lengths[i] = lengths[i]! + length;
    if (length < least) least = length;
  }
  return least;
}

/** Writes a column's cells, each behind `lead`, at `places`, and moves those on. At least three bytes of each row follow each cell. */
function copyCells(column: CellColumn, lead: Uint8Array, start: number, rowCount: number, places: Uint32Array, target: Uint8Array): void {
  const { starts, ends, bytes } = column;
  const from = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const to = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const leads = lead.length;
  for (let i = 0; i < rowCount; i++) {
    let at = places[i]!;
    let cell = starts[start + i]!;
    const cellEnd = ends[start + i]!;
    places[i] = at + leads + cellEnd - cell;
    for (let k = 0; k < leads; k++) target[at++] = lead[k]!;
    if (cellEnd - cell > 128) target.set(bytes.subarray(cell, cellEnd), at);
    else for (; cell < cellEnd; cell += 4, at += 4) to.setUint32(at, from.getUint32(cell, true), true);
  }
}

/** As `copyCells`, without writing beyond a cell. */
function copyExactly(column: CellColumn, lead: Uint8Array, start: number, rowCount: number, places: Uint32Array, target: Uint8Array): void {
  const { starts, ends, bytes } = column;
  for (let i = 0; i < rowCount; i++) {
    let at = places[i]!;
    let cell = starts[start + i]!;
    const cellEnd = ends[start + i]!;
    for (let k = 0; k < lead.length; k++) target[at++] = lead[k]!;
    if (cellEnd - cell > 128) {
      target.set(bytes.subarray(cell, cellEnd), at);
      at += cellEnd - cell;
    } else while (cell < cellEnd) target[at++] = bytes[cell++]!;
    places[i] = at;
  }
}
