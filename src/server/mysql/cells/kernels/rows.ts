/**
 * Cells of columns into packets of rows. First where each row begins, then column by column, so that each loop reads the arrays of one.
 *
 *   text     header(4) { lenenc length, bytes }*        NULL is the byte 0xfb
 *   binary   header(4) 0x00 NULL bits, the first of column 0 being bit 2 { bytes of fixed width, or lenenc length and bytes }*
 */
import type { Cells } from "../../../wire/cells/cells.ts";
import { COPY_SLACK_BYTES, copyWords, WORD_ROWS_MIN } from "../../../wire/cells/kernels/copy-cell.ts";
import type { PacketWriter } from "../../codec.ts";
import { HEADER_BYTES, PART_BYTES } from "../../packets.ts";

/** Bytes of cells that are copied one by one; longer ones by `set`. */
const SHORT_BYTES = 64;
/** Rows that are laid out at once: those beyond `bytesMax` are laid out again. */
const ROWS_AT_ONCE = 512;
const NULL_CELL = 0xfb;

const places = new Uint32Array(ROWS_AT_ONCE);

/**
 * Appends rows `[from, to)` of a piece, as many as make about `bytesMax` bytes, one at least.
 *
 * @param haveLength of each column, whether its cells have their length before them
 * @returns where to go on
 */
export function writeRows(
  columns: readonly Cells[],
  haveLength: readonly boolean[],
  isBinary: boolean,
  from: number,
  to: number,
  packets: PacketWriter,
  bytesMax: number,
): number {
  const { outgoing } = packets;
  const rowCount = Math.min(to - from, ROWS_AT_ONCE);
  places.fill(0, 0, rowCount);
  for (let c = 0; c < columns.length; c++) addLengths(columns[c]!, haveLength[c]!, isBinary, from, rowCount);
  const nullBytes = isBinary ? (columns.length + 9) >> 3 : 0;
  const around = HEADER_BYTES + (isBinary ? 1 + nullBytes : 0);
  let length = 0;
  let rows = 0;
  while (rows < rowCount && (rows === 0 || (length < bytesMax && places[rows]! + around < PART_BYTES))) length += places[rows++]! + around;
  const isLong = length - HEADER_BYTES >= PART_BYTES; // One row alone: it becomes several packets.
  outgoing.reserve(length + COPY_SLACK_BYTES);
  const { bytes, view } = outgoing;
  const first = outgoing.used;
  let at = first;
  for (let i = 0; i < rows; i++) {
    const size = places[i]! + around;
    if (isBinary) bytes.fill(0, at + HEADER_BYTES, at + around);
    places[i] = at + around;
    at += size;
  }
  if (isBinary) markNullBits(columns, from, rows, nullBytes, bytes);
  if (isBinary || rows < WORD_ROWS_MIN) {
    for (let c = 0; c < columns.length; c++) copyCells(columns[c]!, haveLength[c]!, isBinary, from, rows, bytes);
  } else for (let c = 0; c < columns.length; c++) copyTexts(columns[c]!, from, rows, bytes, view);
  // After the cells, which may run over into the header of the next row.
  at = first;
  let { sequence } = packets;
  for (let i = 0; i < rows; i++) {
    const end = places[i]!;
    const payload = end - at - HEADER_BYTES;
    bytes[at] = payload & 0xff;
    bytes[at + 1] = (payload >> 8) & 0xff;
    bytes[at + 2] = payload >> 16;
    bytes[at + 3] = sequence;
    sequence = (sequence + 1) & 0xff;
    at = end;
  }
  outgoing.used = at;
  if (isLong) packets.end(first);
  else packets.sequence = sequence;
  return from + rows;
}

function addLengths({ starts, ends }: Cells, hasLength: boolean, isBinary: boolean, from: number, rowCount: number): void {
  for (let i = 0; i < rowCount; i++) {
    const length = ends[from + i]! - starts[from + i]!;
    if (length < 0) places[i] = places[i]! + (isBinary ? 0 : 1);
    else if (!hasLength) places[i] = places[i]! + length;
    else places[i] = places[i]! + length + (length < 0xfb ? 1 : length < 0x1_0000 ? 3 : length < 0x100_0000 ? 4 : 9);
  }
}

/** Sets the bits of NULLs, which lie before the first column's place. */
function markNullBits(columns: readonly Cells[], from: number, rows: number, nullBytes: number, bytes: Uint8Array): void {
  for (let c = 0; c < columns.length; c++) {
    const { starts, ends } = columns[c]!;
    const byte = (c + 2) >> 3;
    const bit = 1 << ((c + 2) & 7);
    for (let i = 0; i < rows; i++) {
      if (ends[from + i]! >= starts[from + i]!) continue;
      const at = places[i]! - nullBytes + byte;
      bytes[at] = bytes[at]! | bit;
    }
  }
}

function copyCells(cells: Cells, hasLength: boolean, isBinary: boolean, from: number, rows: number, bytes: Uint8Array): void {
  const { starts, ends, bytes: source } = cells;
  for (let i = 0; i < rows; i++) {
    let at = places[i]!;
    let cell = starts[from + i]!;
    const end = ends[from + i]!;
    const length = end - cell;
    if (length < 0) {
      if (!isBinary) bytes[at++] = NULL_CELL;
      places[i] = at;
      continue;
    }
    if (hasLength) {
      if (length < 0xfb) bytes[at++] = length;
      else at = writeLongLength(bytes, at, length);
    }
    if (length > SHORT_BYTES) {
      bytes.set(source.subarray(cell, end), at);
      at += length;
    } else while (cell < end) bytes[at++] = source[cell++]!;
    places[i] = at;
  }
}

/** As `copyCells`, of many rows in text. */
function copyTexts({ starts, ends, bytes: source }: Cells, from: number, rows: number, bytes: Uint8Array, view: DataView): void {
  const words = new DataView(source.buffer, source.byteOffset, source.byteLength);
  for (let i = 0; i < rows; i++) {
    const at = places[i]!;
    const cell = starts[from + i]!;
    const end = ends[from + i]!;
    const length = end - cell;
    if (length > SHORT_BYTES) {
      const to = length < 0xfb ? at + 1 : writeLongLength(bytes, at, length);
      if (length < 0xfb) bytes[at] = length;
      bytes.set(source.subarray(cell, end), to);
      places[i] = to + length;
      continue;
    }
    bytes[at] = length < 0 ? NULL_CELL : length;
    copyWords(words, cell, end, view, at + 1);
    places[i] = length > 0 ? at + 1 + length : at + 1;
  }
}

function writeLongLength(bytes: Uint8Array, at: number, length: number): number {
  const size = length < 0x1_0000 ? 2 : length < 0x100_0000 ? 3 : 8;
  bytes[at] = size === 2 ? 0xfc : size === 3 ? 0xfd : 0xfe;
  let rest = length;
  for (let i = 1; i <= size; i++) {
    bytes[at + i] = rest & 0xff;
    rest = Math.floor(rest / 256);
  }
  return at + 1 + size;
}
