/**
 * The shape of a query's text: the text with a mark in the place of each text in quotes and each number. Texts of one shape differ in
 * constants alone, so that their trees do.
 *
 *   SELECT a FROM t WHERE host = 'h1' AND n < 25   ─►   SELECT a FROM t WHERE host = ␁ AND n < ␂      'h1', 25
 *
 * One pass over the characters, 1 µs for 100 of them; the lexer takes four times that. What needs a second look (comments, `E'…'`, `$…`,
 * `1e5`, `.5`) has no shape: such texts are parsed.
 */

/** Longest text that has a shape: longer ones are mostly data. */
const SHAPE_CHARACTERS_MAX = 2048;
/** Most constants of a shape. Reason: a list that long is seldom sent twice with as many. */
const CONSTANTS_MAX = 128;

/** A constant of a text. */
export interface TextConstant {
  readonly kind: "string" | "number";
  /** What a string stands for; a number as it is written. */
  readonly text: string;
  /** Where it begins in the text, in characters. */
  readonly offset: number;
}

/** See the file header. */
export interface TextShape {
  readonly shape: string;
  readonly constants: readonly TextConstant[];
}

const STRING_MARK = "\u0001";
const NUMBER_MARK = "\u0002";
/** The first character that may stand in a text of a shape: those below are marks, and no SQL. */
const TAB = 0x09;
const ASCII_END = 0x80;
const QUOTE = 0x27; // '
const DOUBLE_QUOTE = 0x22; // "
const BACKTICK = 0x60; // `
const DASH = 0x2d; // -
const SLASH = 0x2f; // /
const STAR = 0x2a; // *
const DOLLAR = 0x24; // $
const QUESTION = 0x3f; // ?
const AMPERSAND = 0x26; // &
const DOT = 0x2e; // .
const ZERO = 0x30; // 0
const NINE = 0x39; // 9
const SELECT = /^\s*select\s/i;

/** 1 for characters of words: letters, digits, `_`, `@`, `#`, `$`. */
const IN_WORD: Uint8Array = new Uint8Array(ASCII_END);
for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@#$") IN_WORD[letter.charCodeAt(0)] = 1;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isOfWord = (code: number): boolean => code >= ASCII_END || IN_WORD[code] === 1;

/** The shape of a text that begins with SELECT; undefined for one that has none. */
export function shapeOf(text: string): TextShape | undefined {
  const { length } = text;
  if (length > SHAPE_CHARACTERS_MAX || !SELECT.test(text)) return undefined;
  const constants: TextConstant[] = [];
  let shape = "";
  let copied = 0;
  for (let at = 0; at < length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfQuoted(text, at, "'");
      const before = at === 0 ? 0 : text.charCodeAt(at - 1);
      if (end === 0 || before === QUOTE || before === AMPERSAND || isOfWord(before)) return undefined;
      const inner = text.slice(at + 1, end - 1);
      constants.push({ kind: "string", text: inner.includes("'") ? inner.replaceAll("''", "'") : inner, offset: at });
      shape += text.slice(copied, at) + STRING_MARK;
      copied = end;
      at = end;
    } else if (isDigit(code)) {
      const end = endOfNumber(text, at);
      if (end === 0) return undefined;
      constants.push({ kind: "number", text: text.slice(at, end), offset: at });
      shape += text.slice(copied, at) + NUMBER_MARK;
      copied = end;
      at = end;
    } else if (code === DOUBLE_QUOTE || code === BACKTICK) {
      const end = endOfQuoted(text, at, text.charAt(at));
      if (end === 0 || hasMark(text, at, end)) return undefined;
      at = end;
    } else if (isUnclear(text, at, code)) return undefined;
    else if (isOfWord(code)) at = endOfWord(text, at);
    else at++;
  }
  if (constants.length > CONSTANTS_MAX) return undefined;
  return { shape: shape + text.slice(copied), constants };
}

/** Whether what begins there is a comment, a parameter, `$tag$`, a number that begins with its point, or no SQL. */
function isUnclear(text: string, at: number, code: number): boolean {
  if (code < TAB || code >= ASCII_END || code === DOLLAR || code === QUESTION) return true;
  const next = at + 1 < text.length ? text.charCodeAt(at + 1) : 0;
  if (code === DASH) return next === DASH;
  if (code === SLASH) return next === STAR;
  return code === DOT && isDigit(next);
}

/** Behind the closing quote; 0 where there is none. A doubled quote stands for one. */
function endOfQuoted(text: string, from: number, quote: string): number {
  for (let at = from + 1; ; ) {
    const end = text.indexOf(quote, at);
    if (end < 0) return 0;
    if (text[end + 1] !== quote) return end + 1;
    at = end + 2;
  }
}

function hasMark(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text.charCodeAt(at) < TAB) return true;
  return false;
}

/** Behind `12` or `1.5`; 0 for other forms of numbers, and what is none. */
function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isDigit(text.charCodeAt(at))) at++;
  if (at < text.length && text.charCodeAt(at) === DOT) {
    const first = ++at;
    while (at < text.length && isDigit(text.charCodeAt(at))) at++;
    if (at === first) return 0;
  }
  if (at === text.length) return at;
  const behind = text.charCodeAt(at);
  return behind === DOT || isOfWord(behind) ? 0 : at;
}

function endOfWord(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isOfWord(text.charCodeAt(at))) {
    if (text.charCodeAt(at) === DOLLAR || text.charCodeAt(at) >= ASCII_END) return at; // Looked at for itself.
    at++;
  }
  return at;
}
