/**
 * Long lists of constants become one token while the tokens of a long text come in: `IN (1, 2, …)` and the rows of a query's `VALUES`. The
 * grammar sees `IN (⟨constants⟩)` then, so that a list of 100,000 costs it nothing, and no tokens pile up, which take ten times their text.
 *
 *   IN ( 1 , 2 , -3 , x )          ─►  IN ( ⟨1, 2, -3⟩ , x )
 *   VALUES ( 1 , 'a' ) , ( 2 , 'b' )  ─►  VALUES ⟨(1, 'a'), (2, 'b')⟩
 *
 * A constant is a number, with a sign or without, a string or NULL; a list goes on as it is from what is none.
 */
import type { IToken } from "chevrotain";
import type { Expression } from "./syntax/ast.ts";
import { stringOf } from "./tokens/lexer.ts";
import { syntaxError } from "./tokens/syntax-error.ts";
import { Comma, Constants, ConstantRows, K, LeftParen, Minus, NumberText, RightParen, StringText } from "./tokens/token.ts";

/** Most constants in lists of one text. Reason: each is a node of about 150 B. Error: InvalidSyntax. */
const CONSTANTS_MAX = 400_000;

type Row = readonly Expression[];

/** Looks at the tokens of one text, one after the other, and puts lists together. */
export class ConstantLists {
  private constants = 0;
  /** Of the list that is being read: its constants or rows; undefined outside of lists. */
  private items: Expression[] | undefined;
  private rows: Row[] | undefined;
  /** The row that is being read. */
  private row: Expression[] | undefined;
  /** Where the constant that is being read begins, and where its row does. */
  private from = 0;
  private rowFrom = 0;

  /** Looks at the last of `tokens` and may take some away. @param isRows whether rows behind VALUES are those of a query */
  take(tokens: IToken[], isRows: () => boolean): void {
    const last = tokens.length - 1;
    const token = tokens[last];
    if (token === undefined) return;
    if (this.items !== undefined) this.takeItem(tokens, token, this.items);
    else if (this.rows !== undefined) this.takeRow(tokens, token, this.rows);
    else if (token.tokenType === LeftParen) {
      const before = tokens[last - 1]?.tokenType;
      if (before === K.IN) this.items = [];
      else if (before === K.VALUES && isRows()) {
        this.rows = [];
        this.beginRow(last);
      }
      this.from = last + 1;
    }
  }

  private takeItem(tokens: IToken[], token: IToken, items: Expression[]): void {
    const { tokenType } = token;
    if (tokenType !== Comma && tokenType !== RightParen) {
      if (!isPart(token)) this.items = undefined;
      return;
    }
    const constant = this.constantOf(tokens, tokens.length - 1);
    if (constant === undefined) {
      this.items = undefined;
      return;
    }
    const isFirst = items.length === 0;
    items.push(constant);
    const first = tokens[this.from];
    tokens.length = this.from;
    if (isFirst && first !== undefined)
      tokens.push({ ...first, image: "", tokenType: Constants, tokenTypeIdx: Constants.tokenTypeIdx ?? 0, payload: items });
    else tokens.pop(); // the comma before it
    tokens.push(token);
    this.from = tokens.length;
    if (tokenType === RightParen) this.items = undefined;
  }

  private beginRow(at: number): void {
    this.row = [];
    this.rowFrom = at;
    this.from = at + 1;
  }

  private takeRow(tokens: IToken[], token: IToken, rows: Row[]): void {
    const { row } = this;
    const { tokenType } = token;
    if (row === undefined) {
      if (tokenType === LeftParen) this.beginRow(tokens.length - 1);
      else if (tokenType !== Comma) this.rows = undefined;
      return;
    }
    if (tokenType !== Comma && tokenType !== RightParen) {
      if (!isPart(token)) this.rows = undefined;
      return;
    }
    const constant = this.constantOf(tokens, tokens.length - 1);
    if (constant === undefined) {
      this.rows = undefined;
      return;
    }
    row.push(constant);
    this.from = tokens.length;
    if (tokenType === Comma) return;
    const isFirst = rows.length === 0;
    rows.push(row);
    this.row = undefined;
    const first = tokens[this.rowFrom];
    tokens.length = this.rowFrom;
    if (isFirst && first !== undefined)
      tokens.push({ ...first, image: "", tokenType: ConstantRows, tokenTypeIdx: ConstantRows.tokenTypeIdx ?? 0, payload: rows });
    else tokens.pop(); // the comma between the two
  }

  /** The constant of the tokens `[this.from, to)`. @throws DbError InvalidSyntax when there are too many */
  private constantOf(tokens: readonly IToken[], to: number): Expression | undefined {
    const first = tokens[this.from];
    const second = to - this.from === 2 ? tokens[this.from + 1] : undefined;
    if (first === undefined || to <= this.from || to - this.from > 2) return undefined;
    const span = { line: first.startLine ?? 1, column: first.startColumn ?? 1 };
    if (++this.constants > CONSTANTS_MAX)
      throw syntaxError(`the text has more than ${CONSTANTS_MAX} constants in lists; put them into a table`, span);
    if (second !== undefined) {
      if (first.tokenType !== Minus || second.tokenType !== NumberText) return undefined;
      const operandSpan = { line: second.startLine ?? 1, column: second.startColumn ?? 1 };
      return { kind: "unary", operator: "-", operand: { kind: "number", text: second.image, span: operandSpan }, span };
    }
    if (first.tokenType === NumberText) return { kind: "number", text: first.image, span };
    if (first.tokenType === StringText) return { kind: "string", value: stringOf(first), span };
    return first.tokenType === K.NULL ? { kind: "null", span } : undefined;
  }
}

function isPart({ tokenType }: IToken): boolean {
  return tokenType === NumberText || tokenType === StringText || tokenType === Minus || tokenType === K.NULL;
}
