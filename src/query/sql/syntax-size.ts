/**
 * How much memory the tokens and the tree of a long text take, by estimate and before they are made: a text of 16 MiB may become a
 * hundred times that. Texts that are parsed at once are not counted: every statement has one of some kilobytes.
 *
 * Measured with `heapStats`: 116 B a number of an IN list of 300,000; 82 to 98 B a token as the lexer makes it, and about as much again for
 * the part that begins there while the grammar reads it (`finished-rules.ts`).
 */
import type { IToken, TokenType } from "chevrotain";
import { Comma, Dot, LeftParen, RightParen, Semicolon } from "./tokens/token.ts";

/** Counts bytes that will be held as long as the statement. What it throws ends the parsing. */
export type HoldBytes = (bytes: number) => void;

/** Bytes of a node of a tree. */
const NODE_BYTES = 120;
/** Bytes of a token that waits, and of what is known of it while it is parsed. */
const TOKEN_BYTES = 240;
/** Bytes that are counted at a time. */
const COUNTED_BYTES = 256 * 1024;

/** Signs that are nothing in a tree. */
const SIGNS: ReadonlySet<TokenType> = new Set([Comma, Dot, LeftParen, RightParen, Semicolon]);

/** Counts what one text takes. */
export class SyntaxSize {
  private readonly take: HoldBytes;
  /** Bytes of trees and values. */
  private bytes = 0;
  private counted = 0;

  constructor(take: HoldBytes) {
    this.take = take;
  }

  /** Counts the text itself. @throws what counts memory throws */
  addText(text: string): void {
    this.bytes += text.length;
    this.hold(0);
  }

  /** Counts a token's part of the tree; `hold` then asks for it. */
  add(token: IToken): void {
    this.bytes += bytesOf(token);
  }

  /** Counts bytes that are no tree. */
  addBytes(bytes: number): void {
    this.bytes += bytes;
  }

  /** Says that the trees of tokens are gone: what was taken for them is there for what follows. */
  forget(tokens: readonly IToken[]): void {
    for (const token of tokens) this.bytes -= bytesOf(token);
  }

  /** Takes memory for all that was added, and for tokens that wait. @throws what counts memory throws */
  hold(waiting: number): void {
    const needed = this.bytes + waiting * TOKEN_BYTES;
    if (needed <= this.counted) return;
    const more = needed - this.counted + COUNTED_BYTES;
    this.take(more);
    this.counted += more;
  }
}

function bytesOf({ tokenType, payload }: IToken): number {
  return (SIGNS.has(tokenType) ? 0 : NODE_BYTES) + (typeof payload === "string" ? payload.length : 0);
}
