/**
 * Text → tokens with keywords told apart from names. Positions count from 1; comments and blanks are gone.
 */
import { type ILexingError, type IToken, Lexer } from "chevrotain";
import { KEYWORDS, PATTERNS, PromqlText, QuotedName, Word } from "./token.ts";
import { type TqlCut, withoutPromql } from "./tql-text.ts";

/** Longest keyword in characters: longer words need no lookup. */
const KEYWORD_LENGTH_MAX = Math.max(...[...KEYWORDS.keys()].map((word) => word.length));

/** Tokens of a text, or where it cannot be read on. */
export interface Lexed {
  readonly tokens: IToken[];
  readonly error: ILexingError | undefined;
}

let lexer: Lexer | undefined;

/** Splits a text into tokens; stops at the first character that begins none. */
export function tokenize(text: string): Lexed {
  const { sql, cuts } = withoutPromql(text);
  const { tokens, error } = tokensOf(sql);
  for (const cut of cuts) insertPromql(tokens, text, cut);
  return { tokens, error };
}

/** The tokens of a text without PromQL. */
export function tokensOf(sql: string): Lexed {
  lexer ??= new Lexer([...PATTERNS], {
    positionTracking: "onlyStart",
    recoveryEnabled: false,
    ensureOptimizations: true,
    skipValidations: true,
  });
  const { tokens, errors } = lexer.tokenize(sql);
  for (const token of tokens) {
    if (token.tokenType !== Word || token.image.length > KEYWORD_LENGTH_MAX) continue;
    const type = KEYWORDS.get(token.image.toLowerCase());
    if (type === undefined) continue;
    token.tokenType = type;
    token.tokenTypeIdx = type.tokenTypeIdx ?? 0;
  }
  return { tokens, error: errors[0] };
}

/** Puts the token of a piece of PromQL where it stood. */
function insertPromql(tokens: IToken[], text: string, { start, end }: TqlCut): void {
  const lines = text.slice(0, start).split(/\r\n|\r|\n/);
  const token: IToken = {
    image: text.slice(start, end),
    startOffset: start,
    startLine: lines.length,
    startColumn: (lines.at(-1)?.length ?? 0) + 1,
    tokenType: PromqlText,
    tokenTypeIdx: PromqlText.tokenTypeIdx ?? 0,
  };
  const at = tokens.findIndex((other) => other.startOffset > start);
  tokens.splice(at < 0 ? tokens.length : at, 0, token);
}

/** The name that a word or quoted name stands for: folded to lower case, or as written between the quotes. */
export function nameOf(token: IToken): string {
  return token.tokenType === QuotedName ? stringOf(token) : token.image.toLowerCase();
}

/** What a string stands for: made in steps where it is long (`long-tokens.ts`). */
export function stringOf(token: IToken): string {
  const made: unknown = token.payload;
  return typeof made === "string" ? made : unquote(token.image);
}

/** The text between a pair of equal quotes, doubled quotes made single. */
function unquote(image: string): string {
  const quote = image.charAt(0);
  const inner = image.slice(1, -1);
  return inner.includes(quote) ? inner.replaceAll(quote + quote, quote) : inner;
}
