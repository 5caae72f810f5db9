/**
 * COPY … FROM STDIN: rows that the client sends, as text, CSV or binary, into columns and in parts into the table. Rows of parts that were
 * written before a failure stay, which the failure says: there are no transactions.
 *
 *   CopyData … ─► bytes ─► rows (kernels/scan-rows.ts) ─► columns (kernels/read-values.ts) ─► RowIntake ─► the log
 */
import { DbError, restated } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { longerBytes } from "../../../base/bytes/longer-array.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import { beginMessage, endMessage, MalformedMessage, MessageReader, tellText } from "../codec.ts";
import { WireFailure } from "../errors.ts";
import { Ask, Tell } from "../packets.ts";
import type { Talk } from "../talk.ts";
import { BINARY_HEADER } from "./copy-out.ts";
import type { CopyForm, CopyStatement } from "./copy-syntax.ts";
import { copyColumns } from "./copy-columns.ts";
import { Flaw, scanBinary, type ScannedRows, scanCsv, type ScanMarks, scanText } from "./kernels/scan-rows.ts";
import { tableParts } from "./table-name.ts";

/** Where further messages of the client come from; undefined: it is gone. */
export interface CopyInput {
  read(): Promise<Uint8Array | undefined>;
}

/** Rows that are made to columns at once, and values. */
const PIECE_ROWS = 4096;
const PIECE_VALUES: number = 64 * 1024;
/** Longest row. Reason: it waits in memory until it is whole. */
const ROW_BYTES_MAX: number = 64 * 1024 * 1024;
/** Bytes that are gathered before rows are looked for. */
const GATHERED_BYTES: number = 64 * 1024;
const HEADER_BYTES = 5;
const LF = 0x0a;

/** Runs a COPY. @throws DbError, WireFailure, MalformedMessage */
export async function copyIn(statement: CopyStatement, text: string, talk: Talk, input: CopyInput): Promise<void> {
  const { session, parts, outgoing } = talk;
  const run = session.begin();
  const columns = statement.columns?.map((name) => tableParts(name)[0] ?? "");
  let intake: RowIntake | undefined;
  try {
    intake = parts.db.intake(tableParts(statement.source), columns, text, session);
    const isBinary = statement.form.format === "binary";
    const place = beginMessage(outgoing, Tell.CopyIn);
    outgoing.u8(isBinary ? 1 : 0);
    outgoing.u16be(intake.columns.length);
    for (const _ of intake.columns) outgoing.u16be(isBinary ? 1 : 0);
    endMessage(outgoing, place);
    const rows = new IncomingRows(intake, statement.form, session.timeZone);
    await receive(rows, input, run.signal);
    const rowCount = await rows.finish();
    talk.notices();
    tellText(outgoing, Tell.CommandComplete, `COPY ${rowCount}`);
  } catch (thrown) {
    throw intake === undefined ? thrown : withWrittenRows(thrown, intake.writtenRows);
  } finally {
    run.pause();
    await intake?.close();
  }
}

/** Takes messages until the client has sent all. @throws WireFailure where it gives up */
async function receive(rows: IncomingRows, input: CopyInput, signal: AbortSignal): Promise<void> {
  for (;;) {
    const message = await input.read();
    throwIfCancelled(signal);
    if (message === undefined) throw new DbError(StatusCode.Cancelled, "Query has been cancelled: its connection is gone");
    switch (message[0]) {
      case Ask.CopyData:
        await rows.take(message.subarray(HEADER_BYTES));
        break;
      case Ask.CopyDone:
        return;
      case Ask.CopyFail: {
        const why = new MessageReader(message, HEADER_BYTES).text().slice(0, 200);
        throw new WireFailure("57014", `COPY from stdin failed: ${why}`);
      }
      case Ask.Flush:
      case Ask.Sync:
        break; // The protocol allows them, and they mean nothing here.
      default:
        throw new MalformedMessage(`unexpected message type ${message[0]} during COPY from stdin`);
    }
  }
}

function withWrittenRows(thrown: unknown, rows: number): unknown {
  if (!(thrown instanceof DbError) || rows === 0) return thrown;
  return restated(thrown, `${thrown.message}; ${rows} rows were written before and stay`);
}

/** Rows as they come in. */
class IncomingRows {
  private readonly intake: RowIntake;
  private readonly form: CopyForm;
  private readonly width: number;
  private readonly marks: ScanMarks;
  private readonly found: ScannedRows;
  private readonly columns: ReturnType<typeof copyColumns>;
  private readonly pieceRows: number;
  private buffer: Uint8Array<ArrayBuffer> = new Uint8Array(2 * GATHERED_BYTES);
  /** Bytes of the buffer that are there. */
  private used = 0;
  /** Bytes at which it is worth looking for rows. */
  private wanted = GATHERED_BYTES;
  private headerLines: number;
  private hasHeader: boolean;
  private isOver = false;
  private rowCount = 0;

  constructor(intake: RowIntake, form: CopyForm, timeZone: string) {
    this.intake = intake;
    this.form = form;
    this.width = intake.columns.length;
    this.pieceRows = Math.max(1, Math.min(PIECE_ROWS, Math.floor(PIECE_VALUES / this.width)));
    const values = this.pieceRows * this.width;
    this.found = { starts: new Uint32Array(values), ends: new Uint32Array(values), rows: 0, next: 0, flaw: Flaw.None };
    const { delimiter, quote, escape, nullText } = form;
    this.marks = {
      delimiter: delimiter.charCodeAt(0),
      quote: quote.charCodeAt(0),
      escape: escape.charCodeAt(0),
      nullText: new TextEncoder().encode(nullText),
    };
    this.columns = copyColumns(intake.columns, form.format === "binary", timeZone);
    this.headerLines = form.header === false ? 0 : 1;
    this.hasHeader = form.format !== "binary";
  }

  /** Takes bytes of a message. @throws DbError, WireFailure */
  async take(bytes: Uint8Array): Promise<void> {
    if (this.isOver) return; // What follows the end of the rows is passed over.
    const need = this.used + bytes.length;
    if (need > this.buffer.length) this.buffer = longerBytes(this.buffer, this.used, need);
    this.buffer.set(bytes, this.used);
    this.used = need;
    if (this.used >= this.wanted) await this.scan(false);
  }

  /** Writes the rest. @returns how many rows there were @throws DbError, WireFailure */
  async finish(): Promise<number> {
    if (!this.isOver) await this.scan(true);
    if (!this.isOver && this.used > 0) throw new WireFailure("22P04", "COPY data ends within a row");
    return this.intake.finish();
  }

  /** Hands on the rows that are whole; the rest stays, at the beginning of the buffer. */
  private async scan(isLast: boolean): Promise<void> {
    let at = this.start();
    while (!this.isOver && at < this.used) {
      this.find(at, isLast);
      const { found } = this;
      if (found.rows > 0) await this.add();
      if (found.flaw !== Flaw.None) this.flawed(found.flaw);
      if (found.next === at) break;
      at = found.next;
    }
    this.buffer.copyWithin(0, at, this.used);
    this.used -= at;
    if (this.used > ROW_BYTES_MAX) throw new WireFailure("54000", `a row of COPY is longer than ${ROW_BYTES_MAX} bytes`);
    // A row that is not whole is looked at again when there is twice as much of it.
    this.wanted = Math.max(GATHERED_BYTES, 2 * this.used);
  }

  private find(at: number, isLast: boolean): void {
    const { buffer, used, width, pieceRows, marks, found } = this;
    if (this.form.format === "binary") scanBinary(buffer, at, used, width, pieceRows, found);
    else if (this.form.format === "csv") scanCsv(buffer, at, used, width, pieceRows, marks, isLast, found);
    else scanText(buffer, at, used, width, pieceRows, marks, isLast, found);
  }

  private async add(): Promise<void> {
    const { found, buffer, width, columns } = this;
    const { vectors, types } = columns.of(buffer, found, width);
    this.rowCount += found.rows;
    await this.intake.add(vectors, types, found.rows);
  }

  /** Passes what stands before the rows. @returns where they begin */
  private start(): number {
    if (this.headerLines > 0) {
      const end = this.buffer.subarray(0, this.used).indexOf(LF);
      if (end < 0) return 0;
      this.headerLines = 0;
      if (this.form.header === "match") this.checkNames(new TextDecoder().decode(this.buffer.subarray(0, end)));
      return end + 1;
    }
    if (this.hasHeader) return 0;
    if (this.used < BINARY_HEADER.length) return 0;
    this.hasHeader = true;
    // The signature; flags and the length of an extension follow.
    for (let i = 0; i < SIGNATURE_BYTES; i++) {
      if (this.buffer[i] !== BINARY_HEADER[i]) throw new WireFailure("22P04", "COPY file signature not recognized");
    }
    const extension = new DataView(this.buffer.buffer).getInt32(BINARY_HEADER.length - 4);
    if (extension !== 0) throw new WireFailure("0A000", "Not supported: an extension of the header of binary COPY");
    return BINARY_HEADER.length;
  }

  private checkNames(line: string): void {
    const names = line.replace(/\r$/, "").split(this.form.delimiter);
    const wrong = this.intake.columns.findIndex(({ name }, i) => names[i]?.replace(/^"(.*)"$/, "$1") !== name);
    if (wrong < 0 && names.length === this.width) return;
    throw new WireFailure("22P04", `column name mismatch in header line field ${Math.max(wrong, 0) + 1}`);
  }

  private flawed(flaw: number): void {
    if (flaw === Flaw.EndMarker) {
      this.isOver = true;
      return;
    }
    const row = this.rowCount + 1;
    if (flaw === Flaw.TooMany) throw new WireFailure("22P04", `extra data after last expected column in row ${row}`);
    if (flaw === Flaw.OpenQuote) throw new WireFailure("22P04", `unterminated CSV quoted field in row ${row}`);
    if (flaw === Flaw.Count) throw new WireFailure("22P04", `row ${row} of binary COPY has not ${this.width} fields`);
    const last = this.intake.columns.at(-1)?.name ?? "";
    throw new WireFailure("22P04", `missing data for a column up to "${last.slice(0, 80)}" in row ${row}`);
  }
}

/** Bytes of the signature in the header. */
const SIGNATURE_BYTES = 11;
