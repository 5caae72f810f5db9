/** The tokens of a program one after another, with what a parser asks of them. */
import { compileError, type Token, tokensOf } from "./lexer.ts";

/** Invariant: `token` is the first that was not taken; behind the last there is always the end. */
export class TokenReader {
  private readonly source: string;
  private readonly tokens: readonly Token[];
  /** How many tokens were taken; set back to read some again. */
  at = 0;

  /** @throws DbError InvalidArguments when the text has no tokens */
  constructor(source: string) {
    this.source = source;
    this.tokens = tokensOf(source);
  }

  get token(): Token {
    return this.peek(0);
  }

  /** A token further on, or back where `offset` is negative. */
  peek(offset: number): Token {
    return this.tokens[Math.min(this.at + offset, this.tokens.length - 1)] as Token; // there is an end
  }

  /** Whether the next token is this punctuation. */
  is(text: string): boolean {
    return this.isAt(0, text);
  }

  /** As `is`, of a token further on. */
  isAt(offset: number, text: string): boolean {
    const token = this.peek(offset);
    return token.kind === "punct" && token.text === text;
  }

  /** Whether the next token is this punctuation, with nothing between it and the token before. */
  isAdjacent(text: string): boolean {
    return this.is(text) && this.followsAtOnce;
  }

  /** Whether nothing stands between the next token and the one before. */
  get followsAtOnce(): boolean {
    return this.at > 0 && this.tokens[this.at - 1]?.end === this.token.start;
  }

  take(text: string): boolean {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  /** @throws DbError InvalidArguments when the next token is not this punctuation */
  expect(text: string): void {
    if (!this.take(text)) throw this.error(`expected '${text}'`);
  }

  takeWord(word: string): boolean {
    if (this.token.kind !== "name" || this.token.text !== word) return false;
    this.at++;
    return true;
  }

  get isLineEnd(): boolean {
    return this.token.kind === "newline";
  }

  skipLineEnds(): void {
    while (this.isLineEnd) this.at++;
  }

  /** An error at a token, the next one unless said otherwise. */
  error(why: string, token: Token = this.token): Error {
    return compileError(this.source, token.start, why);
  }

  /** The error that the next token fits nowhere. */
  unexpected(): Error {
    const { kind, text } = this.token;
    if (kind === "end") return this.error("unexpected end of the program");
    return this.error(kind === "newline" ? "unexpected end of line" : `unexpected '${text}'`);
  }
}
