/**
 * Lists, structs and maps as literals, and what stands in brackets behind a value. All become plain calls, so nothing above the grammar
 * knows them:
 *
 *   [1, 2], ARRAY[1, 2]      make_array(1, 2)
 *   {'a': 1, b: 2}           named_struct('a', 1, 'b', 2)
 *   MAP {'a': 1}             make_map('a', 1)
 *   x[1], x['field']         [](x, 1)
 *   x[1:3], x[:3], x[1:3:2]  [:](x, 1, 3), [:](x, NULL, 3), [:](x, 1, 3, 2)
 *   x[1].field               get_field([](x, 1), 'field')
 */
import type { IToken } from "chevrotain";
import type { Expression } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { nameOf, stringOf } from "../../tokens/lexer.ts";
import { OperandRules } from "./operand-rules.ts";
import { Colon, Comma, Dot, Label, LeftBrace, LeftBracket, RightBrace, RightBracket, StringText } from "../../tokens/token.ts";
import { RECORDED } from "../base/recorded.ts";

/** The call that `x[i]` stands for. */
const SUBSCRIPT = "[]";
/** The call that `x[from:to:stride]` stands for. */
const SLICE = "[:]";

function callOf(name: string, args: readonly Expression[], span: Expression["span"]): Expression {
  return { kind: "call", name, args, star: false, distinct: false, orderBy: [], filter: undefined, span };
}

/** Whether a value is the word ARRAY, which stands before a list. */
const isArrayWord = (left: Expression): boolean =>
  left.kind === "column" && left.name.length === 1 && left.name[0] === "array" && !left.quoted;

/** Whether a value is the word MAP, which stands before keys and values. */
const isMapWord = (left: Expression): boolean => left.kind === "column" && left.name.length === 1 && left.name[0] === "map" && !left.quoted;

/** Lists and subscripts. */
export abstract class NestedRules extends OperandRules {
  /** `[1, 2, 3]`. */
  protected readonly listLiteral: Rule<[], Expression> = this.rule("listLiteral", () => {
    const start = this.CONSUME(LeftBracket);
    const items: Expression[] = [];
    this.MANY_SEP({ SEP: Comma, DEF: () => items.push(this.SUBRULE(this.expression)) });
    this.CONSUME(RightBracket);
    return callOf("make_array", items, spanOf(start));
  });

  /** `{'a': 1, b: 2}`: names of fields and their values. */
  protected readonly structLiteral: Rule<[], Expression> = this.rule("structLiteral", () => {
    const start = this.CONSUME(LeftBrace);
    const parts: Expression[] = [];
    this.MANY_SEP({
      SEP: Comma,
      DEF: () => {
        const name = this.OR({
          ERR_MSG: "the name of a field",
          DEF: [{ ALT: () => this.CONSUME(StringText) }, { ALT: () => this.CONSUME(Label) }],
        });
        this.CONSUME(Colon);
        const value = this.SUBRULE(this.expression);
        this.ACTION(() => {
          const text = name.tokenType === StringText ? stringOf(name) : nameOf(name);
          parts.push({ kind: "string", value: text, span: spanOf(name) }, value);
        });
      },
    });
    this.CONSUME(RightBrace);
    return callOf("named_struct", parts, spanOf(start));
  });

  /** `{'a': 1}` behind the word MAP: keys, which are expressions, and their values. */
  protected readonly mapTail: Rule<[left?: Expression], Expression> = this.rule("mapTail", (left = RECORDED) => {
    const start = this.CONSUME(LeftBrace);
    this.ACTION(() => {
      if (!isMapWord(left)) this.fail("found '{', expected an operator", start);
    });
    const parts: Expression[] = [];
    this.MANY_SEP({
      SEP: Comma,
      DEF: () => {
        parts.push(this.SUBRULE(this.expression));
        this.CONSUME(Colon);
        parts.push(this.SUBRULE2(this.expression));
      },
    });
    this.CONSUME(RightBrace);
    return callOf("make_map", parts, left.span);
  });

  /** `[…]` behind a value, and the names of fields behind that. */
  protected readonly subscriptTail: Rule<[left?: Expression], Expression> = this.rule("subscriptTail", (left = RECORDED) => {
    const start = this.CONSUME(LeftBracket);
    const items: Expression[] = [];
    this.MANY_SEP({ SEP: Comma, DEF: () => items.push(this.SUBRULE(this.expression)) });
    const bounds = this.OPTION(() => this.SUBRULE(this.sliceBounds));
    const end = this.CONSUME(RightBracket);
    let value = this.ACTION(() => this.bracketed(left, items, bounds, start, end));
    this.MANY(() => {
      this.CONSUME(Dot);
      const field = this.CONSUME(Label);
      const inner = value;
      value = this.ACTION(() => callOf("get_field", [inner, { kind: "string", value: nameOf(field), span: spanOf(field) }], left.span));
    });
    return value;
  });

  /** `:to` and `:to:stride`; what is left out is NULL. */
  private readonly sliceBounds: Rule<[], readonly Expression[]> = this.rule("sliceBounds", () => {
    const start = this.CONSUME(Colon);
    const to = this.OPTION(() => this.SUBRULE(this.expression)) ?? { kind: "null", span: spanOf(start) };
    const stride = this.OPTION2(() => {
      this.CONSUME2(Colon);
      return this.SUBRULE2(this.expression);
    });
    return stride === undefined ? [to] : [to, stride];
  });

  private bracketed(
    left: Expression,
    items: readonly Expression[],
    bounds: readonly Expression[] | undefined,
    start: IToken,
    end: IToken,
  ): Expression {
    if (isArrayWord(left)) {
      if (bounds !== undefined) this.fail("found ':', expected ',' or ']'", start);
      return callOf("make_array", items, left.span);
    }
    const [first, second] = items;
    if (second !== undefined) this.fail("a subscript is one value, as in a[1]", start);
    if (bounds !== undefined) return callOf(SLICE, [left, first ?? { kind: "null", span: spanOf(start) }, ...bounds], left.span);
    if (first === undefined) return this.fail("found ']', expected a subscript, as in a[1]", end);
    return callOf(SUBSCRIPT, [left, first], left.span);
  }
}
