/**
 * The values of strings. `\xFF` and `\377` are bytes; those that make no UTF-8 are kept as lone surrogates, U+DC80 to U+DCFF, so that the
 * value is equal to no text that a label can have, and prints as it was written. `isWellFormed` tells such a value.
 */

const ESCAPES = /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|([0-7]{3})|([\s\S]))/g;
/** The same, where it begins to look. */
const ESCAPE_HERE = new RegExp(ESCAPES.source, "y");
const NAMED: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
/** Escapes of bytes that are no characters by themselves. */
const BYTE_ESCAPES = /\\(?:x[89A-Fa-f]|[23])/;
const STRAY = 0xdc00;

/** The byte that a lone surrogate stands for. */
export function strayByte(character: string): number | undefined {
  const byte = character.charCodeAt(0) - STRAY;
  return character.length === 1 && byte >= 0x80 && byte <= 0xff ? byte : undefined;
}

/** The value of a string as the lexer found it, with its quotes. */
export function unquoted(text: string): string {
  const inner = text.slice(1, -1);
  if (text.startsWith("`") || !inner.includes("\\")) return inner;
  if (BYTE_ESCAPES.test(inner)) return decoded(bytesOf(inner));
  let made = "";
  let at = 0;
  for (let slash = inner.indexOf("\\"); slash >= 0; slash = inner.indexOf("\\", at)) {
    made += inner.slice(at, slash);
    const named = NAMED[inner.charAt(slash + 1)];
    if (named === undefined) {
      ESCAPE_HERE.lastIndex = slash;
      made += String.fromCodePoint(escapedPoint(ESCAPE_HERE.exec(inner)?.slice(1) ?? []));
      at = ESCAPE_HERE.lastIndex;
    } else {
      made += named;
      at = slash + 2;
    }
  }
  return made + inner.slice(at);
}

/** The same in UTF-8. */
function bytesOf(inner: string): Uint8Array {
  const encoder = new TextEncoder();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const found of inner.matchAll(ESCAPES)) {
    if (found.index > at) parts.push(encoder.encode(inner.slice(at, found.index)));
    const point = escapedPoint(found.slice(1));
    const isByte = found[1] !== undefined || found[4] !== undefined;
    parts.push(isByte ? Uint8Array.of(point) : encoder.encode(String.fromCodePoint(point)));
    at = found.index + found[0].length;
  }
  parts.push(encoder.encode(inner.slice(at)));
  return Buffer.concat(parts);
}

/** What an escape stands for: a code point, or a byte. */
function escapedPoint([byte, four, eight, octal, letter = ""]: readonly (string | undefined)[]): number {
  const hex = byte ?? four ?? eight;
  if (hex !== undefined) return Number.parseInt(hex, 16);
  if (octal !== undefined) return Number.parseInt(octal, 8);
  return (NAMED[letter] ?? letter).codePointAt(0) ?? 0;
}

/** Decodes UTF-8; see the file header for what is none. */
function decoded(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { point, length } = pointAt(bytes, at);
    pieces.push(String.fromCodePoint(point));
    at += length;
  }
  return pieces.join("");
}

/** Least code point of a sequence by its length: shorter ones must not be written so long. */
const LEAST = [0, 0, 0x80, 0x800, 0x1_0000] as const;

function pointAt(bytes: Uint8Array, at: number): { readonly point: number; readonly length: 1 | 2 | 3 | 4 } {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return { point: lead, length: 1 };
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  let point = lead & (0xff >> (length + 1));
  let isGood = lead >= 0xc0 && lead < 0xf8;
  for (let next = at + 1; next < at + length; next++) {
    const byte = bytes[next] ?? 0;
    isGood &&= byte >= 0x80 && byte < 0xc0;
    point = point * 64 + (byte & 0x3f);
  }
  isGood &&= point >= LEAST[length] && point <= 0x10_ffff && (point < 0xd800 || point > 0xdfff);
  return isGood ? { point, length } : { point: STRAY + lead, length: 1 };
}
