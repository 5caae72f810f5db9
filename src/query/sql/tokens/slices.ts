/**
 * A long text → tokens, a slice at a time:
 *
 *   SELECT a, b FROM t WHERE c = 'some te│xt' AND …        the slice ends inside a token
 *   ├────── tokens ───────────┤├ begins the next one …
 *
 * A token is taken when the slice goes on behind it; what the lexer says of the others may be due to the cut. A token, a blank or a
 * comment that is longer than a slice is read by `long-tokens.ts`. PromQL of TQL, which is no SQL, is one token (`tql-text.ts`); behind
 * it slices begin short again, since what was read of the slice behind TQL was read in vain.
 */
import type { ILexingError, IToken } from "chevrotain";
import { tokenize, tokensOf } from "./lexer.ts";
import { behindBlanks, longTokenAt, placeBehind, type TextPlace, WORD_CHARACTERS_MAX } from "./long-tokens.ts";
import { fromLexing, positionOf, syntaxError } from "./syntax-error.ts";
import { K, Semicolon } from "./token.ts";
import { TQL_CHARACTERS_MAX, tqlEnd } from "./tql-text.ts";

/** Characters behind a token that its pattern may look at. */
const LOOKAHEAD = 2;
/** Characters of a slice, and of one behind TQL. */
const STRETCH: number = WORD_CHARACTERS_MAX + LOOKAHEAD;
const STRETCH_MIN = 1024;

/**
 * The tokens of a text, some thousand at a time; undefined where there are none yet. Whoever reads part of the text by itself says with
 * `next` what follows that: the text goes on there, whatever tokens were given of it.
 *
 * @throws DbError InvalidSyntax
 */
export function* slices(text: string): Generator<readonly IToken[] | undefined, void, TextPlace | undefined> {
  const tql = new TqlFinder(text);
  let at: TextPlace = { offset: 0, line: 1, column: 1 };
  let first: IToken | undefined;
  for (let length = STRETCH_MIN; at.offset < text.length; ) {
    const cut = cutOf(text, at.offset + length);
    const { tokens, error } = tokensOf(text.slice(at.offset, cut));
    for (const token of tokens) place(token, at);
    first ??= tokens[0];
    const whole = wholeTokens(tokens, text, cut);
    const begun = tql.beginOf(tokens, whole);
    if (begun !== undefined) {
      const behind = yield tokens.slice(0, begun.index);
      if (behind === undefined) {
        yield begun.tokens;
        at = yield* placeBehind(text.slice(at.offset, begun.end), at);
      } else at = tql.goOnAt(behind);
      length = STRETCH_MIN;
      continue;
    }
    const behind = yield whole === tokens.length ? tokens : tokens.slice(0, whole);
    if (behind !== undefined) {
      at = tql.goOnAt(behind);
      length = STRETCH_MIN;
      continue;
    }
    if (error !== undefined && (cut === text.length || at.offset + error.offset + LOOKAHEAD <= cut)) {
      throw fromLexing(placedError(error, at), first === undefined ? [] : [first], text);
    }
    if (cut === text.length) return;
    const rest = tokens[whole];
    const last = tokens.at(-1);
    if (rest !== undefined && rest.startOffset > at.offset) at = placeOf(rest);
    else if (rest === undefined && last !== undefined) at = yield* placeBehind(last.image, placeOf(last));
    else if (length < STRETCH) {
      length = STRETCH; // once more, with all that a word may have
      continue;
    } else if (rest === undefined) at = yield* behindBlanks(text, at, cut);
    else {
      const { token, next } = yield* longTokenAt(text, at);
      if (token !== undefined) {
        tql.passed(token);
        yield [token];
      }
      at = next;
    }
    length = Math.min(2 * length, STRETCH);
  }
}

/** Where a slice ends that should end there: not within `U&'`, which would be a word and an operator. */
function cutOf(text: string, end: number): number {
  if (end >= text.length) return text.length;
  return text.charAt(end - 1) === "&" ? end - 1 : end;
}

/** How many tokens of a slice are those of the text: all, or all but the last. */
function wholeTokens(tokens: readonly IToken[], text: string, cut: number): number {
  const last = tokens.at(-1);
  if (last === undefined || cut === text.length) return tokens.length;
  return last.startOffset + last.image.length + LOOKAHEAD <= cut ? tokens.length : tokens.length - 1;
}

/** Counts a token's place from the beginning of the text instead of that of its slice. */
function place(token: IToken, { offset, line, column }: TextPlace): void {
  token.startOffset += offset;
  if (token.startLine === undefined || token.startColumn === undefined) return;
  if (token.startLine === 1) token.startColumn += column - 1;
  token.startLine += line - 1;
}

function placedError(error: ILexingError, at: TextPlace): ILexingError {
  const { offset, line = 1, column = 1 } = error;
  return { ...error, offset: offset + at.offset, line: line + at.line - 1, column: column + (line === 1 ? at.column - 1 : 0) };
}

/** Where a token begins. */
export function placeOf({ startOffset, startLine = 1, startColumn = 1 }: IToken): TextPlace {
  return { offset: startOffset, line: startLine, column: startColumn };
}

/** TQL that begins among the tokens of a slice. */
interface BegunTql {
  /** Of its first token. */
  readonly index: number;
  /** Its tokens, up to where SQL goes on. */
  readonly tokens: readonly IToken[];
  /** Where that is. */
  readonly end: number;
}

/** What TQL stands behind; elsewhere the word is a name. */
const BEFORE_TQL: ReadonlySet<string> = new Set([";", "(", "as", "for", "explain", "analyze", "verbose"]);

/** Finds TQL among tokens that are SQL before it. */
class TqlFinder {
  private readonly text: string;
  private previous: string | undefined;
  /** Whether a TQL of this statement has parameters without an end: nothing behind it is looked at. */
  private isOpen = false;

  constructor(text: string) {
    this.text = text;
  }

  /** The first TQL among some tokens. @throws DbError InvalidSyntax for one that is too long */
  beginOf(tokens: readonly IToken[], count: number): BegunTql | undefined {
    for (let index = 0; index < count; index++) {
      const token = tokens[index];
      if (token === undefined) continue;
      if (token.tokenType === Semicolon) this.isOpen = false;
      const begun = token.tokenType === K.TQL && this.mayBegin() ? this.tqlAt(token, index) : undefined;
      this.passed(begun?.tokens.at(-1) ?? token);
      if (begun !== undefined) return begun;
    }
    return undefined;
  }

  /** Forgets the tokens that were looked at of a part which somebody else read. */
  goOnAt(place: TextPlace): TextPlace {
    this.previous = ")";
    this.isOpen = false;
    return place;
  }

  /** Takes note of a token. */
  passed(token: IToken): void {
    this.previous = token.image;
  }

  private mayBegin(): boolean {
    return !this.isOpen && (this.previous === undefined || BEFORE_TQL.has(this.previous.toLowerCase()));
  }

  private tqlAt(token: IToken, index: number): BegunTql | undefined {
    const { text } = this;
    const at = placeOf(token);
    const window = text.slice(at.offset, at.offset + TQL_CHARACTERS_MAX);
    const found = tqlEnd(window);
    this.isOpen = found === "open";
    if (typeof found !== "number") return undefined;
    const end = at.offset + found;
    if (found === TQL_CHARACTERS_MAX && end < text.length)
      throw syntaxError(`a TQL query has more than ${TQL_CHARACTERS_MAX} characters`, positionOf(token, text), "TQL");
    const { tokens, error } = tokenize(window.slice(0, found));
    if (error !== undefined) throw fromLexing(placedError(error, at), [], text);
    for (const each of tokens) place(each, at);
    return { index, tokens, end };
  }
}
