/**
 * Strings with escapes, as PostgreSQL has them:
 *
 *   E'…'    \b \f \n \r \t, \1 to \777 (octal), \x1 to \xff, \u0061, \U0001F600; before anything else a backslash is left out
 *   U&'…'   \0061, \+01F600, \\
 */
import { atOnce } from "../../../base/scheduler/pace.ts";
import { utf8Text } from "../../../base/bytes/utf8.ts";

/** The text of a literal, or why it has none. */
export type UnescapedText = { readonly text: string } | { readonly problem: string };

const LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const ESCAPE = /''|\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/gu;
const UNICODE_ESCAPE = /''|\\(?:([0-9a-fA-F]{4})|\+([0-9a-fA-F]{6})|(\\)|[^]|$)/gu;

/** Characters that are read at once: some milliseconds where all are escapes. */
const CHARACTERS_AT_ONCE = 32 * 1024;
/** Characters of the longest escape, `\U0001F600`. */
const ESCAPE_CHARACTERS = 10;

/** What a literal stands for. @param image with its mark and quotes */
export function unescaped(image: string): UnescapedText {
  return atOnce(unescapedInSteps(image));
}

/** As `unescaped`, with a yield where others may have a turn. */
export function* unescapedInSteps(image: string): Generator<undefined, UnescapedText> {
  const isBackslashes = image.startsWith("e") || image.startsWith("E");
  return isBackslashes ? yield* backslashes(image.slice(2, -1)) : yield* unicode(image.slice(3, -1));
}

/** A character by its number; undefined where there is none. */
function character(code: number): string | undefined {
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return code === 0 || isHalf || code > 0x10ffff ? undefined : String.fromCodePoint(code);
}

const noCharacter = (escape: string): UnescapedText => ({ problem: `the escape ${escape} stands for no character` });

/** A slice of a text that cuts no escape: its escapes, and where the next one begins. */
function sliceAt(text: string, from: number, pattern: RegExp): { readonly escapes: readonly RegExpExecArray[]; readonly end: number } {
  const slice = text.slice(from, from + CHARACTERS_AT_ONCE + ESCAPE_CHARACTERS);
  const isLast = from + slice.length === text.length;
  const escapes: RegExpExecArray[] = [];
  let end = isLast ? slice.length : CHARACTERS_AT_ONCE;
  // A character of two halves stays whole.
  if (!isLast && /[\udc00-\udfff]/.test(slice.charAt(end))) end++;
  for (const match of slice.matchAll(pattern)) {
    if (match.index >= end) break;
    escapes.push(match);
    end = Math.max(end, match.index + match[0].length);
  }
  return { escapes, end: from + end };
}

/** Octal and hex escapes are bytes, which may be parts of a character: the whole is UTF-8. */
function* backslashes(text: string): Generator<undefined, UnescapedText> {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < text.length; ) {
    const { escapes, end } = sliceAt(text, from, ESCAPE);
    const bytes = Buffer.allocUnsafe(3 * (end - from)); // no escape is shorter than a third of its bytes
    let [done, length] = [from, 0];
    for (const match of escapes) {
      const at = from + match.index;
      length += bytes.write(text.slice(done, at), length);
      done = at + match[0].length;
      const made = meant(match);
      if (made === undefined) return noCharacter(match[0]);
      length += typeof made === "string" ? bytes.write(made, length) : bytes.writeUInt8(made, length) - length;
    }
    length += bytes.write(text.slice(done, end), length);
    parts.push(bytes.subarray(0, length));
    from = end;
    yield;
  }
  const meantText = utf8Text(Buffer.concat(parts));
  return meantText === undefined ? { problem: "the bytes of the escaped string are no UTF-8" } : { text: meantText };
}

/** A character, or a byte of one; undefined where an escape stands for none. */
function meant([whole, octal, hex, short, long, letter = ""]: RegExpExecArray): string | number | undefined {
  const byte = octal !== undefined ? Number.parseInt(octal, 8) : hex !== undefined ? Number.parseInt(hex, 16) : undefined;
  if (byte !== undefined) return byte === 0 || byte > 255 ? undefined : byte;
  const code = short ?? long;
  if (code !== undefined) return character(Number.parseInt(code, 16));
  return whole === "''" ? "'" : (LETTERS[letter] ?? letter);
}

function* unicode(text: string): Generator<undefined, UnescapedText> {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const { escapes, end } = sliceAt(text, from, UNICODE_ESCAPE);
    const made: string[] = [];
    let done = from;
    for (const { index, 0: whole, 1: short, 2: long, 3: backslash } of escapes) {
      const code = short ?? long;
      const one =
        whole === "''" ? "'" : backslash !== undefined ? "\\" : code === undefined ? undefined : character(Number.parseInt(code, 16));
      if (one === undefined) return { problem: `the escape ${whole} stands for no character; write \\0061 or \\+000061` };
      made.push(text.slice(done, from + index), one);
      done = from + index + whole.length;
    }
    made.push(text.slice(done, end));
    parts.push(made.join(""));
    from = end;
    yield;
  }
  return { text: parts.join("") };
}
