/**
 * Long lists of rows behind VALUES, in an INSERT or a query, become one token of a long text: their constants are read from the text
 * itself (`tokens/constant-rows.ts`), block by block.
 *
 *   VALUES (1, 'a'), (2, 'b'), …, (now(), 'c'), (4, 'd'), …
 *          ├── ⟨rows⟩ ──────┤   ├ as tokens ┤  ├─ ⟨rows⟩     behind such a row an INSERT tries again
 */
import type { IToken } from "chevrotain";
import { type ConstantLists, tooManyConstants } from "./constant-lists.ts";
import type { SyntaxSize } from "./syntax-size.ts";
import type { ConstantBlock } from "./syntax/value-rows.ts";
import { type FoundRows, RowScanner } from "./tokens/constant-rows.ts";
import { placeBehind, type TextPlace } from "./tokens/long-tokens.ts";
import { Comma, ConstantRows, LeftParen, RightParen } from "./tokens/token.ts";

/** Tokens of a list that is no long one: it is read by the grammar, as they are there. */
const SHORT_TOKENS = 256;
/** Rows that have to be found so that the next try comes soon: what was read of the text behind them was read in vain. */
const WORTH_ROWS = 16;
/** Rows between two tries at most. */
const REST_ROWS_MAX = 4096;
/** Bytes of a value: its kind and where it lies. */
const CELL_BYTES = 9;
/** Bytes of a block besides. */
const BLOCK_BYTES = 512;

type Steps<T> = Generator<undefined, T>;

/** Rows of constants. */
export interface RowList {
  readonly blocks: readonly ConstantBlock[];
  /** What follows the last row. */
  readonly behind: TextPlace;
}

/** Reads the lists of one text. */
export class RowLists {
  private readonly text: string;
  private readonly size: SyntaxSize;
  private readonly lists: ConstantLists;
  /** Rows that pass before the next try, and that passed. */
  private rest = 1;
  private passed = 0;

  /** @param size takes the memory of blocks @param lists counts the constants of queries */
  constructor(text: string, size: SyntaxSize, lists: ConstantLists) {
    this.text = text;
    this.size = size;
    this.lists = lists;
  }

  /** Begins a statement. */
  begin(): void {
    this.rest = 1;
    this.passed = 0;
  }

  /** Notes a row of an INSERT behind one that is not of constants alone. @returns whether to try again with it */
  isWorthATry(): boolean {
    return ++this.passed >= this.rest;
  }

  /** The rows that begin at a left parenthesis. @throws DbError InvalidSyntax for too many constants; what counts memory throws */
  *at(from: TextPlace, isInsert: boolean): Steps<RowList | undefined> {
    const scanner = new RowScanner(this.text, isInsert);
    const blocks: ConstantBlock[] = [];
    let behind = from;
    let rows = 0;
    for (let next: TextPlace | undefined = from; next !== undefined; ) {
      const found: FoundRows | undefined = yield* scanner.blockAt(next);
      if (found === undefined) break;
      const { block } = found;
      if (!isInsert) yield* this.count(block);
      this.size.addBytes(block.kinds.length * CELL_BYTES + BLOCK_BYTES);
      this.size.hold(0);
      blocks.push(block);
      rows += block.rowCount;
      ({ behind, next } = found);
      yield;
    }
    this.passed = 0;
    this.rest = rows >= WORTH_ROWS ? 1 : Math.min(2 * this.rest, REST_ROWS_MAX);
    return blocks.length === 0 ? undefined : { blocks, behind };
  }

  private *count({ text, kinds, starts, from }: ConstantBlock): Steps<void> {
    const tooMany = this.lists.tooMany(kinds.length);
    if (tooMany === 0) return;
    const first = starts[Math.max(0, kinds.length - tooMany)] ?? from.offset;
    throw tooManyConstants(yield* placeBehind(text.slice(from.offset, first), from));
  }
}

/** The token of some rows. @param first where they begin */
export function rowsToken(first: IToken, blocks: readonly ConstantBlock[]): IToken {
  return { ...first, image: "", tokenType: ConstantRows, tokenTypeIdx: ConstantRows.tokenTypeIdx ?? 0, payload: blocks };
}

/** Whether the list of rows that begins at `tokens[at]` is a short one, all of which is there. */
export function endsSoon(tokens: readonly IToken[], at: number): boolean {
  let depth = 0;
  for (let i = at; i < Math.min(tokens.length, at + SHORT_TOKENS); i++) {
    const type = tokens[i]?.tokenType;
    if (type === LeftParen) depth++;
    else if (type === RightParen) depth--;
    else if (depth === 0 && type !== Comma) return true;
  }
  return false;
}
