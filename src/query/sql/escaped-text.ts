/**
 * Strings with escapes, as PostgreSQL has them:
 *
 *   E'…'    \b \f \n \r \t, \1 to \777 (octal), \x1 to \xff, \u0061, \U0001F600; before anything else a backslash is left out
 *   U&'…'   \0061, \+01F600, \\
 */

/** The text of a literal, or why it has none. */
export type UnescapedText = { readonly text: string } | { readonly problem: string };

const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const ESCAPE = /''|\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/gu;
const UNICODE_ESCAPE = /''|\\(?:([0-9a-fA-F]{4})|\+([0-9a-fA-F]{6})|(\\)|[^]|$)/gu;

/** What a literal stands for. @param image with its mark and quotes */
export function unescaped(image: string): UnescapedText {
  return image.startsWith("e") || image.startsWith("E") ? backslashes(image.slice(2, -1)) : unicode(image.slice(3, -1));
}

/** A character by its number; undefined where there is none. */
function character(code: number): string | undefined {
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return code === 0 || isHalf || code > 0x10ffff ? undefined : String.fromCodePoint(code);
}

/** Octal and hex escapes are bytes, which may be parts of a character: the whole is UTF-8. */
function backslashes(text: string): UnescapedText {
  let problem: string | undefined;
  const bytes: Uint8Array[] = [];
  const encoder = new TextEncoder();
  let done = 0;
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, octal, hex, short, long, letter = ""] = match;
    bytes.push(encoder.encode(text.slice(done, match.index)));
    done = match.index + whole.length;
    const byte = octal !== undefined ? Number.parseInt(octal, 8) : hex !== undefined ? Number.parseInt(hex, 16) : undefined;
    const code = short ?? long;
    const made = whole === "''" ? "'" : code === undefined ? (LETTERS[letter] ?? letter) : character(Number.parseInt(code, 16));
    if (byte === 0 || (byte !== undefined && byte > 255) || made === undefined) problem = `the escape ${whole} stands for no character`;
    else bytes.push(byte === undefined ? encoder.encode(made) : new Uint8Array([byte]));
  }
  bytes.push(encoder.encode(text.slice(done)));
  if (problem !== undefined) return { problem };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(bytes)) };
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    return { problem: "the bytes of the escaped string are no UTF-8" };
  }
}

function unicode(text: string): UnescapedText {
  let problem: string | undefined;
  const made = text.replace(UNICODE_ESCAPE, (whole: string, short?: string, long?: string, backslash?: string) => {
    if (whole === "''") return "'";
    if (backslash !== undefined) return "\\";
    const code = short ?? long;
    const found = code === undefined ? undefined : character(Number.parseInt(code, 16));
    if (found === undefined) problem = `the escape ${whole} stands for no character; write \\0061 or \\+000061`;
    return found ?? "";
  });
  return problem === undefined ? { text: made } : { problem };
}
