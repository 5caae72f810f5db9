/** Texts of JSON with their escapes resolved, from bytes to bytes. */

/** What stands for a character behind a backslash; 0 is none. */
const PLAIN: Uint8Array<ArrayBuffer> = new Uint8Array(128);
for (const [mark, byte] of [
  ['"', 0x22],
  ["\\", 0x5c],
  ["/", 0x2f],
  ["b", 0x08],
  ["f", 0x0c],
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
] as const) {
  PLAIN[mark.charCodeAt(0)] = byte;
}

/**
 * Writes `source[start, end)`, the inside of a JSON text, to `target` from `at` on, which has room for as many bytes. Returns the place
 * behind it, or -1 when an escape is none of JSON's. Half of a surrogate pair becomes U+FFFD, as in UTF-8 made of a string.
 */
export function unescaped(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let to = at;
  for (let from = start; from < end; ) {
    const byte = source[from] as number; // from < end
    if (byte !== 0x5c) {
      target[to++] = byte;
      from++;
      continue;
    }
    const mark = source[from + 1] as number; // a backslash is never the last byte of a text
    if (mark !== 0x75) {
      const plain = PLAIN[mark] ?? 0;
      if (plain === 0) return -1;
      target[to++] = plain;
      from += 2;
      continue;
    }
    let code = hexOf(source, from + 2, end);
    if (code < 0) return -1;
    from += 6;
    if (code >= 0xd800 && code <= 0xdfff) {
      const low = code < 0xdc00 && source[from] === 0x5c && source[from + 1] === 0x75 ? hexOf(source, from + 2, end) : -1;
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        from += 6;
      } else code = 0xfffd;
    }
    to = writeCodePoint(code, target, to);
  }
  return to;
}

/** Four hexadecimal digits; -1 when they are none. */
function hexOf(source: Uint8Array, start: number, end: number): number {
  if (start + 4 > end) return -1;
  let value = 0;
  for (let at = start; at < start + 4; at++) {
    const byte = source[at] as number; // start + 4 <= end
    const lower = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) value = value * 16 + byte - 0x30;
    else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + lower - 0x57;
    else return -1;
  }
  return value;
}

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
