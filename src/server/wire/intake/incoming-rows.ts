/**
 * Rows that a client sends, into columns and in parts into a table: what COPY … FROM STDIN and LOAD DATA write by.
 *
 *   bytes ─► buffer ─► rows (a form finds them) ─► columns (column-reader.ts) ─► RowIntake ─► the log
 *
 * Rows of parts that were written before a failure stay, which the failure says: there are no transactions.
 */
import { longerBytes } from "../../../base/bytes/longer-array.ts";
import { DbError, restated } from "../../../base/error.ts";
import { type DataType, STRING } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Vector } from "../../../column/vector.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import { castValue } from "../../../value/cast.ts";
import { ColumnReader, type ValueReader } from "./column-reader.ts";
import { type ScannedRows, scannedRows } from "./scanned-rows.ts";

/** How rows lie in bytes. */
export interface RowForm {
  /** Values of a row. */
  readonly width: number;
  /** Of each column, which of the values is its. */
  readonly places: readonly number[];
  readonly read: ValueReader;
  /** Passes what stands before the rows. @param isLast whether nothing follows @returns where they begin; -1: more has to come in */
  start(bytes: Uint8Array, used: number, isLast: boolean): number;
  /** Finds whole rows from `at` on, at most `rowsMax`; it may change bytes of those that it found. */
  find(bytes: Uint8Array, at: number, used: number, rowsMax: number, isLast: boolean, found: ScannedRows): void;
  /** Says what is wrong with the row behind those found. @param row counted from 1 @returns where that means that there are no more */
  flawed(flaw: number, row: number): void;
  /** Where a row is, as people find it. @param row of all, counted from 1 @param index in the piece that was found last */
  placeOf(row: number, index: number): string;
  /** Says that a row is too long. @throws always */
  tooLong(bytesMax: number): never;
}

/** Rows that are made to columns at once, and values. */
const PIECE_ROWS = 4096;
const PIECE_VALUES: number = 64 * 1024;
/** Longest row. Reason: it waits in memory until it is whole. */
const ROW_BYTES_MAX: number = 64 * 1024 * 1024;
/** Bytes that are gathered before rows are looked for. */
const GATHERED_BYTES: number = 64 * 1024;
/** Characters of a text that an error shows. */
const SHOWN_CHARACTERS = 80;

/** See the file header. */
export class IncomingRows {
  private readonly intake: RowIntake;
  private readonly form: RowForm;
  private readonly timeZone: string;
  private readonly found: ScannedRows;
  private readonly reader: ColumnReader;
  private readonly pieceRows: number;
  private buffer: Uint8Array<ArrayBuffer> = new Uint8Array(2 * GATHERED_BYTES);
  /** Bytes of the buffer that are there. */
  private used = 0;
  /** Bytes at which it is worth looking for rows. */
  private wanted = GATHERED_BYTES;
  private hasStarted = false;
  private isOver = false;
  private rowCount = 0;

  constructor(intake: RowIntake, form: RowForm, timeZone: string) {
    this.intake = intake;
    this.form = form;
    this.timeZone = timeZone;
    this.pieceRows = Math.max(1, Math.min(PIECE_ROWS, Math.floor(PIECE_VALUES / form.width)));
    this.found = scannedRows(this.pieceRows * form.width);
    this.reader = new ColumnReader(intake.columns, form.read);
  }

  /** Takes bytes of the client. @throws DbError, and what the form throws */
  async take(bytes: Uint8Array): Promise<void> {
    if (this.isOver) return; // What follows the end of the rows is passed over.
    const need = this.used + bytes.length;
    if (need > this.buffer.length) this.buffer = longerBytes(this.buffer, this.used, need);
    this.buffer.set(bytes, this.used);
    this.used = need;
    if (this.used >= this.wanted) await this.scan(false);
  }

  /** Writes the rest. @returns how many rows there were, and bytes that make none @throws as `take` */
  async finish(): Promise<{ readonly rowCount: number; readonly restBytes: number }> {
    if (!this.isOver) await this.scan(true);
    if (!this.isOver && this.used > 0) return { rowCount: this.rowCount, restBytes: this.used };
    return { rowCount: await this.intake.finish(), restBytes: 0 };
  }

  /** Hands on the rows that are whole; the rest stays, at the beginning of the buffer. */
  private async scan(isLast: boolean): Promise<void> {
    const { form, found } = this;
    let at = 0;
    if (!this.hasStarted) {
      const first = form.start(this.buffer, this.used, isLast);
      this.hasStarted = first >= 0;
      at = Math.max(0, first);
    }
    while (this.hasStarted && !this.isOver && at < this.used) {
      form.find(this.buffer, at, this.used, this.pieceRows, isLast, found);
      if (found.rows > 0) await this.add();
      if (found.flaw !== 0) {
        form.flawed(found.flaw, this.rowCount + 1);
        this.isOver = true;
      }
      if (found.next === at) break;
      at = found.next;
    }
    this.buffer.copyWithin(0, at, this.used);
    this.used -= at;
    if (this.used > ROW_BYTES_MAX) form.tooLong(ROW_BYTES_MAX);
    // A row that is not whole is looked at again when there is twice as much of it.
    this.wanted = Math.max(GATHERED_BYTES, 2 * this.used);
  }

  private async add(): Promise<void> {
    const { found, buffer, form, reader } = this;
    const { vectors, types } = reader.of(buffer, found, form.width, form.places);
    try {
      await this.intake.add(vectors, types, found.rows);
    } catch (thrown) {
      throw this.placed(thrown, vectors, types);
    }
    this.rowCount += found.rows;
  }

  /** The failure with the place of the text that is no value of its column; as it is where no text is at fault. */
  private placed(thrown: unknown, vectors: readonly Vector[], types: readonly DataType[]): unknown {
    if (!(thrown instanceof DbError)) return thrown;
    for (let row = 0; row < this.found.rows; row++) {
      for (const [i, { name, type }] of this.intake.columns.entries()) {
        const vector = vectors[i];
        if (vector === undefined || types[i]?.kind !== "string" || type.kind === "string") continue;
        const text = scalarAt(vector, STRING, row);
        if (typeof text !== "string" || isValue(text, type, this.timeZone)) continue;
        const shown = JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
        const place = this.form.placeOf(this.rowCount + row + 1, row);
        return restated(thrown, `${thrown.message}; it is ${shown} at ${place}, column ${name}`);
      }
    }
    return thrown;
  }
}

function isValue(text: string, type: DataType, timeZone: string): boolean {
  try {
    castValue(text, STRING, type, { timeZone });
    return true;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    return false;
  }
}

/** What the failure leaves behind; empty for nothing. */
export function writtenNote(intake: RowIntake | undefined): string {
  return intake === undefined || intake.writtenRows === 0 ? "" : `; ${intake.writtenRows} rows were written before and stay`;
}
