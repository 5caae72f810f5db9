/**
 * Rows of LOAD DATA out of bytes: where each value begins and ends. A row is looked through to its end first, and only then are escapes and
 * doubled quotes resolved, where they stand; a row that is not whole is left as it is, for the next time.
 *
 *   value FIELD-END value FIELD-END "value" LINE-END
 *
 * A quote is one where a value begins, and ends it only before a FIELD-END or a LINE-END. \N is NULL, \0 \b \n \r \t \Z are controls, and
 * what else follows an escape stands for itself. Source: MySQL 8.4 Reference Manual, "LOAD DATA Statement".
 */
import { beginRows, type ScannedRows } from "../../../wire/intake/scanned-rows.ts";

/** What is wrong with a row. */
export const Flaw = { None: 0, TooFew: 1, TooMany: 2, OpenQuote: 3 } as const;

/** Bytes that a form has. */
export interface LoadMarks {
  /** One byte at least, each. */
  readonly fieldEnd: Uint8Array;
  readonly lineEnd: Uint8Array;
  /** -1: there is none. */
  readonly quote: number;
  readonly escape: number;
  /** Of each byte, whether a value without quotes may end there or something is escaped: 1 or 0. */
  readonly isMark: Uint8Array;
  /** Whether the word NULL is NULL where it has no quotes. */
  readonly hasNullWord: boolean;
}

/** How the text of a value is written. */
const Plain = 0;
const Escaped = 1;
const Quoted = 2;

const LF = 0x0a;
const LETTER_N = 0x4e;
const INCOMPLETE = -1;
const NULL_WORD: Uint8Array = new TextEncoder().encode("NULL");

/** What the letter behind an escape stands for; of others: itself. */
const MEANINGS: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);
for (const [letter, byte] of [
  ["0", 0],
  ["b", 8],
  ["t", 9],
  ["n", 10],
  ["r", 13],
  ["Z", 26],
] as const)
  MEANINGS[letter.charCodeAt(0)] = byte;

/** Marks of a form. @param quote a byte or -1, `escape` too */
export function loadMarks(fieldEnd: Uint8Array, lineEnd: Uint8Array, quote: number, escape: number): LoadMarks {
  const isMark = new Uint8Array(256);
  isMark[fieldEnd[0]!] = 1;
  isMark[lineEnd[0]!] = 1;
  if (escape >= 0) isMark[escape] = 1;
  return { fieldEnd, lineEnd, quote, escape, isMark, hasNullWord: quote >= 0 || escape < 0 };
}

/** Rows from `from` to `to`. @param lines how many line ends each row found has, one at least @param isLast whether nothing follows */
export function scanLoad(
  bytes: Uint8Array,
  from: number,
  to: number,
  width: number,
  rowsMax: number,
  marks: LoadMarks,
  isLast: boolean,
  found: ScannedRows,
  lines: Uint32Array,
): void {
  beginRows(found, from);
  const forms = new Uint8Array(width);
  while (found.rows < rowsMax && found.next < to) {
    const end = scanRow(bytes, found.next, to, width, marks, isLast, found, forms);
    if (end === INCOMPLETE || found.flaw !== Flaw.None) return;
    let lineCount = 0;
    for (let at = bytes.indexOf(LF, found.next); at >= 0 && at < end; at = bytes.indexOf(LF, at + 1)) lineCount++;
    lines[found.rows] = Math.max(1, lineCount);
    resolve(bytes, found, width, marks, forms);
    found.rows++;
    found.next = end;
  }
}

/** Bytes of `mark` that stand at `at`: all, none, or -1 where those that are there do not tell. */
function matchAt(bytes: Uint8Array, at: number, to: number, mark: Uint8Array, isLast: boolean): number {
  for (let i = 0; i < mark.length; i++) {
    if (at + i >= to) return isLast ? 0 : INCOMPLETE;
    if (bytes[at + i] !== mark[i]) return 0;
  }
  return mark.length;
}

/** One row, its values as they are written. @returns where the next one begins, or -1 */
function scanRow(
  bytes: Uint8Array,
  from: number,
  to: number,
  width: number,
  marks: LoadMarks,
  isLast: boolean,
  found: ScannedRows,
  forms: Uint8Array,
): number {
  const { fieldEnd, lineEnd } = marks;
  const base = found.rows * width;
  let at = from;
  for (let column = 0; ; column++) {
    let start = at;
    let form = Plain;
    let end: number;
    if (at < to && bytes[at] === marks.quote) {
      form = Quoted;
      start = at + 1;
      end = quotedEnd(bytes, start, to, marks, isLast);
      if (end === INCOMPLETE && isLast) found.flaw = Flaw.OpenQuote;
      at = end + 1;
    } else {
      end = plainEnd(bytes, at, to, marks, isLast);
      if (end < INCOMPLETE) {
        form = Escaped;
        end = -end - 2;
      }
      at = end;
    }
    if (end === INCOMPLETE) return INCOMPLETE;
    if (column < width) {
      found.starts[base + column] = start;
      found.ends[base + column] = end;
      forms[column] = form;
    } else found.flaw = Flaw.TooMany;
    const field = at >= to ? 0 : matchAt(bytes, at, to, fieldEnd, true);
    if (field > 0) {
      at += field;
      continue;
    }
    if (column + 1 < width) found.flaw = Flaw.TooFew;
    return at >= to ? to : at + lineEnd.length;
  }
}

/** Where a value without quotes ends: at a mark's first byte. @returns -1: not known yet; -2 and less: it is `-end - 2`, with escapes */
function plainEnd(bytes: Uint8Array, from: number, to: number, marks: LoadMarks, isLast: boolean): number {
  const { fieldEnd, lineEnd, escape, isMark } = marks;
  let hasEscape = false;
  let at = from;
  for (; at < to; at++) {
    const byte = bytes[at]!;
    if (isMark[byte] === 0) continue;
    if (byte === escape) {
      if (at + 1 >= to && !isLast) return INCOMPLETE;
      hasEscape = true;
      at++;
      continue;
    }
    const field = matchAt(bytes, at, to, fieldEnd, isLast);
    const line = field > 0 ? 0 : matchAt(bytes, at, to, lineEnd, isLast);
    if (field > 0 || line > 0) return hasEscape ? -at - 2 : at;
    if (field < 0 || line < 0) return INCOMPLETE;
  }
  if (!isLast) return INCOMPLETE;
  const end = Math.min(at, to);
  return hasEscape ? -end - 2 : end;
}

/** Where a value in quotes ends: at its closing quote; -1: not known yet. */
function quotedEnd(bytes: Uint8Array, from: number, to: number, marks: LoadMarks, isLast: boolean): number {
  const { fieldEnd, lineEnd, quote, escape } = marks;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte === escape && escape !== quote) {
      at++;
      continue;
    }
    if (byte !== quote) continue;
    if (at + 1 >= to) return isLast ? at : INCOMPLETE;
    if (bytes[at + 1] === quote) {
      at++;
      continue;
    }
    const field = matchAt(bytes, at + 1, to, fieldEnd, isLast);
    const line = field > 0 ? 0 : matchAt(bytes, at + 1, to, lineEnd, isLast);
    if (field > 0 || line > 0) return at;
    if (field < 0 || line < 0) return INCOMPLETE;
  }
  return INCOMPLETE;
}

/** Finds the NULLs of a row and resolves what is escaped or doubled. */
function resolve(bytes: Uint8Array, { starts, ends, rows }: ScannedRows, width: number, marks: LoadMarks, forms: Uint8Array): void {
  const base = rows * width;
  for (let i = base; i < base + width; i++) {
    const start = starts[i]!;
    const end = ends[i]!;
    const form = forms[i - base]!;
    const isNull =
      form === Escaped
        ? end - start === 2 && bytes[start] === marks.escape && bytes[start + 1] === LETTER_N
        : form === Plain && marks.hasNullWord && end - start === NULL_WORD.length && isNullWord(bytes, start);
    if (isNull) {
      starts[i] = 1;
      ends[i] = 0;
    } else if (form !== Plain) ends[i] = resolved(bytes, start, end, marks.escape, form === Quoted ? marks.quote : -1);
  }
}

function isNullWord(bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < NULL_WORD.length; i++) if (bytes[start + i] !== NULL_WORD[i]) return false;
  return true;
}

/** Resolves escapes and doubled quotes where they stand. @returns where the value ends now */
function resolved(bytes: Uint8Array, start: number, end: number, escape: number, quote: number): number {
  let to = start;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === escape && escape !== quote && at + 1 < end) bytes[to++] = MEANINGS[bytes[++at]!]!;
    else {
      if (byte === quote && at + 1 < end && bytes[at + 1] === quote) at++;
      bytes[to++] = byte;
    }
  }
  return to;
}
