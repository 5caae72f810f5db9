/** Loops that write rows of COPY, each as `letter length(4) line LF`. */
import type { Cells } from "../../../wire/cells/cells.ts";
import type { Outgoing } from "../../../wire/outgoing.ts";

const LF = 0x0a;
const BACKSLASH = 0x5c;
const HEAD_BYTES = 5;

/** What follows the backslash of each control character that is escaped; 0: it stands as it is. */
const LETTERS: Uint8Array = new Uint8Array(32);
for (const [code, letter] of [
  [8, "b"],
  [9, "t"],
  [10, "n"],
  [11, "v"],
  [12, "f"],
  [13, "r"],
] as const)
  LETTERS[code] = letter.charCodeAt(0);

/** Bytes that a row takes at most. */
function rowBytes(columns: readonly Cells[], row: number, nullBytes: number): number {
  let most = HEAD_BYTES + 1;
  for (let c = 0; c < columns.length; c++) most += Math.max(nullBytes, 2 * (columns[c]!.ends[row]! - columns[c]!.starts[row]!)) + 3;
  return most;
}

/** Rows of text. @returns where to go on */
export function writeTextRows(
  columns: readonly Cells[],
  from: number,
  to: number,
  outgoing: Outgoing,
  letter: number,
  bytesMax: number,
  delimiter: number,
  nullText: Uint8Array,
): number {
  const begun = outgoing.used;
  for (let row = from; row < to; row++) {
    outgoing.reserve(rowBytes(columns, row, nullText.length));
    const { bytes, view, used } = outgoing;
    let at = used + HEAD_BYTES;
    for (let c = 0; c < columns.length; c++) {
      const { starts, ends, bytes: source } = columns[c]!;
      if (c > 0) bytes[at++] = delimiter;
      const start = starts[row]!;
      const end = ends[row]!;
      if (end < start) for (let i = 0; i < nullText.length; i++) bytes[at++] = nullText[i]!;
      for (let i = start; i < end; i++) {
        const byte = source[i]!;
        if (byte !== BACKSLASH && byte !== delimiter && (byte >= 32 || LETTERS[byte] === 0)) {
          bytes[at++] = byte;
          continue;
        }
        bytes[at++] = BACKSLASH;
        bytes[at++] = byte < 32 && LETTERS[byte] !== 0 ? LETTERS[byte]! : byte;
      }
    }
    bytes[at++] = LF;
    bytes[used] = letter;
    view.setInt32(used + 1, at - used - 1);
    outgoing.used = at;
    if (at - begun >= bytesMax) return row + 1;
  }
  return to;
}

/** What CSV is written with. */
export interface CsvMarks {
  readonly delimiter: number;
  readonly quote: number;
  readonly escape: number;
  readonly nullText: Uint8Array;
  /** Of each column, whether its values are always quoted: 1 or 0. */
  readonly isForced: readonly number[];
  /** Whether a byte asks for quotes. */
  readonly asksQuotes: Uint8Array;
}

/** @param isForced of each column, whether its values are always quoted: 1 or 0 */
export function csvMarks(delimiter: number, quote: number, escape: number, nullText: Uint8Array, isForced: readonly number[]): CsvMarks {
  const asksQuotes = new Uint8Array(256);
  for (const byte of [delimiter, quote, LF, 0x0d]) asksQuotes[byte] = 1;
  return { delimiter, quote, escape, nullText, isForced, asksQuotes };
}

/** Rows of CSV. @returns where to go on */
export function writeCsvRows(
  columns: readonly Cells[],
  from: number,
  to: number,
  outgoing: Outgoing,
  letter: number,
  bytesMax: number,
  marks: CsvMarks,
): number {
  const { delimiter, nullText } = marks;
  const begun = outgoing.used;
  for (let row = from; row < to; row++) {
    outgoing.reserve(rowBytes(columns, row, nullText.length));
    const { bytes, view, used } = outgoing;
    let at = used + HEAD_BYTES;
    for (let c = 0; c < columns.length; c++) {
      const { starts, ends, bytes: source } = columns[c]!;
      if (c > 0) bytes[at++] = delimiter;
      const start = starts[row]!;
      const end = ends[row]!;
      if (end >= start) at = writeCsvValue(source, start, end, bytes, at, marks, marks.isForced[c] === 1, columns.length === 1);
      else for (let i = 0; i < nullText.length; i++) bytes[at++] = nullText[i]!;
    }
    bytes[at++] = LF;
    bytes[used] = letter;
    view.setInt32(used + 1, at - used - 1);
    outgoing.used = at;
    if (at - begun >= bytesMax) return row + 1;
  }
  return to;
}

/** One value. @param isOnly of its line, which must not be `\.` */
function writeCsvValue(
  source: Uint8Array,
  start: number,
  end: number,
  bytes: Uint8Array,
  from: number,
  { quote, escape, nullText, asksQuotes }: CsvMarks,
  isForced: boolean,
  isOnly: boolean,
): number {
  let isQuoted = isForced || (isOnly && source[start] === BACKSLASH);
  if (end - start === nullText.length) isQuoted ||= isSame(source, start, nullText);
  for (let i = start; i < end && !isQuoted; i++) isQuoted = asksQuotes[source[i]!] === 1;
  let at = from;
  if (!isQuoted) {
    for (let i = start; i < end; i++) bytes[at++] = source[i]!;
    return at;
  }
  bytes[at++] = quote;
  for (let i = start; i < end; i++) {
    const byte = source[i]!;
    if (byte === quote || byte === escape) bytes[at++] = escape;
    bytes[at++] = byte;
  }
  bytes[at++] = quote;
  return at;
}

function isSame(source: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) if (source[start + i] !== text[i]) return false;
  return true;
}

/** A name of a header. */
export function csvValue(
  text: string,
  { delimiter, quote, escape }: { readonly delimiter: string; readonly quote: string; readonly escape: string },
): string {
  if (!text.includes(delimiter) && !text.includes(quote) && !/[\n\r]/.test(text)) return text;
  const marked = text.split("").map((character) => (character === quote || character === escape ? escape + character : character));
  return quote + marked.join("") + quote;
}
