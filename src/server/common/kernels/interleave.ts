/**
 * Joins the cells of columns into rows of bytes: first where each row begins, then column by column, so that each loop reads one column's
 * arrays. Cells are copied four bytes at a time and may run over into what follows in their row, which is written after them, where that is
 * always long enough; the next row is there already.
 */
import type { CellColumn } from "./cell-column.ts";
import { CELL_SLACK_BYTES } from "./small-integers.ts";

/** Bytes of rows that all columns are written to before the next rows: they stay in the cache of the processor that is nearest. */
const BLOCK_BYTES = 16_384;
const BLOCK_ROWS_MIN = 16;

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
  const leads = before.map((lead, c): Lead => {
    least -= lead.length + shortest[c]!;
    return { bytes: lead, words: wordsOf(lead), mayRunOver: least >= CELL_SLACK_BYTES - 1 };
  });
  const step = Math.max(BLOCK_ROWS_MIN, Math.floor((BLOCK_BYTES * rowCount) / Math.max(1, length)));
  for (let from = 0; from < rowCount; from += step) {
    const to = Math.min(rowCount, from + step);
    for (let c = 0; c < columns.length; c++) {
      const lead = leads[c]!;
      if (lead.mayRunOver) copyCells(columns[c]!, lead, start, from, to, places, target);
      else copyExactly(columns[c]!, lead.bytes, start, from, to, places, target);
    }
    for (let row = from; row < to; row++) for (let i = 0, at = places[row]!; i < after.length; i++) target[at++] = after[i]!;
  }
  return { bytes: target, rowCount };
}

/** What stands before each cell of a column. */
interface Lead {
  readonly bytes: Uint8Array;
  /** The same, four bytes at a time; what fills the last is 0. */
  readonly words: Uint32Array;
  /** Whether at least three bytes of each row follow each cell. */
  readonly mayRunOver: boolean;
}

function wordsOf(lead: Uint8Array): Uint32Array {
  const padded = new Uint8Array((lead.length + 3) & ~3);
  padded.set(lead);
  return new Uint32Array(padded.buffer);
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

/** Writes a column's cells of rows `[from, to)`, each behind its lead, at `places`, and moves those on. */
function copyCells(column: CellColumn, lead: Lead, start: number, from: number, to: number, places: Uint32Array, target: Uint8Array): void {
  const { starts, ends, bytes } = column;
  const { words } = lead;
  const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const leadBytes = lead.bytes.length;
  const leadWords = words.length;
  for (let i = from; i < to; i++) {
    const place = places[i]!;
    let cell = starts[start + i]!;
    const cellEnd = ends[start + i]!;
    for (let k = 0; k < leadWords; k++) view.setUint32(place + 4 * k, words[k]!, true);
    let at = place + leadBytes;
    places[i] = at + cellEnd - cell;
    if (cellEnd - cell > 128) target.set(bytes.subarray(cell, cellEnd), at);
    else for (; cell < cellEnd; cell += 4, at += 4) view.setUint32(at, source.getUint32(cell, true), true);
  }
}

/** As `copyCells`, without writing beyond a cell. */
function copyExactly(
  column: CellColumn,
  lead: Uint8Array,
  start: number,
  from: number,
  to: number,
  places: Uint32Array,
  target: Uint8Array,
): void {
  const { starts, ends, bytes } = column;
  for (let i = from; i < to; i++) {
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
