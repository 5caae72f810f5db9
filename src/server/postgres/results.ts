/** Results of statements as messages: what columns there are, and rows (`wire/cells/row-stream.ts`). */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { CellPrinter } from "../wire/cells/cells.ts";
import { RowStream, type RowWriter, writeBatch } from "../wire/cells/row-stream.ts";
import { ANSWER_BYTES } from "../wire/limits.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import { binaryPrinter } from "./cells/binary-cells.ts";
import { writeRows } from "./cells/kernels/data-rows.ts";
import { textPrinter } from "./cells/text-cells.ts";
import type { TextStyle } from "./cells/value-text.ts";
import { beginMessage, endMessage, tell } from "./codec.ts";
import { Tell } from "./packets.ts";
import { modifierOf, oidOf, sizeOf } from "./types.ts";

/** How a column's values are sent. */
export const Format = { Text: 0, Binary: 1 } as const;
/** One of `Format`. */
export type Format = (typeof Format)[keyof typeof Format];

/** The format of column `i`: none given is text, one is for all. */
function formatOf(formats: readonly Format[], i: number): Format {
  return formats.length === 1 ? (formats[0] ?? Format.Text) : (formats[i] ?? Format.Text);
}

/** Tells of columns, or that there are none. @throws DbError Unsupported for a type that the protocol has no number for */
export function describeRows(outgoing: Outgoing, headers: readonly ColumnHeader[] | undefined, formats: readonly Format[]): void {
  if (headers === undefined) {
    tell(outgoing, Tell.NoData);
    return;
  }
  const numbers = headers.map(({ type }) => oidOf(type)); // Before anything is written: it may throw.
  const place = beginMessage(outgoing, Tell.RowDescription);
  outgoing.u16be(headers.length);
  for (const [i, { name, type }] of headers.entries()) {
    const oid = numbers[i] ?? 0;
    outgoing.textZero(name);
    outgoing.i32be(0); // no table
    outgoing.u16be(0);
    outgoing.i32be(oid);
    outgoing.u16be(sizeOf(oid) & 0xffff);
    outgoing.i32be(modifierOf(type));
    outgoing.u16be(formatOf(formats, i));
  }
  endMessage(outgoing, place);
}

/** How a result of some columns is told, made once for the statements that give it. */
interface KnownForm {
  readonly style: TextStyle;
  readonly formats: readonly Format[];
  /** Of all columns, as a message. */
  readonly description: Uint8Array;
  readonly printers: readonly CellPrinter[];
}

/** Forms of one connection, by the columns of plans that are known. 5 columns: 8 µs made, 0.2 found. */
export class KnownForms {
  private readonly forms: WeakMap<readonly ColumnHeader[], KnownForm> = new WeakMap();

  /** @throws DbError as `describeRows` */
  of(headers: readonly ColumnHeader[], formats: readonly Format[], style: TextStyle, outgoing: Outgoing): KnownForm {
    const known = this.forms.get(headers);
    if (known !== undefined && known.style === style && sameFormats(known.formats, formats)) return known;
    const start = outgoing.used;
    describeRows(outgoing, headers, formats);
    const description = outgoing.bytes.slice(start, outgoing.used);
    outgoing.used = start;
    const form = { style, formats, description, printers: printersOf(headers, formats, style) };
    this.forms.set(headers, form);
    return form;
  }
}

function sameFormats(a: readonly Format[], b: readonly Format[]): boolean {
  return a.length === b.length && a.every((format, i) => format === b[i]);
}

function printersOf(headers: readonly ColumnHeader[], formats: readonly Format[], style: TextStyle): readonly CellPrinter[] {
  return headers.map(({ type }, i) => (formatOf(formats, i) === Format.Binary ? binaryPrinter(type, style) : textPrinter(type, style)));
}

/** Writes the rows of a small result. */
export function writeRowsAtOnce(batch: Batch, { printers }: KnownForm, outgoing: Outgoing): void {
  writeBatch(batch, printers, outgoing, DATA_ROWS);
}

/** The rows of a result, in formats that the client chose. */
export function rowStream({ headers, batches }: ResultRows, formats: readonly Format[], style: TextStyle): RowStream {
  return new RowStream(headers, batches, printersOf(headers, formats, style));
}

/** Columns and batches of a result. */
interface ResultRows {
  readonly headers: readonly ColumnHeader[];
  readonly batches: AsyncIterable<Batch>;
}

/** Rows as messages. @param letter of a row's message */
export function rowsAs(letter: number): RowWriter {
  return (columns, from, to, outgoing) => writeRows(columns, from, to, outgoing, letter, ANSWER_BYTES / 2);
}

const DATA_ROWS: RowWriter = rowsAs(Tell.DataRow);
