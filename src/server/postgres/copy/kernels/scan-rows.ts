/**
 * Rows of COPY out of bytes: where each value begins and ends, row after row and column after column. Escapes are resolved where they
 * stand, which makes a value shorter. A row that is not whole is left for the next time.
 *
 *   text   value DELIMITER value LF      \N is NULL, \b \f \n \r \t \v \123 \x41 and \ before anything
 *   csv    value DELIMITER "value" LF    the NULL text without quotes is NULL; quotes within quotes are escaped
 *   binary i16 columns { i32 length, bytes }*     length -1 is NULL
 */
import { beginRows, type ScannedRows } from "../../../wire/intake/scanned-rows.ts";

const LF = 0x0a;
const CR = 0x0d;
const BACKSLASH = 0x5c;

/** What is wrong with a row. */
export const Flaw = { None: 0, TooFew: 1, TooMany: 2, OpenQuote: 3, EndMarker: 4, Count: 5 } as const;

/** Bytes that a form has. */
export interface ScanMarks {
  readonly delimiter: number;
  readonly quote: number;
  readonly escape: number;
  readonly nullText: Uint8Array;
}

function isSame(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/** Whether a line is `\.` alone, which ends the rows. */
function isEndMarker(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 2 && bytes[start] === BACKSLASH && bytes[start + 1] === 0x2e;
}

/** Rows of text from `from` to `to`. @param isLast whether nothing follows: a line without an end is one */
export function scanText(
  bytes: Uint8Array,
  from: number,
  to: number,
  width: number,
  rowsMax: number,
  marks: ScanMarks,
  isLast: boolean,
  found: ScannedRows,
): void {
  const { delimiter, nullText } = marks;
  beginRows(found, from);
  while (found.rows < rowsMax && found.next < to) {
    let end = bytes.indexOf(LF, found.next);
    // An escaped line end is a part of a value.
    while (end >= 0 && end < to && isEscapedAt(bytes, found.next, end)) end = bytes.indexOf(LF, end + 1);
    if (end < 0 || end >= to) {
      if (!isLast) return;
      end = to;
    }
    const lineEnd = end > found.next && bytes[end - 1] === CR && !isEscapedAt(bytes, found.next, end - 1) ? end - 1 : end;
    if (isEndMarker(bytes, found.next, lineEnd)) {
      found.flaw = Flaw.EndMarker;
      return;
    }
    const flaw = textRow(bytes, found.next, lineEnd, width, delimiter, nullText, found);
    if (flaw !== Flaw.None) {
      found.flaw = flaw;
      return;
    }
    found.rows++;
    found.next = Math.min(end + 1, to);
  }
}

/** Whether an odd number of backslashes stands before a byte. */
function isEscapedAt(bytes: Uint8Array, start: number, at: number): boolean {
  let first = at;
  while (first > start && bytes[first - 1] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

function textRow(
  bytes: Uint8Array,
  from: number,
  end: number,
  width: number,
  delimiter: number,
  nullText: Uint8Array,
  { starts, ends, rows }: ScannedRows,
): number {
  const base = rows * width;
  let column = 0;
  let start = from;
  let hasEscape = false;
  for (let at = from; at <= end; at++) {
    const byte = at < end ? bytes[at]! : delimiter;
    if (byte === BACKSLASH && at < end) {
      hasEscape = true;
      at++;
      if (at < end) continue;
    }
    if (at < end && byte !== delimiter) continue;
    if (column === width) return Flaw.TooMany;
    const valueEnd = Math.min(at, end);
    if (isSame(bytes, start, valueEnd, nullText)) {
      starts[base + column] = 1;
      ends[base + column] = 0;
    } else {
      starts[base + column] = start;
      ends[base + column] = hasEscape ? unescape(bytes, start, valueEnd) : valueEnd;
    }
    column++;
    start = at + 1;
    hasEscape = false;
  }
  return column < width ? Flaw.TooFew : Flaw.None;
}

/** What the letter behind a backslash stands for; 0: for itself. */
const LETTERS: Uint8Array = new Uint8Array(256);
for (const [letter, code] of [
  ["b", 8],
  ["t", 9],
  ["n", 10],
  ["v", 11],
  ["f", 12],
  ["r", 13],
] as const)
  LETTERS[letter.charCodeAt(0)] = code;

const digitOf = (byte: number, base: number): number => {
  const value = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : (byte | 32) >= 0x61 && (byte | 32) <= 0x66 ? (byte | 32) - 0x57 : 99;
  return value < base ? value : -1;
};

/** Resolves escapes where they stand. @returns where the value ends now */
function unescape(bytes: Uint8Array, start: number, end: number): number {
  let to = start;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte !== BACKSLASH || at + 1 >= end) {
      bytes[to++] = byte;
      continue;
    }
    const letter = bytes[++at]!;
    const isHex = letter === 0x78 && at + 1 < end && digitOf(bytes[at + 1]!, 16) >= 0;
    if (!isHex && digitOf(letter, 8) < 0) {
      bytes[to++] = LETTERS[letter]! === 0 ? letter : LETTERS[letter]!;
      continue;
    }
    const [base, most] = isHex ? [16, 2] : [8, 3];
    let value = 0;
    let count = 0;
    if (isHex) at++;
    while (count < most && at + count < end && digitOf(bytes[at + count]!, base) >= 0)
      value = value * base + digitOf(bytes[at + count++]!, base);
    bytes[to++] = value & 255;
    at += count - 1;
  }
  return to;
}

/** Rows of CSV from `from` to `to`. */
export function scanCsv(
  bytes: Uint8Array,
  from: number,
  to: number,
  width: number,
  rowsMax: number,
  marks: ScanMarks,
  isLast: boolean,
  found: ScannedRows,
): void {
  beginRows(found, from);
  while (found.rows < rowsMax && found.next < to) {
    const lineEnd = csvLineEnd(bytes, found.next, to, marks);
    if (lineEnd < 0) {
      if (!isLast) return;
      if (lineEnd === OPEN_QUOTE) {
        found.flaw = Flaw.OpenQuote;
        return;
      }
    }
    const feed = lineEnd < 0 ? to : lineEnd;
    const end = feed > found.next && bytes[feed - 1] === CR ? feed - 1 : feed;
    if (isEndMarker(bytes, found.next, end)) {
      found.flaw = Flaw.EndMarker;
      return;
    }
    const flaw = csvRow(bytes, found.next, end, width, marks, found);
    if (flaw !== Flaw.None) {
      found.flaw = flaw;
      return;
    }
    found.rows++;
    found.next = Math.min(feed + 1, to);
  }
}

const OPEN_QUOTE = -2;

/** Where the line ends: its LF outside of quotes; -1 where it has none, -2 where a quote is open at the end. */
function csvLineEnd(bytes: Uint8Array, from: number, to: number, { quote, escape }: ScanMarks): number {
  let isQuoted = false;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (isQuoted && byte === escape && escape !== quote && at + 1 < to) at++;
    else if (byte === quote) isQuoted = !isQuoted;
    else if (byte === LF && !isQuoted) return at;
  }
  return isQuoted ? OPEN_QUOTE : -1;
}

function csvRow(
  bytes: Uint8Array,
  from: number,
  end: number,
  width: number,
  marks: ScanMarks,
  { starts, ends, rows }: ScannedRows,
): number {
  const { delimiter, quote, escape, nullText } = marks;
  const base = rows * width;
  let at = from;
  for (let column = 0; ; column++) {
    if (column === width) return Flaw.TooMany;
    const start = at;
    let to = at;
    let isQuoted = false;
    let wasQuoted = false;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (!isQuoted && byte === delimiter) break;
      if (isQuoted && byte === escape && at + 1 < end && (bytes[at + 1] === quote || bytes[at + 1] === escape)) bytes[to++] = bytes[++at]!;
      else if (byte === quote) {
        isQuoted = !isQuoted;
        wasQuoted = true;
      } else bytes[to++] = byte;
    }
    const isNull = !wasQuoted && isSame(bytes, start, to, nullText);
    starts[base + column] = isNull ? 1 : start;
    ends[base + column] = isNull ? 0 : to;
    if (at >= end) return column + 1 < width ? Flaw.TooFew : Flaw.None;
    at++;
  }
}

/** Rows of binary from `from` to `to`. */
export function scanBinary(bytes: Uint8Array, from: number, to: number, width: number, rowsMax: number, found: ScannedRows): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, to);
  beginRows(found, from);
  const { starts, ends } = found;
  while (found.rows < rowsMax && found.next + 2 <= to) {
    const count = view.getInt16(found.next);
    if (count === -1) {
      found.flaw = Flaw.EndMarker;
      return;
    }
    if (count !== width) {
      found.flaw = Flaw.Count;
      return;
    }
    const base = found.rows * width;
    let at = found.next + 2;
    for (let column = 0; column < width; column++) {
      if (at + 4 > to) return;
      const length = view.getInt32(at);
      at += 4;
      if (length < -1) {
        found.flaw = Flaw.Count;
        return;
      }
      if (length === -1) {
        starts[base + column] = 1;
        ends[base + column] = 0;
        continue;
      }
      if (at + length > to) return;
      starts[base + column] = at;
      at += length;
      ends[base + column] = at;
    }
    found.rows++;
    found.next = at;
  }
}
