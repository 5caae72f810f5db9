/**
 * LOAD DATA LOCAL INFILE: the client is asked for a file, whose rows go into a table (`wire/intake`). What goes wrong is told when the
 * client has sent all of it, since it listens only then.
 *
 *   statement ─► 0xfb file name ─► packets of the client … an empty packet ─► OK: Records: 3  Deleted: 0  Skipped: 0  Warnings: 0
 */
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { DbError, restated } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { fitsInt64 } from "../../../value/integer-range.ts";
import { integerOfText } from "../../../value/number-text.ts";
import type { RowIntake } from "../../../table/rows/row-intake.ts";
import { plainVector, scalarVector } from "../../wire/intake/column-reader.ts";
import { IncomingRows, type RowForm, writtenNote } from "../../wire/intake/incoming-rows.ts";
import { type ScannedColumn, textVector, wholeVector } from "../../wire/intake/kernels/read-values.ts";
import { WireFailure } from "../errors.ts";
import { Capability, PART_BYTES } from "../packets.ts";
import type { Talk } from "../talk.ts";
import { Flaw, loadMarks, scanLoad } from "./kernels/scan-load.ts";
import type { LoadStatement } from "./load-syntax.ts";

/** First byte of the packet that asks for a file. */
const SEND_FILE = 0xfb;

/** Runs it. @returns how many rows there were @throws DbError, WireFailure */
export async function loadData(statement: LoadStatement, text: string, talk: Talk): Promise<number> {
  if (!talk.has(Capability.LocalFiles)) {
    const how = "the client does not allow it; set its option (local-infile, allowLoadLocalInfile, infileStreamFactory)";
    throw new WireFailure(
      3948,
      "42000",
      `Loading local data is disabled; this must be enabled on both the client and server sides: ${how}`,
    );
  }
  const { session, parts, packets } = talk;
  const run = session.begin();
  let intake: RowIntake | undefined;
  try {
    const named = statement.columns?.filter((column) => column !== undefined);
    intake = parts.db.intake(statement.table, named, text, session);
    const rows = new IncomingRows(intake, rowForm(statement, intake.columns, session.timeZone), session.timeZone);
    const place = packets.begin();
    packets.outgoing.u8(SEND_FILE);
    packets.outgoing.text(statement.file);
    packets.end(place);
    await receive(rows, talk, run.signal);
    return (await rows.finish()).rowCount;
  } catch (thrown) {
    throw withNote(thrown, writtenNote(intake));
  } finally {
    run.pause();
    await intake?.close();
  }
}

/** Takes packets until the client has sent all, also where the rows are not wanted any more. */
async function receive(rows: IncomingRows, talk: Talk, signal: AbortSignal): Promise<void> {
  let failure: { readonly thrown: unknown } | undefined;
  for (let goesOn = false; ; ) {
    const packet = await talk.readPacket();
    if (packet === undefined) throw new DbError(StatusCode.Cancelled, "Query has been cancelled: its connection is gone");
    // The rest of a packet of 2^24 - 1 bytes may be empty too.
    if (packet.length === 0 && !goesOn) break;
    goesOn = packet.length === PART_BYTES;
    if (failure !== undefined) continue;
    try {
      talk.session.ingest.took(packet.length);
      throwIfCancelled(signal);
      await rows.take(packet);
    } catch (thrown) {
      failure = { thrown };
    }
  }
  if (failure !== undefined) throw failure.thrown;
}

function withNote(thrown: unknown, note: string): unknown {
  if (note === "") return thrown;
  if (thrown instanceof WireFailure) return new WireFailure(thrown.number, thrown.sqlState, thrown.message + note);
  return thrown instanceof DbError ? restated(thrown, thrown.message + note) : thrown;
}

/** Times as whole numbers, which count in the unit of the column; undefined where one is none. */
function unitsVector(scanned: ScannedColumn, type: DataType): Vector | undefined {
  const { MAX_SAFE_INTEGER: most } = Number;
  const short = wholeVector(scanned, -most, most);
  if (short?.kind === "number") return { kind: "time", base: 0n, offsets: Float64Array.from(short.values), validity: short.validity };
  let isWhole = true;
  const long = scalarVector(scanned, type, (bytes) => {
    const units = isWhole && bytes.length <= UNITS_BYTES_MAX ? integerOfText(Buffer.from(bytes).toString("latin1")) : undefined;
    isWhole = units !== undefined && fitsInt64(units);
    return isWhole && units !== undefined ? BigInt(units) : 0n;
  });
  return isWhole ? long : undefined;
}

/** Characters of a number of 64 bits. */
const UNITS_BYTES_MAX = 20;

/** The rows in the bytes of a file. */
function rowForm(statement: LoadStatement, columns: RowIntake["columns"], timeZone: string): RowForm {
  const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
  const byteOf = (text: string): number => (text === "" ? -1 : text.charCodeAt(0));
  const marks = loadMarks(bytesOf(statement.fieldEnd), bytesOf(statement.lineEnd), byteOf(statement.quote), byteOf(statement.escape));
  const fields = statement.columns ?? columns;
  const width = fields.length;
  let skipped = 0;
  /** Lines before the piece that was found last, and lines of each of its rows. */
  let linesBefore = statement.ignoredLines;
  let lines = new Uint32Array(0);
  let lineCount = 0;
  return {
    width,
    places: fields.flatMap((field, i) => (field === undefined ? [] : [i])),
    read(scanned, type) {
      if (type.kind === "binary") return textVector(scanned);
      return plainVector(scanned, type, timeZone) ?? (type.kind === "timestamp" ? unitsVector(scanned, type) : undefined);
    },
    start(bytes, used, isLast) {
      let at = 0;
      for (skipped = 0; skipped < statement.ignoredLines; skipped++) {
        const end = Buffer.from(bytes.buffer, bytes.byteOffset, used).indexOf(marks.lineEnd, at);
        if (end < 0) return isLast ? used : -1;
        at = end + marks.lineEnd.length;
      }
      return at;
    },
    find(bytes, at, used, rowsMax, isLast, found) {
      if (lines.length < rowsMax) lines = new Uint32Array(rowsMax);
      linesBefore += lineCount;
      scanLoad(bytes, at, used, width, rowsMax, marks, isLast, found, lines);
      lineCount = 0;
      for (let row = 0; row < found.rows; row++) lineCount += lines[row] ?? 0;
    },
    flawed(flaw, row) {
      const place = `at row ${row}, line ${linesBefore + lineCount + 1}`;
      if (flaw === Flaw.OpenQuote) throw new WireFailure(1262, "01000", `A quote is not closed: that which begins ${place}`);
      if (flaw === Flaw.TooMany) {
        const why = `Row ${row} was truncated; it contained more data than there were input columns: ${place}, ${width} values are wanted`;
        throw new WireFailure(1262, "01000", `${why}; name the columns, and @skip for values to leave out`);
      }
      throw new WireFailure(1261, "01000", `Row ${row} doesn't contain data for all columns: ${place}, ${width} values are wanted`);
    },
    placeOf(row, index) {
      let line = linesBefore + 1;
      for (let i = 0; i < index; i++) line += lines[i] ?? 0;
      return `row ${row}, line ${line}`;
    },
    tooLong(bytesMax) {
      const hint = "is a quote missing, or do lines end in another way?";
      throw new WireFailure(1153, "08S01", `A row at line ${linesBefore + lineCount + 1} is longer than ${bytesMax} bytes; ${hint}`);
    },
  };
}
