/**
 * Rows of COPY in text and CSV, each a CopyData message of its own line:
 *
 *   text   values between delimiters; backslash, delimiter and controls as \\ \b \f \n \r \t \v, NULL as \N
 *   csv    values between delimiters, in quotes where they must be; NULL is nothing, an empty text is ""
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { RowWriter } from "../../wire/cells/row-stream.ts";
import { ANSWER_BYTES } from "../../wire/limits.ts";
import type { Outgoing } from "../../wire/outgoing.ts";
import { beginMessage, endMessage } from "../codec.ts";
import { Tell } from "../packets.ts";
import type { CopyForm } from "./copy-syntax.ts";
import { type CsvMarks, csvMarks, csvValue, writeCsvRows, writeTextRows } from "./kernels/write-copy.ts";

const encoder = new TextEncoder();

/** What writes rows in a form that is not binary. @param bytesMax that are written at once, and a row more */
export function copyRowWriter(form: CopyForm, headers: readonly ColumnHeader[], bytesMax: number = ANSWER_BYTES / 2): RowWriter {
  const nullText = encoder.encode(form.nullText);
  if (form.format === "text") {
    const delimiter = form.delimiter.charCodeAt(0);
    return (columns, from, to, outgoing) => writeTextRows(columns, from, to, outgoing, Tell.CopyData, bytesMax, delimiter, nullText);
  }
  const marks = marksOf(form, headers);
  return (columns, from, to, outgoing) => writeCsvRows(columns, from, to, outgoing, Tell.CopyData, bytesMax, marks);
}

function marksOf(form: CopyForm, headers: readonly ColumnHeader[]): CsvMarks {
  const { forceQuote } = form;
  const isForced = headers.map(({ name }) => (forceQuote === "*" || forceQuote.includes(name) ? 1 : 0));
  return csvMarks(
    form.delimiter.charCodeAt(0),
    form.quote.charCodeAt(0),
    form.escape.charCodeAt(0),
    encoder.encode(form.nullText),
    isForced,
  );
}

/** The line of names, where one is asked for. */
export function writeHeader(outgoing: Outgoing, headers: readonly ColumnHeader[], form: CopyForm): void {
  if (form.header === false) return;
  const names = headers.map(({ name }) => (form.format === "csv" ? csvValue(name, form) : escapedText(name, form.delimiter)));
  const place = beginMessage(outgoing, Tell.CopyData);
  outgoing.text(`${names.join(form.delimiter)}\n`);
  endMessage(outgoing, place);
}

function escapedText(text: string, delimiter: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return delimiter === "\t" ? escaped : escaped.replaceAll(delimiter, `\\${delimiter}`);
}
