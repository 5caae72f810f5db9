/**
 * Cells of columns into DataRow messages (`letter length(4) columns(2) { length(4) bytes }`), or CopyData messages of binary COPY, which
 * have the same fields without the length of the row: `letter length(4) columns(2) …`. First where each row begins, then column by column,
 * so that each loop reads the arrays of one column.
 */
import type { Cells } from "../../../wire/cells/cells.ts";
import { COPY_SLACK_BYTES, copyWords, WORD_ROWS_MIN } from "../../../wire/cells/kernels/copy-cell.ts";
import type { Outgoing } from "../../../wire/outgoing.ts";

/** Bytes of cells that are copied one by one; longer ones by `set`. */
const SHORT_BYTES = 64;
const HEAD_BYTES = 7;
/** Rows that are laid out at once: those beyond `bytesMax` are laid out again. */
const ROWS_AT_ONCE = 512;

const places = new Uint32Array(ROWS_AT_ONCE);

/** Appends rows `[from, to)` of a piece, as many as make about `bytesMax` bytes, one at least. @returns where to go on */
export function writeRows(
  columns: readonly Cells[],
  from: number,
  to: number,
  outgoing: Outgoing,
  letter: number,
  bytesMax: number,
): number {
  const rowCount = Math.min(to - from, ROWS_AT_ONCE);
  places.fill(0, 0, rowCount);
  for (let c = 0; c < columns.length; c++) addLengths(columns[c]!, from, rowCount);
  let length = 0;
  let rows = 0;
  const around = HEAD_BYTES + 4 * columns.length;
  while (rows < rowCount && (rows === 0 || length < bytesMax)) length += places[rows++]! + around;
  outgoing.reserve(length + COPY_SLACK_BYTES);
  const { bytes, view } = outgoing;
  let at = outgoing.used;
  for (let i = 0; i < rows; i++) {
    const size = places[i]! + around;
    places[i] = at + HEAD_BYTES;
    at += size;
  }
  const copy = rows < WORD_ROWS_MIN ? copyCells : copyCellsByWords;
  for (let c = 0; c < columns.length; c++) copy(columns[c]!, from, rows, bytes, view);
  // After the cells, which may run over into the head of the next row.
  at = outgoing.used;
  for (let i = 0; i < rows; i++) {
    const end = places[i]!;
    bytes[at] = letter;
    view.setInt32(at + 1, end - at - 1);
    view.setInt16(at + 5, columns.length);
    at = end;
  }
  outgoing.used = at;
  return from + rows;
}

function addLengths({ starts, ends }: Cells, from: number, rowCount: number): void {
  for (let i = 0; i < rowCount; i++) {
    const length = ends[from + i]! - starts[from + i]!;
    if (length > 0) places[i] = places[i]! + length;
  }
}

/** As `copyCells`, of many rows. */
function copyCellsByWords({ starts, ends, bytes: source }: Cells, from: number, rows: number, bytes: Uint8Array, view: DataView): void {
  const words = new DataView(source.buffer, source.byteOffset, source.byteLength);
  for (let i = 0; i < rows; i++) {
    const at = places[i]! + 4;
    const cell = starts[from + i]!;
    const end = ends[from + i]!;
    const length = end - cell;
    view.setInt32(at - 4, length);
    if (length > SHORT_BYTES) bytes.set(source.subarray(cell, end), at);
    else copyWords(words, cell, end, view, at);
    places[i] = length > 0 ? at + length : at;
  }
}

function copyCells({ starts, ends, bytes: source }: Cells, from: number, rows: number, bytes: Uint8Array, view: DataView): void {
  for (let i = 0; i < rows; i++) {
    let at = places[i]!;
    let cell = starts[from + i]!;
    const end = ends[from + i]!;
    const length = end - cell; // NULL is -1 here as there.
    view.setInt32(at, length);
    at += 4;
    if (length > SHORT_BYTES) {
      bytes.set(source.subarray(cell, end), at);
      at += length;
    } else while (cell < end) bytes[at++] = source[cell++]!;
    places[i] = at;
  }
}
