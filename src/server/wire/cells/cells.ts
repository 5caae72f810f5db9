/**
 * The cells of one column, ready to be put into rows: cell r is `bytes[starts[r], ends[r])`, NULL where `ends[r] < starts[r]`. Filled
 * piece by piece (`pieceRows`), so that a result never lies in memory twice; text columns are views of their vector, not copies.
 *
 *   vector ──CellPrinter──► Cells ──┐
 *   vector ──CellPrinter──► Cells ──┴─► loops of each protocol ─► outgoing.bytes
 */
import { textLength } from "../../../column/coded-text.ts";
import { longerBytes } from "../../../base/bytes/longer-array.ts";
import type { Batch } from "../../../column/batch.ts";
import type { DictionaryVector, Vector } from "../../../column/vector.ts";

/** Rows whose cells are made at once, and bytes of their texts, one row at least. */
const PIECE_ROWS = 4096;
const PIECE_BYTES: number = 1024 * 1024;

/** Bytes of texts of a dictionary that are kept for further pieces. */
const DICTIONARY_BYTES_MAX: number = 4 * 1024 * 1024;

/** Cells that wait for the next result, of all connections, and how large each may be. A column of a point query takes 5 arrays. */
const SPARE_MAX = 256;
const SPARE_BYTES_MAX = 1024;
const SPARE_PLACES_MAX = 64;
/** Places that are made at least. */
const PLACES_MIN = 16;

const encoder = new TextEncoder();
const NONE: Uint8Array = new Uint8Array(0);
const spare: Cells[] = [];

/** See the file header. `Cells.take` makes them. */
export class Cells {
  bytes: Uint8Array = NONE;
  starts: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  ends: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  /** Memory of its own, and a view of it; `bytes` unless it is a vector's. */
  own: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  view: DataView<ArrayBuffer> = new DataView(this.own.buffer);
  /** Bytes written to `own`. */
  used = 0;
  private dictionary: DictionaryVector["dictionary"] | undefined;
  private entryStarts: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  private entryEnds: Uint32Array<ArrayBuffer> = new Uint32Array(0);

  /** Cells of a result's column, without rows. Give them back. */
  static take(): Cells {
    return spare.pop() ?? new Cells();
  }

  /** Lets them go to another result; nobody reads them any more. New ones were 4 % of the server's time of a point query. */
  giveBack(): void {
    this.bytes = NONE;
    this.dictionary = undefined;
    const places = Math.max(this.starts.length, this.entryStarts.length);
    if (spare.length < SPARE_MAX && this.own.length <= SPARE_BYTES_MAX && places <= SPARE_PLACES_MAX) spare.push(this);
  }

  /** Makes room for the places of `rowCount` cells; before they are printed. */
  makeRows(rowCount: number): void {
    if (rowCount <= this.starts.length) return;
    const places = Math.max(PLACES_MIN, rowCount);
    this.starts = new Uint32Array(places);
    this.ends = new Uint32Array(places);
  }

  /** Begins a piece of cells in memory of its own, with room for `extra` bytes. */
  begin(extra: number): void {
    this.used = 0;
    this.reserve(extra);
    this.bytes = this.own;
    this.dictionary = undefined;
  }

  /** Room for `extra` bytes behind `used`; `own` and `view` change with it. */
  reserve(extra: number): void {
    const need = this.used + extra;
    if (need <= this.own.length) return;
    this.own = longerBytes(this.own, this.used, need);
    this.view = new DataView(this.own.buffer);
    this.bytes = this.own;
  }

  /** Cells that are views of a vector's bytes. */
  borrow(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.dictionary = undefined;
  }

  /** Makes cell `row` NULL. */
  setNull(row: number): void {
    this.starts[row] = 1;
    this.ends[row] = 0;
  }

  /** Makes cell `row` a text. */
  setText(row: number, text: string): void {
    this.starts[row] = this.used;
    this.append(text);
    this.ends[row] = this.used;
  }

  /** Makes cell `row` these bytes. */
  setBytes(row: number, bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.own.set(bytes, this.used);
    this.starts[row] = this.used;
    this.used += bytes.length;
    this.ends[row] = this.used;
  }

  /** Texts of a dictionary, each made once for all pieces of a result. */
  entries({ codes, dictionary }: DictionaryVector, from: number, rowCount: number): void {
    if (this.dictionary !== dictionary || this.used > DICTIONARY_BYTES_MAX) {
      this.begin(0);
      this.used = 1; // Place 0 is of entries that were not made yet.
      this.dictionary = dictionary;
      if (this.entryStarts.length < dictionary.length || this.entryStarts.length > SPARE_PLACES_MAX) {
        this.entryStarts = new Uint32Array(dictionary.length);
        this.entryEnds = new Uint32Array(dictionary.length);
      } else {
        this.entryStarts.fill(0);
        this.entryEnds.fill(0);
      }
    } else if (this.entryStarts.length < dictionary.length) {
      this.entryStarts = longerCopy(this.entryStarts, dictionary.length);
      this.entryEnds = longerCopy(this.entryEnds, dictionary.length);
    }
    this.bytes = this.own;
    for (let row = 0; row < rowCount; row++) {
      const code = codes[from + row] as number;
      if (this.entryStarts[code] === 0) this.addEntry(code, dictionary[code]);
      this.starts[row] = this.entryStarts[code] as number;
      this.ends[row] = this.entryEnds[code] as number;
    }
  }

  private addEntry(code: number, text: string | undefined): void {
    this.entryStarts[code] = text === undefined ? 1 : this.used;
    if (text === undefined) return; // Its end is 0.
    this.append(text);
    this.entryEnds[code] = this.used;
  }

  private append(text: string): void {
    this.reserve(text.length * 3);
    this.used += encoder.encodeInto(text, this.own.subarray(this.used)).written;
  }
}

function longerCopy(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}

/** Rows of a batch from `from` on that make a piece: at least one. */
export function pieceRows({ vectors, rowCount }: Batch, from: number): number {
  let rows = Math.min(PIECE_ROWS, rowCount - from);
  for (const vector of vectors) {
    if (vector.kind === "coded") while (rows > 1 && textLength(vector, from, from + rows) > PIECE_BYTES) rows = Math.ceil(rows / 2);
    if (vector.kind !== "bytes") continue;
    const { offsets } = vector;
    const start = offsets[from] as number;
    while (rows > 1 && (offsets[from + rows] as number) - start > PIECE_BYTES) rows = Math.ceil(rows / 2);
  }
  return rows;
}

/** Makes the cells of rows `[from, from + rowCount)` of a vector; there is room for their places. */
export type CellPrinter = (vector: Vector, from: number, rowCount: number, cells: Cells) => void;
