/**
 * Quoted field values: `\"` and `\\` stand for the second character, `\n`, `\r`, `\t` for the control character; any other
 * backslash stays. Line ends inside the quotes belong to the text.
 */
import { isUtf8 } from "./utf8.ts";

/** Copying bytes one by one is faster than `set` of a subarray below about this many. */
const SHORT_TEXT_BYTES = 48;

/** What `scan` says instead of a position when no quote closes the text. */
export const TEXT_UNCLOSED = -1;
/** What `scan` says instead of a position when the text is not UTF-8. */
const TEXT_NOT_UTF8 = -2;

/** Finds the end of a quoted text and remembers what `copy` needs to know about it. */
export class TextReader {
  /** LF bytes in the text. */
  newlines = 0;
  private escaped = false;

  /** Position of the closing quote of the text that starts at `start`; negative when it is none. */
  scan(bytes: Uint8Array, start: number, end: number): number {
    let newlines = 0;
    let escaped = false;
    let seen = 0;
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === 0x22) break;
      seen |= byte;
      if (byte === 0x0a) newlines++;
      if (byte !== 0x5c) continue;
      escaped = true;
      const follower = at + 1 < end ? bytes[at + 1]! : 0;
      if (follower === 0x22 || follower === 0x5c) at++;
    }
    this.newlines = newlines;
    this.escaped = escaped;
    if (at >= end) return TEXT_UNCLOSED;
    return seen >= 0x80 && !isUtf8(bytes, start, at) ? TEXT_NOT_UTF8 : at;
  }

  /** Writes the text `bytes[start, end)` that `scan` has just seen to `target` at `to`. Returns the position behind it. */
  copy(bytes: Uint8Array, start: number, end: number, target: Uint8Array, to: number): number {
    if (this.escaped) return unescapeText(bytes, start, end, target, to);
    if (end - start > SHORT_TEXT_BYTES) target.set(bytes.subarray(start, end), to);
    else for (let i = start, j = to; i < end; i++, j++) target[j] = bytes[i]!;
    return to + (end - start);
  }
}

function unescapeText(bytes: Uint8Array, start: number, end: number, target: Uint8Array, to: number): number {
  let length = to;
  for (let at = start; at < end; at++) {
    let byte = bytes[at]!;
    if (byte === 0x5c && at + 1 < end) {
      const plain = unescapedByte(bytes[at + 1]!);
      if (plain >= 0) {
        byte = plain;
        at++;
      }
    }
    target[length++] = byte;
  }
  return length;
}

/** What a backslash and `byte` stand for, or -1 when the backslash is an ordinary character. */
function unescapedByte(byte: number): number {
  switch (byte) {
    case 0x22: // '"'
    case 0x5c: // '\'
      return byte;
    case 0x6e: // 'n'
      return 0x0a;
    case 0x72: // 'r'
      return 0x0d;
    case 0x74: // 't'
      return 0x09;
    default:
      return -1;
  }
}
