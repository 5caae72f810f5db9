/**
 * Where strings end, and what may not stand in them.
 */
import { numberedCharacter } from "./quoting.ts";
import { Refusal } from "./refusal.ts";

const BACKSLASH = 0x5c;
const LINE_END = 0x0a;
const BACK_QUOTE = 0x60;
const REPLACEMENT = 0xfffd;
/** Letters and the backslash, which stand alone behind one. */
const SIMPLE: ReadonlySet<number> = new Set(Array.from("abfnrtv\\", (letter) => letter.charCodeAt(0)));
const DIGITS: Readonly<Record<string, { readonly count: number; readonly base: 8 | 16; readonly max: number }>> = {
  x: { count: 2, base: 16, max: 0xff },
  u: { count: 4, base: 16, max: 0x10_ffff },
  U: { count: 8, base: 16, max: 0x10_ffff },
};
const OCTAL = { count: 3, base: 8, max: 0xff } as const;

/** One past the closing quote of the string that begins at `start`. @throws Refusal */
export function scanString(text: string, start: number): number {
  const quote = text.charCodeAt(start);
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === LINE_END) break;
    at = code === BACKSLASH ? endOfEscape(text, at + 1, start) : endOfCharacter(text, at, start, code);
  }
  throw refusal("unterminated quoted string", text, start);
}

/** The same of a raw string, which has no escapes. @throws Refusal */
export function scanRawString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === BACK_QUOTE) return at + 1;
    at = endOfCharacter(text, at, start, code);
  }
  throw refusal("unterminated raw string", text, start);
}

/** @throws Refusal for what is no character: half of one, and what stands where one could not be read */
function endOfCharacter(text: string, at: number, start: number, code: number): number {
  if (code < 0xd800 || (code > 0xdfff && code !== REPLACEMENT)) return at + 1;
  const isPair = (text.codePointAt(at) ?? 0) > 0xffff;
  if (!isPair) throw refusal("invalid UTF-8 rune", text, start);
  return at + 2;
}

function refusal(what: string, text: string, start: number): Refusal {
  return new Refusal(what, { start, end: text.length });
}

function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** @param at behind the backslash */
function endOfEscape(text: string, at: number, start: number): number {
  if (SIMPLE.has(text.charCodeAt(at)) || text.charCodeAt(at) === text.charCodeAt(start)) return at + 1;
  const letter = characterAt(text, at);
  if (letter === "") throw refusal("escape sequence not terminated", text, start);
  const isOctal = letter >= "0" && letter <= "7";
  const form = isOctal ? OCTAL : Object.hasOwn(DIGITS, letter) ? DIGITS[letter] : undefined;
  if (form === undefined) throw refusal(`unknown escape sequence ${numberedCharacter(letter)}`, text, start);
  const first = isOctal ? at : at + 1;
  let value = 0;
  for (let next = first; next < first + form.count; next++) {
    const digit = characterAt(text, next);
    if (digit === "") throw refusal("escape sequence not terminated", text, start);
    const of = /^[\da-fA-F]$/.test(digit) ? Number.parseInt(digit, 16) : form.base;
    if (of >= form.base) throw refusal(`illegal character ${numberedCharacter(digit)} in escape sequence`, text, start);
    value = value * form.base + of;
  }
  if (value > form.max || (value >= 0xd800 && value < 0xe000))
    throw refusal("escape sequence is an invalid Unicode code point", text, start);
  return first + form.count;
}
