/**
 * The UTF-8 of JSON strings: escapes taken out of a string, and put into one.
 */
import { hexDigit } from "./scanner.ts";

const BACKSLASH = 0x5c;
/** What stands for a surrogate without its partner, as in every UTF-8 encoder. */
const REPLACEMENT = 0xfffd;
const HEX: readonly number[] = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/**
 * Writes the string whose raw form is `source[start, stop)` to `target` at `out` and returns where it ends, or -1 when an escape is none
 * of JSON's, which cannot be behind `JsonScanner.string`. It never takes more bytes than the raw form. Half of a surrogate pair becomes
 * U+FFFD, as in UTF-8 made of a string.
 */
export function unescapeJson(source: Uint8Array, start: number, stop: number, target: Uint8Array, out: number): number {
  let to = out;
  for (let at = start; at < stop; ) {
    const byte = source[at] as number;
    if (byte !== BACKSLASH) {
      target[to++] = byte;
      at++;
      continue;
    }
    const escape = source[at + 1] as number;
    if (escape !== 0x75) {
      const plain = unescaped(escape);
      if (plain === 0) return -1;
      target[to++] = plain;
      at += 2;
      continue;
    }
    let code = unit(source, at + 2, stop);
    if (code < 0) return -1;
    at += 6;
    if (code >= 0xd800 && code < 0xdc00 && source[at] === BACKSLASH && source[at + 1] === 0x75) {
      const low = unit(source, at + 2, stop);
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
      }
    }
    to = writeCodePoint(code >= 0xd800 && code < 0xe000 ? REPLACEMENT : code, target, to);
  }
  return to;
}

/** Bytes that `escapeJson` may take for each byte of its source. */
export const ESCAPED_BYTES_MAX = 6;

/** Writes the UTF-8 text `source[start, stop)` as the inside of a JSON string to `target` at `out` and returns where it ends. */
export function escapeJson(source: Uint8Array, start: number, stop: number, target: Uint8Array, out: number): number {
  let to = out;
  for (let at = start; at < stop; at++) {
    const byte = source[at] as number;
    if (byte >= 0x20 && byte !== 0x22 && byte !== BACKSLASH) target[to++] = byte;
    else if (byte >= 0x20) {
      target[to++] = BACKSLASH;
      target[to++] = byte;
    } else {
      target[to++] = BACKSLASH;
      target[to++] = 0x75; // 'u'
      target[to++] = 0x30;
      target[to++] = 0x30;
      target[to++] = HEX[byte >> 4] as number;
      target[to++] = HEX[byte & 15] as number;
    }
  }
  return to;
}

/** What stands behind a backslash; 0: nothing that may. */
function unescaped(escape: number): number {
  switch (escape) {
    case 0x62: // 'b'
      return 0x08;
    case 0x66: // 'f'
      return 0x0c;
    case 0x6e: // 'n'
      return 0x0a;
    case 0x72: // 'r'
      return 0x0d;
    case 0x74: // 't'
      return 0x09;
    case 0x22:
    case 0x2f:
    case BACKSLASH:
      return escape;
    default:
      return 0;
  }
}

/** Four hexadecimal digits before `stop`; -1 when they are none. */
function unit(source: Uint8Array, at: number, stop: number): number {
  if (at + 4 > stop) return -1;
  let code = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = hexDigit(source[i] as number);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

/** Writes a code point, which is no half of a surrogate pair, to `target` at `at`, and returns the place behind it. */
function writeCodePoint(code: number, target: Uint8Array, at: number): number {
  if (code < 0x80) {
    target[at] = code;
    return at + 1;
  }
  if (code < 0x800) {
    target[at] = 0xc0 | (code >> 6);
    target[at + 1] = 0x80 | (code & 0x3f);
    return at + 2;
  }
  if (code < 0x10000) {
    target[at] = 0xe0 | (code >> 12);
    target[at + 1] = 0x80 | ((code >> 6) & 0x3f);
    target[at + 2] = 0x80 | (code & 0x3f);
    return at + 3;
  }
  target[at] = 0xf0 | (code >> 18);
  target[at + 1] = 0x80 | ((code >> 12) & 0x3f);
  target[at + 2] = 0x80 | ((code >> 6) & 0x3f);
  target[at + 3] = 0x80 | (code & 0x3f);
  return at + 4;
}
