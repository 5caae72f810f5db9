/**
 * Where strings end, and what may not stand in them.
 */
import { numberedCharacter } from "./quoting.ts";
import { Refusal } from "./refusal.ts";

/** What needs no look: everything but quotes, backslashes, line ends, and what may be no character. */
const PLAIN = /[^"'`\\\n\ufffd\ud800-\udfff]*/y;
const DIGITS: Readonly<Record<string, { readonly count: number; readonly base: 8 | 16; readonly max: number }>> = {
  x: { count: 2, base: 16, max: 0xff },
  u: { count: 4, base: 16, max: 0x10_ffff },
  U: { count: 8, base: 16, max: 0x10_ffff },
};
const OCTAL = { count: 3, base: 8, max: 0xff } as const;

/** One past the closing quote of the string that begins at `start`. @throws Refusal */
export function scanString(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let at = start + 1; ; ) {
    const point = pointAfterPlain(text, at, start);
    if (point === undefined || point.character === "\n") throw refusal("unterminated quoted string", text, start);
    if (point.character === quote) return point.end;
    at = point.character === "\\" ? endOfEscape(text, point.end, start) : point.end;
  }
}

/** The same of a raw string, which has no escapes. @throws Refusal */
export function scanRawString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const point = pointAfterPlain(text, at, start);
    if (point === undefined) throw refusal("unterminated raw string", text, start);
    if (point.character === "`") return point.end;
    at = point.end;
  }
}

function refusal(what: string, text: string, start: number): Refusal {
  return new Refusal(what, { start, end: text.length });
}

/** The next character that wants a look; undefined at the end of the text. */
function pointAfterPlain(text: string, at: number, start: number): { readonly character: string; readonly end: number } | undefined {
  PLAIN.lastIndex = at;
  PLAIN.test(text);
  const from = PLAIN.lastIndex;
  const character = characterAt(text, from);
  if (character === "") return undefined;
  if (!character.isWellFormed() || character === "\ufffd") throw refusal("invalid UTF-8 rune", text, start);
  return { character, end: from + character.length };
}

function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** @param at behind the backslash */
function endOfEscape(text: string, at: number, start: number): number {
  const letter = characterAt(text, at);
  if (letter === "") throw refusal("escape sequence not terminated", text, start);
  if ("abfnrtv\\".includes(letter) || letter === text.charAt(start)) return at + 1;
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
