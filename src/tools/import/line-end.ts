/**
 * Lines of line protocol, found without decoding them: a line ends at the first LF outside a quoted field value.
 *
 *   key ' ' fields ' ' time LF        quotes mean something only in `fields`, and open only right behind '='
 *
 * The rules are those of the server's decoder (ingest/influx/line-extent.ts), for bytes of which the rest may not have come yet.
 */

const LF = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const HASH = 0x23;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;
const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] as number; // The loops stay below `end`.

/**
 * Position behind the line that starts at `start`; -1: it does not end before `end`.
 *
 * @param isLast whether nothing comes behind `end`: then the line ends there
 */
export function lineEnd(bytes: Uint8Array, start: number, end: number, isLast: boolean): number {
  let at = start;
  if (byteAt(bytes, at) === HASH) return newlineFrom(bytes, at, end, isLast);
  while (at < end && byteAt(bytes, at) !== LF && !(byteAt(bytes, at) === SPACE && at > start && byteAt(bytes, at - 1) !== BACKSLASH)) at++;
  while (at < end && byteAt(bytes, at) === SPACE) at++;
  while (at < end && byteAt(bytes, at) !== LF && !(byteAt(bytes, at) === SPACE && byteAt(bytes, at - 1) !== BACKSLASH)) {
    if (byteAt(bytes, at) === QUOTE && byteAt(bytes, at - 1) === EQUALS) {
      const close = closingQuote(bytes, at + 1, end);
      if (close < 0 && !isLast) return -1;
      if (close < 0) break; // A quote that nothing closes does not swallow the rest.
      at = close;
    }
    at++;
  }
  return newlineFrom(bytes, at, end, isLast);
}

function newlineFrom(bytes: Uint8Array, from: number, end: number, isLast: boolean): number {
  const newline = bytes.indexOf(LF, from);
  if (newline >= 0 && newline < end) return newline + 1;
  return isLast ? end : -1;
}

function closingQuote(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = byteAt(bytes, at);
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return -1;
}

/** Where the text of a line ends: before its LF, CR and blanks. */
export function textEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && (byteAt(bytes, at - 1) === LF || byteAt(bytes, at - 1) === 0x0d || byteAt(bytes, at - 1) === SPACE)) at--;
  return at;
}

/** Whether a line ends with a time: digits behind a space that nothing escapes. Its fields cannot look so, since they have a `=`. */
export function hasTime(bytes: Uint8Array, start: number, end: number): boolean {
  let at = textEnd(bytes, start, end);
  const last = at;
  while (at > start && byteAt(bytes, at - 1) >= 0x30 && byteAt(bytes, at - 1) <= 0x39) at--;
  if (at === last) return false;
  if (at > start && byteAt(bytes, at - 1) === 0x2d) at--;
  return at > start + 1 && byteAt(bytes, at - 1) === SPACE && byteAt(bytes, at - 2) !== BACKSLASH;
}

/** The measurement of a line, unescaped; undefined for a blank line or a comment. */
export function measurementOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  let at = start;
  while (at < end && (byteAt(bytes, at) === SPACE || byteAt(bytes, at) === 0x09)) at++;
  const from = at;
  if (at >= end || byteAt(bytes, at) === HASH || byteAt(bytes, at) === LF || byteAt(bytes, at) === 0x0d) return undefined;
  while (at < end && byteAt(bytes, at) !== LF) {
    const byte = byteAt(bytes, at);
    if (byte === BACKSLASH) at++;
    else if (byte === 0x2c || byte === SPACE) break;
    at++;
  }
  return Buffer.from(bytes.subarray(from, Math.min(at, end)))
    .toString("utf8")
    .replace(/\\([, ])/g, "$1");
}
