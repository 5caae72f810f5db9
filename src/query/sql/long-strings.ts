/**
 * Strings and quoted names that are longer than a stretch of a text (`parse-in-turns.ts`): their end is looked for in steps, since the
 * lexer's patterns take a second for some million doubled quotes.
 */
import type { IToken } from "chevrotain";
import { syntaxError } from "./syntax-error.ts";
import { QuotedName, StringText, Unterminated } from "./token.ts";

/**
 * Most doubled quotes in one string of more than 32 Ki characters. Reason: they are made single at once, which takes 20 ms. Error:
 * InvalidSyntax.
 */
export const DOUBLED_QUOTES_MAX = 250_000;

/** Quotes or line breaks that are looked for at once. */
const FOUND_AT_ONCE = 16_384;

const QUOTES: ReadonlySet<string> = new Set(["'", '"', "`"]);

/** Where a token begins. */
export interface TextPlace {
  readonly offset: number;
  /** Counted from 1, as `column`. */
  readonly line: number;
  readonly column: number;
}

/** A token and what follows it. */
export interface LongString {
  readonly token: IToken;
  readonly next: TextPlace;
}

/** Whether a string or quoted name begins there. */
export function beginsString(text: string, offset: number): boolean {
  return QUOTES.has(text.charAt(offset));
}

/** The string or quoted name that begins there; one without an end reaches to that of the text. @throws DbError InvalidSyntax */
export function* longStringAt(text: string, at: TextPlace): Generator<undefined, LongString> {
  const end = yield* endOfString(text, at);
  const image = end === undefined ? text.slice(at.offset) : text.slice(at.offset, end);
  const tokenType = end === undefined ? Unterminated : image.startsWith("'") ? StringText : QuotedName;
  const token: IToken = {
    image,
    startOffset: at.offset,
    startLine: at.line,
    startColumn: at.column,
    tokenType,
    tokenTypeIdx: tokenType.tokenTypeIdx ?? 0,
  };
  return { token, next: yield* placeBehind(image, at) };
}

/** Offset behind the closing quote; undefined when there is none. */
function* endOfString(text: string, at: TextPlace): Generator<undefined, number | undefined> {
  const quote = text.charAt(at.offset);
  let doubled = 0;
  for (let end = text.indexOf(quote, at.offset + 1); end >= 0; end = text.indexOf(quote, end + 2)) {
    if (text.charAt(end + 1) !== quote) return end + 1;
    if (++doubled > DOUBLED_QUOTES_MAX) throw syntaxError(`a string has more than ${DOUBLED_QUOTES_MAX} doubled quotes`, at);
    if (doubled % FOUND_AT_ONCE === 0) yield;
  }
  return undefined;
}

function* placeBehind(image: string, { offset, line, column }: TextPlace): Generator<undefined, TextPlace> {
  const breaks = /\r\n?|\n/g;
  let [lines, behind] = [0, 0];
  while (breaks.exec(image) !== null) {
    behind = breaks.lastIndex;
    if (++lines % FOUND_AT_ONCE === 0) yield;
  }
  const rest = image.length - behind;
  return { offset: offset + image.length, line: line + lines, column: lines === 0 ? column + rest : rest + 1 };
}
