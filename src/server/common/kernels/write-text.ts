/** Loops that write bytes `[start, end)` of a source as text at position `at` of a target; each returns where its text ends. */
import { writeInteger } from "./write-number.ts";

const QUOTE = 0x22; // '"'
const BACKSLASH = 0x5c; // '\'
/** Digits of a base of 16. */
export const HEX: Uint8Array = new TextEncoder().encode("0123456789abcdef");

/** What follows the backslash for each control character that has a short escape; 0 where there is none. */
const SHORT_ESCAPE: Uint8Array = shortEscapes();

function shortEscapes(): Uint8Array {
  const table = new Uint8Array(32);
  table[8] = 0x62; // \b
  table[9] = 0x74; // \t
  table[10] = 0x6e; // \n
  table[12] = 0x66; // \f
  table[13] = 0x72; // \r
  return table;
}

/** The bytes as they are. */
export function copyBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let next = at;
  for (let i = start; i < end; i++) target[next++] = source[i]!;
  return next;
}

/** A string of JSON. Takes six times the bytes and two at most. */
export function writeJsonText(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let next = at;
  target[next++] = QUOTE;
  for (let i = start; i < end; i++) {
    const byte = source[i]!;
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) {
      target[next++] = byte;
      continue;
    }
    target[next++] = BACKSLASH;
    if (byte >= 0x20) {
      target[next++] = byte;
      continue;
    }
    const short = SHORT_ESCAPE[byte]!;
    if (short !== 0) {
      target[next++] = short;
      continue;
    }
    target[next++] = 0x75; // 'u'
    target[next++] = 0x30;
    target[next++] = 0x30;
    target[next++] = HEX[byte >> 4]!;
    target[next++] = HEX[byte & 15]!;
  }
  target[next++] = QUOTE;
  return next;
}

/** As a string of JSON, a text that needs no escape; the position where it would begin for any other. */
export function writePlainText(text: string, target: Uint8Array, at: number): number {
  let next = at;
  target[next++] = QUOTE;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return at;
    target[next++] = unit;
  }
  target[next++] = QUOTE;
  return next;
}

/** A field of CSV: in quotes only where it holds a quote, a comma or a line end. */
export function writeCsvText(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let quoted = false;
  for (let i = start; i < end && !quoted; i++) {
    const byte = source[i]!;
    quoted = byte === QUOTE || byte === 0x2c || byte === 0x0a || byte === 0x0d; // '"' ',' LF CR
  }
  if (!quoted) return copyBytes(source, start, end, target, at);
  let next = at;
  target[next++] = QUOTE;
  for (let i = start; i < end; i++) {
    const byte = source[i]!;
    if (byte === QUOTE) target[next++] = QUOTE;
    target[next++] = byte;
  }
  target[next++] = QUOTE;
  return next;
}

/** Bytes as a list, `[1,2,255]`, in quotes where commas would end a CSV field. */
export function writeList(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number, csv: boolean): number {
  const quoted = csv && end - start > 1;
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  let next = at;
  if (quoted) target[next++] = QUOTE;
  target[next++] = 0x5b; // '['
  for (let i = start; i < end; i++) {
    if (i > start) target[next++] = 0x2c; // ','
    next = writeInteger(view, next, source[i]!);
  }
  target[next++] = 0x5d; // ']'
  if (quoted) target[next++] = QUOTE;
  return next;
}

/** One CSV field: in quotes only where it holds a quote, a comma or a line end. */
export function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
