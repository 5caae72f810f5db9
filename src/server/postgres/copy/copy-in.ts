/**
 * COPY … FROM STDIN: rows that the client sends, as text, CSV or binary, into columns and in parts into the table. Rows of parts that were
 * written before a failure stay, which the failure says: there are no transactions.
 *
 *   CopyData … ─► bytes ─► rows (kernels/scan-rows.ts) ─► columns (kernels/read-values.ts) ─► RowIntake ─► the log
 */
import { DbError, restated } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import type { IngestCounts } from "../../../db/ingest-counts.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import { IncomingRows, type RowForm, writtenNote } from "../../wire/intake/incoming-rows.ts";
import { beginMessage, endMessage, MalformedMessage, MessageReader, tellText } from "../codec.ts";
import { WireFailure } from "../errors.ts";
import { Ask, Tell } from "../packets.ts";
import type { Talk } from "../talk.ts";
import { BINARY_HEADER } from "./copy-out.ts";
import type { CopyForm, CopyStatement } from "./copy-syntax.ts";
import { copyReader } from "./copy-columns.ts";
import { Flaw, scanBinary, scanCsv, type ScanMarks, scanText } from "./kernels/scan-rows.ts";
import { tableParts } from "./table-name.ts";

/** Where further messages of the client come from; undefined: it is gone. */
export interface CopyInput {
  read(): Promise<Uint8Array | undefined>;
}

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
    const rows = new IncomingRows(intake, rowForm(intake.columns, statement.form, session.timeZone), session.timeZone);
    await receive(rows, input, run.signal, session.ingest);
    const { rowCount, restBytes } = await rows.finish();
    if (restBytes > 0) throw new WireFailure("22P04", "COPY data ends within a row");
    talk.notices();
    tellText(outgoing, Tell.CommandComplete, `COPY ${rowCount}`);
  } catch (thrown) {
    throw withWrittenRows(thrown, intake);
  } finally {
    run.pause();
    await intake?.close();
  }
}

/** Takes messages until the client has sent all. @throws WireFailure where it gives up */
async function receive(rows: IncomingRows, input: CopyInput, signal: AbortSignal, counts: IngestCounts): Promise<void> {
  for (;;) {
    const message = await input.read();
    throwIfCancelled(signal);
    if (message === undefined) throw new DbError(StatusCode.Cancelled, "Query has been cancelled: its connection is gone");
    switch (message[0]) {
      case Ask.CopyData:
        counts.took(message.length - HEADER_BYTES);
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

function withWrittenRows(thrown: unknown, intake: RowIntake | undefined): unknown {
  const note = writtenNote(intake);
  return thrown instanceof DbError && note !== "" ? restated(thrown, thrown.message + note) : thrown;
}

/** The rows of a COPY in its bytes. @throws WireFailure for what makes no rows */
function rowForm(columns: RowIntake["columns"], form: CopyForm, timeZone: string): RowForm {
  const { delimiter, quote, escape, nullText, format } = form;
  const width = columns.length;
  const marks: ScanMarks = {
    delimiter: delimiter.charCodeAt(0),
    quote: quote.charCodeAt(0),
    escape: escape.charCodeAt(0),
    nullText: new TextEncoder().encode(nullText),
  };
  return {
    width,
    places: columns.map((_, i) => i),
    read: copyReader(format === "binary", timeZone),
    start(bytes, used, isLast) {
      if (format === "binary") return behindSignature(bytes, used);
      return form.header === false ? 0 : behindHeader(bytes.subarray(0, used), isLast, form, columns);
    },
    find(bytes, at, used, rowsMax, isLast, found) {
      if (format === "binary") scanBinary(bytes, at, used, width, rowsMax, found);
      else if (format === "csv") scanCsv(bytes, at, used, width, rowsMax, marks, isLast, found);
      else scanText(bytes, at, used, width, rowsMax, marks, isLast, found);
    },
    flawed: (flaw, row) => flawed(flaw, row, columns),
    placeOf: (row) => `row ${row}`,
    tooLong(bytesMax) {
      throw new WireFailure("54000", `a row of COPY is longer than ${bytesMax} bytes`);
    },
  };
}

/** Where the rows begin; -1 where the line of names has no end yet. */
function behindHeader(bytes: Uint8Array, isLast: boolean, form: CopyForm, columns: RowIntake["columns"]): number {
  const found = bytes.indexOf(LF);
  if (found < 0 && !isLast) return -1;
  const end = found < 0 ? bytes.length : found;
  if (form.header === "match") checkNames(new TextDecoder().decode(bytes.subarray(0, end)), form, columns);
  return Math.min(end + 1, bytes.length);
}

function checkNames(line: string, { delimiter }: CopyForm, columns: RowIntake["columns"]): void {
  const names = line.replace(/\r$/, "").split(delimiter);
  const wrong = columns.findIndex(({ name }, i) => names[i]?.replace(/^"(.*)"$/, "$1") !== name);
  if (wrong < 0 && names.length === columns.length) return;
  throw new WireFailure("22P04", `column name mismatch in header line field ${Math.max(wrong, 0) + 1}`);
}

/** Where binary rows begin: behind the signature, flags and the length of an extension. */
function behindSignature(bytes: Uint8Array, used: number): number {
  if (used < BINARY_HEADER.length) return -1;
  for (let i = 0; i < SIGNATURE_BYTES; i++) {
    if (bytes[i] !== BINARY_HEADER[i]) throw new WireFailure("22P04", "COPY file signature not recognized");
  }
  const extension = new DataView(bytes.buffer, bytes.byteOffset).getInt32(BINARY_HEADER.length - 4);
  if (extension !== 0) throw new WireFailure("0A000", "Not supported: an extension of the header of binary COPY");
  return BINARY_HEADER.length;
}

function flawed(flaw: number, row: number, columns: RowIntake["columns"]): void {
  if (flaw === Flaw.EndMarker) return;
  if (flaw === Flaw.TooMany) throw new WireFailure("22P04", `extra data after last expected column in row ${row}`);
  if (flaw === Flaw.OpenQuote) throw new WireFailure("22P04", `unterminated CSV quoted field in row ${row}`);
  if (flaw === Flaw.Count) throw new WireFailure("22P04", `row ${row} of binary COPY has not ${columns.length} fields`);
  const last = columns.at(-1)?.name ?? "";
  throw new WireFailure("22P04", `missing data for a column up to "${last.slice(0, 80)}" in row ${row}`);
}

/** Bytes of the signature in the header. */
const SIGNATURE_BYTES = 11;
