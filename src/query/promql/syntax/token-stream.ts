/**
 * Tokens as the parser takes them: one ahead and no more, since Prometheus' own parser looks no further and tells the first error it
 * meets.
 */
import { PROMQL_DEPTH_MAX } from "../../../base/limits.ts";
import type { Span } from "./ast.ts";
import { Lexer } from "./lexer.ts";
import { Refusal } from "./refusal.ts";
import { type Token, type TokenKind, tokenText } from "./token.ts";

/** What an error says beside the token that was not expected. */
export interface Place {
  /** "aggregation" in `unexpected … in aggregation`; "" for none. */
  readonly where: string;
  /** "label" in `…, expected label`; "" for none. */
  readonly expected: string;
}

/** Where nothing better is known. */
export const ANYWHERE: Place = { where: "", expected: "" };

const BLANKS: ReadonlySet<string> = new Set([" ", "\t", "\r", "\n"]);

/** See the file header. */
export class TokenStream {
  readonly text: string;
  /**
   * End of the last closing bracket, number or duration that was looked at: where Prometheus says that nodes end. It may be one that was
   * only peeked at.
   */
  lastClosing = 0;
  private readonly lexer: Lexer;
  private ahead: Token | undefined;
  private lastStart = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
    this.lexer = new Lexer(text);
  }

  /** @throws Refusal of the lexer */
  peek(): Token {
    if (this.ahead !== undefined) return this.ahead;
    const token = this.lexer.next();
    this.ahead = token;
    this.lastStart = token.start;
    switch (token.kind) {
      case ")":
      case "]":
      case "}":
      case "number":
      case "duration":
        this.lastClosing = token.end;
        break;
      default:
        break;
    }
    return token;
  }

  /** @throws Refusal of the lexer */
  next(): Token {
    const token = this.peek();
    this.ahead = undefined;
    return token;
  }

  /** The next token if it is of that kind. */
  accept(kind: TokenKind): Token | undefined {
    return this.peek().kind === kind ? this.next() : undefined;
  }

  /** The next token, which must be of that kind. @throws Refusal */
  expect(kind: TokenKind, place: Place): Token {
    return this.accept(kind) ?? this.unexpected(place);
  }

  /** @throws Refusal that names the next token */
  unexpected({ where, expected }: Place): never {
    const token = this.peek();
    const context = where === "" ? "" : ` in ${where}`;
    throw new Refusal(`unexpected ${tokenText(token)}${context}${expected === "" ? "" : `, expected ${expected}`}`, spanOf(token));
  }

  /** What `parse` gives, a level deeper. @throws Refusal past `PROMQL_DEPTH_MAX` */
  nested<T>(parse: () => T): T {
    this.checkDepth(++this.depth);
    const result = parse();
    this.depth--;
    return result;
  }

  /** @throws Refusal when a tree is that high */
  checkDepth(levels: number): void {
    if (levels <= PROMQL_DEPTH_MAX) return;
    throw new Refusal(`the query nests deeper than ${PROMQL_DEPTH_MAX} levels`, spanOf(this.peek()));
  }

  /** `lastClosing` where the parser had to look at the token behind; then it may be that token, and the parenthesis before it is meant. */
  closingBefore(): number {
    const { text, lastClosing, lastStart } = this;
    if (lastClosing <= 0 || lastStart <= 0 || text.charAt(lastStart) !== ")") return lastClosing;
    let end = lastStart;
    while (end > 1 && BLANKS.has(text.charAt(end - 1))) end--;
    return end > 1 && text.charAt(end - 1) === ")" ? end : lastClosing;
  }
}

/** Without what else a token is. */
export function spanOf({ start, end }: Span): Span {
  return { start, end };
}
