/**
 * Long lists of constants become one token while the tokens of a long text come in: `IN (1, 2, …)`. The grammar sees
 * `IN (⟨constants⟩)` then, so that a list of 100,000 costs it nothing, and no tokens pile up, which take ten times their text. Rows of
 * VALUES are taken out by `row-lists.ts`.
 *
 *   IN ( 1 , 2 , -3 , x )          ─►  IN ( ⟨1, 2, -3⟩ , x )
 *
 * A constant is a number, with a sign or without, a string or NULL; a list goes on as it is from what is none.
 */
import type { IToken } from "chevrotain";
import type { Expression, Span } from "./syntax/ast.ts";
import { stringOf } from "./tokens/lexer.ts";
import { syntaxError } from "./tokens/syntax-error.ts";
import { Comma, Constants, K, LeftParen, Minus, NumberText, RightParen, StringText } from "./tokens/token.ts";

/** Most constants in lists of one text. Reason: each is a node of about 150 B. Error: InvalidSyntax. */
const CONSTANTS_MAX = 400_000;

/** Looks at the tokens of one text, one after the other, and puts lists together. */
export class ConstantLists {
  private constants = 0;
  /** Of the list that is being read; undefined outside of lists. */
  private items: Expression[] | undefined;
  /** Where the constant that is being read begins. */
  private from = 0;

  /** Looks at the last of `tokens` and may take some away. @throws DbError InvalidSyntax when there are too many constants */
  take(tokens: IToken[]): void {
    const last = tokens.length - 1;
    const token = tokens[last];
    if (token === undefined) return;
    if (this.items !== undefined) this.takeItem(tokens, token, this.items);
    else if (token.tokenType === LeftParen) {
      if (tokens[last - 1]?.tokenType === K.IN) this.items = [];
      this.from = last + 1;
    }
  }

  /** Counts the values of rows of a query. @returns how many of them are too many */
  tooMany(values: number): number {
    this.constants += values;
    return Math.max(0, this.constants - CONSTANTS_MAX);
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

  /** The constant of the tokens `[this.from, to)`. @throws DbError InvalidSyntax when there are too many */
  private constantOf(tokens: readonly IToken[], to: number): Expression | undefined {
    const first = tokens[this.from];
    const second = to - this.from === 2 ? tokens[this.from + 1] : undefined;
    if (first === undefined || to <= this.from || to - this.from > 2) return undefined;
    const span = { line: first.startLine ?? 1, column: first.startColumn ?? 1 };
    if (this.tooMany(1) > 0) throw tooManyConstants(span);
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

/** The error of the first constant that is too many. */
export function tooManyConstants(span: Span): Error {
  return syntaxError(`the text has more than ${CONSTANTS_MAX} constants in lists; put them into a table`, span);
}

function isPart({ tokenType }: IToken): boolean {
  return tokenType === NumberText || tokenType === StringText || tokenType === Minus || tokenType === K.NULL;
}
