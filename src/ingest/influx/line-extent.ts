/**
 * Where a line ends when it could not be decoded: at the first LF outside a quoted field value.
 *
 *   key ' ' fields ' ' time LF        quotes mean something only in `fields`, and open only right behind '='
 *
 * A quote that nothing closes does not swallow the rest of the body: then the line ends at the first LF behind that quote.
 */

/** Position behind the line that starts at `start`, and never beyond `end`. */
export function lineExtent(bytes: Uint8Array, start: number, end: number): number {
  let at = unescapedSpace(bytes, start, end);
  while (at < end && bytes[at] === 0x20) at++;
  while (at < end && bytes[at] !== 0x0a && !(bytes[at] === 0x20 && bytes[at - 1] !== 0x5c)) {
    if (bytes[at] === 0x22 && bytes[at - 1] === 0x3d) {
      const close = closingQuote(bytes, at + 1, end);
      if (close < 0) break;
      at = close;
    }
    at++;
  }
  const newline = bytes.indexOf(0x0a, at);
  return newline < 0 || newline >= end ? end : newline + 1;
}

/** Position of the quote that closes the string whose text starts at `start`, or -1. */
function closingQuote(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === 0x22) return at;
    if (byte === 0x5c) at++;
  }
  return -1;
}

function unescapedSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== 0x0a && !(bytes[at] === 0x20 && at > start && bytes[at - 1] !== 0x5c)) at++;
  return at;
}
