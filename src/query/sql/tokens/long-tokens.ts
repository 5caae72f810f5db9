/**
 * Tokens, blanks and comments that are longer than a slice of a text (`slices.ts`): their end is looked for in steps, and what a
 * string stands for is made in steps, since the lexer's patterns take a second for some million doubled quotes.
 */
import type { IToken, TokenType } from "chevrotain";
import { unescapedInSteps } from "./escaped-text.ts";
import { syntaxError } from "./syntax-error.ts";
import { DollarText, EscapedText, HexText, QuotedName, StringText, Unterminated } from "./token.ts";

/** Characters that are looked at at once: ten milliseconds while the code is cold, far below one later. */
const CHARACTERS_AT_ONCE = 64 * 1024;

/** As many of a string with doubled quotes are made single at once. */
const QUOTES_AT_ONCE = 32 * 1024;

/** Longest name without quotes and longest number. Reason: they are read at once. Error: InvalidSyntax. */
export const WORD_CHARACTERS_MAX: number = 32 * 1024;

/** Where something begins. */
export interface TextPlace {
  readonly offset: number;
  /** Counted from 1, as `column`. */
  readonly line: number;
  readonly column: number;
}

/** A token, none for blanks and comments, and what follows it. */
export interface LongToken {
  readonly token: IToken | undefined;
  readonly next: TextPlace;
}

/** Work on a long token, with a yield where others may have a turn. */
type Steps<T> = Generator<undefined, T>;

/** As many as are looked at at once. */
const BLANKS = /[\s\u200b]{1,65536}/y;
const IN_LINE = /[^\n\r]{1,65536}/y;
const MARK = /[eE](?=')|[uU]&(?=')|[xX](?=')/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_]\w{0,127})?\$/y;

const QUOTE = 39;
const BACKSLASH = 92;
const LF = 10;
const CR = 13;

/** What a pattern finds at a place; empty where it does not fit. */
function found(pattern: RegExp, text: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? "";
}

/**
 * The token that begins there and reaches beyond a slice; one without an end reaches to that of the text.
 *
 * @throws DbError InvalidSyntax for a name or a number that is too long, and a string whose escapes stand for nothing
 */
export function* longTokenAt(text: string, at: TextPlace): Steps<LongToken> {
  const { offset } = at;
  const first = text.charAt(offset);
  if (first === "'" || first === '"' || first === "`") return yield* quoted(text, at, first, first === "'" ? StringText : QuotedName, 0);
  const mark = found(MARK, text, offset);
  if (mark === "x" || mark === "X") return yield* closedBy("'", text, at, 2, HexText);
  if (mark === "e" || mark === "E") return yield* withBackslashes(text, at);
  if (mark !== "") return yield* quoted(text, at, "'", EscapedText, mark.length);
  const tag = found(DOLLAR_TAG, text, offset);
  if (tag !== "") return yield* closedBy(tag, text, at, tag.length, DollarText);
  if (text.startsWith("/*", offset) && text.indexOf("*/", offset + 2) < 0) return yield* tokenOf(text.slice(offset), at, Unterminated);
  const next = yield* behindBlanks(text, at, offset + 1);
  if (next.offset > offset) return { token: undefined, next };
  throw syntaxError(`a name or a number has more than ${WORD_CHARACTERS_MAX} characters`, at);
}

/** What follows the blanks and comments that begin before an offset; an open comment stays. */
export function* behindBlanks(text: string, from: TextPlace, until: number): Steps<TextPlace> {
  let at = from;
  while (at.offset < until) {
    const begun = at.offset;
    const blank = found(BLANKS, text, begun);
    if (blank !== "") at = yield* placeBehind(blank, at);
    else if (text.startsWith("--", begun)) {
      let rest = "--";
      for (; rest !== ""; rest = found(IN_LINE, text, at.offset)) {
        at = { ...at, offset: at.offset + rest.length, column: at.column + rest.length };
        if (rest.length > 2) yield;
      }
    } else if (text.startsWith("/*", begun)) {
      const end = text.indexOf("*/", begun + 2);
      if (end >= 0) at = yield* placeBehind(text.slice(begun, end + 2), at);
    }
    if (at.offset === begun) break;
  }
  return at;
}

function* tokenOf(image: string, at: TextPlace, tokenType: TokenType, value?: string): Steps<LongToken> {
  const token: IToken = {
    image,
    startOffset: at.offset,
    startLine: at.line,
    startColumn: at.column,
    tokenType,
    tokenTypeIdx: tokenType.tokenTypeIdx ?? 0,
    ...(value !== undefined && { payload: value }),
  };
  return { token, next: yield* placeBehind(image, at) };
}

/** A token that ends with the first of some signs behind its beginning. */
function* closedBy(closing: string, text: string, at: TextPlace, head: number, type: TokenType): Steps<LongToken> {
  const end = text.indexOf(closing, at.offset + head);
  if (end < 0) return yield* tokenOf(text.slice(at.offset), at, Unterminated);
  return yield* tokenOf(text.slice(at.offset, end + closing.length), at, type);
}

/** `'…'`, `"…"`, `U&'…'`: a doubled quote stands for one. */
function* quoted(text: string, at: TextPlace, quote: string, type: TokenType, mark: number): Steps<LongToken> {
  const begin = at.offset + mark + 1;
  const code = quote.charCodeAt(0);
  let end = begin;
  let doubled = 0;
  for (let looked = 1; ; end++, looked++) {
    if (text.charCodeAt(end) === code) {
      if (text.charCodeAt(end + 1) !== code) break;
      doubled++;
      end++;
    }
    if (end >= text.length) return yield* tokenOf(text.slice(at.offset), at, Unterminated);
    if (looked % CHARACTERS_AT_ONCE === 0) yield;
  }
  const image = text.slice(at.offset, end + 1);
  if (type === EscapedText) return yield* tokenOf(image, at, type, yield* unescapedAt(image, at));
  if (doubled === 0) return yield* tokenOf(image, at, type);
  const pieces: string[] = [];
  for (let from = begin; from < end; ) {
    const to = Math.min(end, from + QUOTES_AT_ONCE);
    // Doubled quotes stay together: an odd number of quotes at the end of a piece takes the next one along.
    let quotes = 0;
    while (to - quotes > from && text.charCodeAt(to - 1 - quotes) === code) quotes++;
    const whole = to + (quotes % 2);
    pieces.push(text.slice(from, whole).replaceAll(quote + quote, quote));
    from = whole;
    yield;
  }
  return yield* tokenOf(image, at, type, pieces.join(""));
}

/** `E'…'`. */
function* withBackslashes(text: string, at: TextPlace): Steps<LongToken> {
  let end = at.offset + 2;
  for (let looked = 1; ; end++, looked++) {
    const code = text.charCodeAt(end);
    if (code === BACKSLASH) end++;
    else if (code === QUOTE) {
      if (text.charCodeAt(end + 1) !== QUOTE) break;
      end++;
    }
    if (end >= text.length) return yield* tokenOf(text.slice(at.offset), at, Unterminated);
    if (looked % CHARACTERS_AT_ONCE === 0) yield;
  }
  const image = text.slice(at.offset, end + 1);
  return yield* tokenOf(image, at, EscapedText, yield* unescapedAt(image, at));
}

function* unescapedAt(image: string, at: TextPlace): Steps<string> {
  const value = yield* unescapedInSteps(image);
  if ("problem" in value) throw syntaxError(value.problem, at);
  return value.text;
}

/** What follows a piece of a text. */
export function* placeBehind(piece: string, { offset, line, column }: TextPlace): Steps<TextPlace> {
  let [lines, behind] = [0, 0];
  for (let from = 0; from < piece.length; ) {
    let to = Math.min(piece.length, from + CHARACTERS_AT_ONCE);
    if (piece.charCodeAt(to - 1) === CR && to < piece.length) to++; // the two characters of one break stay together
    for (let i = from; i < to; i++) {
      const code = piece.charCodeAt(i);
      if (code !== LF && code !== CR) continue;
      if (code === CR && piece.charCodeAt(i + 1) === LF) i++;
      behind = i + 1;
      lines++;
    }
    from = to;
    if (from < piece.length) yield;
  }
  const rest = piece.length - behind;
  return { offset: offset + piece.length, line: line + lines, column: lines === 0 ? column + rest : rest + 1 };
}
