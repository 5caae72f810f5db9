/**
 * Calls of functions and aggregates, and the spellings with keywords between the arguments, which become plain calls:
 *
 *   EXTRACT(part FROM x)       date_part('part', x)
 *   SUBSTRING(x FROM a FOR b)  substr(x, a, b), in either order; without FROM from 1 on
 *   POSITION(a IN b)           strpos(b, a); POSITION(b, a) likewise
 *   TRIM(LEADING c FROM x)     ltrim(x, c)
 *   OVERLAY(x PLACING y FROM a FOR b)  overlay(x, y, a, b)
 *   f(p) WITHIN GROUP (ORDER BY x)   f(x, p)
 */
import type { IToken } from "chevrotain";
import type { Expression, OrderItem } from "./ast.ts";
import { type Rule, spanOf } from "./base-rules.ts";
import { nameOf, unquote } from "./lexer.ts";
import { plainCall } from "./plain-call.ts";
import { Power } from "./precedence.ts";
import { Comma, K, Label, LeftParen, RightParen, Star, StringText } from "./token.ts";
import { WindowRules } from "./window-rules.ts";

/** Where the portion stands among the arguments of aggregates that take `WITHIN GROUP (ORDER BY value)`. */
const PORTION_AT: Readonly<Record<string, number>> = {
  percentile_cont: 0,
  quantile_cont: 0,
  approx_percentile_cont: 0,
  approx_percentile_cont_with_weight: 1,
};

/** `f(0.9) WITHIN GROUP (ORDER BY x)` is `f(x, 0.9)`, with DESC `f(x, 1 - 0.9)`; undefined where it is none of these. */
function orderedArguments(name: string, args: readonly Expression[], order: readonly OrderItem[]): readonly Expression[] | undefined {
  const at = Object.hasOwn(PORTION_AT, name) ? PORTION_AT[name] : undefined;
  const [item, ...rest] = order;
  const portion = at === undefined ? undefined : args[at];
  if (item === undefined || rest.length > 0 || portion === undefined) return undefined;
  const { span } = portion;
  const left: Expression = { kind: "number", text: "1", span };
  const turned: Expression = item.descending ? { kind: "binary", operator: "-", left, right: portion, span } : portion;
  return [item.expression, ...args.map((argument, i) => (i === at ? turned : argument))];
}

/** Calls and ORDER BY. */
export abstract class CallRules extends WindowRules {
  /** `f(DISTINCT a, b ORDER BY c) FILTER (WHERE d)`, `count(*)`. */
  protected readonly callTail: Rule<[first?: IToken], Expression> = this.rule("callTail", (first) => {
    const args: Expression[] = [];
    const start = first ?? this.LA(0);
    let star = false;
    let distinct = false;
    let orderBy: readonly OrderItem[] = [];
    let filter: Expression | undefined;
    let nulls: "ignore" | "respect" | undefined;
    this.CONSUME(LeftParen);
    this.OPTION({
      GATE: () => this.LA(1).tokenType !== RightParen,
      DEF: () => {
        this.OPTION2(() => {
          distinct =
            this.choose<"distinct" | "all">({
              ERR_MSG: "DISTINCT or ALL",
              DEF: [
                { ALT: () => this.choice(this.CONSUME(K.DISTINCT), "distinct") },
                { ALT: () => this.choice(this.CONSUME(K.ALL), "all") },
              ],
            }) === "distinct";
        });
        this.OR2({
          ERR_MSG: "an expression",
          DEF: [
            {
              ALT: () => {
                this.CONSUME(Star);
                star = true;
              },
            },
            {
              ALT: () => {
                this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => args.push(this.SUBRULE(this.expression)), ERR_MSG: "an expression" });
                nulls = this.innerNulls();
                this.OPTION3(() => {
                  orderBy = this.SUBRULE(this.orderByClause);
                });
              },
            },
          ],
        });
      },
    });
    this.CONSUME(RightParen);
    let within: readonly OrderItem[] | undefined;
    this.OPTION5(() => {
      this.CONSUME(K.WITHIN);
      this.CONSUME(K.GROUP);
      this.CONSUME3(LeftParen);
      within = this.SUBRULE2(this.orderByClause);
      this.CONSUME3(RightParen);
    });
    this.OPTION4(() => {
      this.CONSUME(K.FILTER);
      this.CONSUME2(LeftParen);
      this.CONSUME(K.WHERE);
      filter = this.SUBRULE2(this.expression);
      this.CONSUME2(RightParen);
    });
    const window = { ...(nulls && { nulls }), ...this.windowPart() };
    return this.ACTION(() => {
      const name = nameOf(start).toLowerCase();
      if (star && name !== "count") this.fail(`${name}(*) is no aggregate; only count takes *`, start);
      const given = within === undefined ? args : orderedArguments(name, args, within);
      if (given === undefined) this.fail(`WITHIN GROUP (ORDER BY value) goes with a percentile, not with ${name}()`, start);
      return { kind: "call", name, args: given ?? args, star, distinct, orderBy, filter, ...window, span: spanOf(start) };
    });
  });

  /** A call with keywords between its arguments, or a column of that name. */
  protected readonly specialLed: Rule<[], Expression> = this.rule("specialLed", () => {
    const first = this.OR([
      { ALT: () => this.CONSUME(K.EXTRACT) },
      { ALT: () => this.CONSUME(K.SUBSTRING) },
      { ALT: () => this.CONSUME(K.POSITION) },
      { ALT: () => this.CONSUME(K.OVERLAY) },
      { ALT: () => this.CONSUME(K.TRIM) },
    ]);
    let result: Expression | undefined;
    this.OPTION(() => {
      result = this.OR2([
        {
          ALT: () => {
            this.CONSUME(LeftParen);
            return this.OR3({
              ERR_MSG: "an argument",
              DEF: [
                { GATE: () => first.tokenType === K.EXTRACT, ALT: () => this.SUBRULE(this.extractTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.SUBSTRING, ALT: () => this.SUBRULE(this.substringTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.POSITION, ALT: () => this.SUBRULE(this.positionTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.OVERLAY, ALT: () => this.SUBRULE(this.overlayTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.TRIM, ALT: () => this.SUBRULE(this.trimTail, { ARGS: [first] }) },
              ],
            });
          },
        },
        { ALT: () => this.SUBRULE(this.qualifiedColumn, { ARGS: [first] }) },
      ]);
    });
    return this.ACTION(() => result ?? this.bareName(first));
  });

  protected readonly orderByClause: Rule<[], readonly OrderItem[]> = this.rule("orderByClause", () => {
    const items: OrderItem[] = [];
    this.CONSUME(K.ORDER);
    this.CONSUME(K.BY);
    this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => items.push(this.SUBRULE(this.orderItem)), ERR_MSG: "an expression" });
    return items;
  });

  private readonly orderItem: Rule<[], OrderItem> = this.rule("orderItem", () => {
    const expression = this.SUBRULE(this.expression);
    let descending = false;
    let nullsFirst: boolean | undefined;
    this.OPTION(() => {
      const token = this.OR([{ ALT: () => this.CONSUME(K.ASC) }, { ALT: () => this.CONSUME(K.DESC) }]);
      descending = token.tokenType === K.DESC;
    });
    this.OPTION2(() => {
      this.CONSUME(K.NULLS);
      const token = this.OR2([{ ALT: () => this.CONSUME(K.FIRST) }, { ALT: () => this.CONSUME(K.LAST) }]);
      nullsFirst = token.tokenType === K.FIRST;
    });
    return { expression, descending, nullsFirst };
  });

  private readonly extractTail: Rule<[first?: IToken], Expression> = this.rule("extractTail", (first) => {
    const part = this.OR({
      ERR_MSG: "a part such as YEAR",
      DEF: [{ ALT: () => this.CONSUME(Label) }, { ALT: () => this.CONSUME(StringText) }],
    });
    this.CONSUME(K.FROM);
    const operand = this.SUBRULE(this.expression);
    this.CONSUME(RightParen);
    return this.ACTION(() => {
      const text = part.tokenType === StringText ? unquote(part.image) : nameOf(part);
      return plainCall("date_part", [{ kind: "string", value: text.toLowerCase(), span: spanOf(part) }, operand], first ?? part);
    });
  });

  /** `FROM start [FOR length]`, as start and length. */
  private readonly extent: Rule<[], readonly Expression[]> = this.rule("extent", () => {
    const ends: Expression[] = [];
    this.CONSUME(K.FROM);
    ends.push(this.SUBRULE(this.expression));
    this.OPTION(() => {
      this.CONSUME(K.FOR);
      ends.push(this.SUBRULE2(this.expression));
    });
    return ends;
  });

  /** `FOR length [FROM start]`, as start, which is 1 unless it is said, and length. */
  private readonly extentFromEnd: Rule<[], readonly Expression[]> = this.rule("extentFromEnd", () => {
    const first = this.CONSUME(K.FOR);
    const length = this.SUBRULE(this.expression);
    let start: Expression | undefined;
    this.OPTION(() => {
      this.CONSUME(K.FROM);
      start = this.SUBRULE2(this.expression);
    });
    return this.ACTION(() => [start ?? { kind: "number", text: "1", span: spanOf(first) }, length]);
  });

  private readonly substringTail: Rule<[first?: IToken], Expression> = this.rule("substringTail", (first) => {
    const args: Expression[] = [];
    args.push(this.SUBRULE(this.expression));
    this.OR({
      ERR_MSG: "',', FROM or FOR",
      DEF: [
        {
          ALT: () =>
            this.AT_LEAST_ONE(() => {
              this.CONSUME(Comma);
              args.push(this.SUBRULE2(this.expression));
            }),
        },
        {
          ALT: () => {
            const ends = this.SUBRULE(this.extent);
            this.ACTION(() => args.push(...ends));
          },
        },
        {
          ALT: () => {
            const ends = this.SUBRULE(this.extentFromEnd);
            this.ACTION(() => args.push(...ends));
          },
        },
      ],
    });
    const end = this.CONSUME(RightParen);
    return plainCall("substr", args, first ?? end);
  });

  private readonly overlayTail: Rule<[first?: IToken], Expression> = this.rule("overlayTail", (first) => {
    const args: Expression[] = [];
    args.push(this.SUBRULE(this.expression));
    this.OR({
      ERR_MSG: "',' or PLACING",
      DEF: [
        {
          ALT: () =>
            this.AT_LEAST_ONE(() => {
              this.CONSUME(Comma);
              args.push(this.SUBRULE2(this.expression));
            }),
        },
        {
          ALT: () => {
            this.CONSUME(K.PLACING);
            args.push(this.SUBRULE3(this.expression));
            const ends = this.SUBRULE(this.extent);
            this.ACTION(() => args.push(...ends));
          },
        },
      ],
    });
    const end = this.CONSUME(RightParen);
    return plainCall("overlay", args, first ?? end);
  });

  private readonly positionTail: Rule<[first?: IToken], Expression> = this.rule("positionTail", (name) => {
    // Above the power of IN, which here is punctuation.
    const first = this.SUBRULE(this.expression, { ARGS: [Power.predicate] });
    const args = this.OR({
      ERR_MSG: "IN or ','",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(K.IN);
            return [this.SUBRULE2(this.expression), first];
          },
        },
        {
          ALT: () => {
            this.CONSUME(Comma);
            return [first, this.SUBRULE3(this.expression)];
          },
        },
      ],
    });
    const end = this.CONSUME(RightParen);
    return plainCall("strpos", args, name ?? end);
  });

  private readonly trimTail: Rule<[first?: IToken], Expression> = this.rule("trimTail", (first) => {
    let name = "btrim";
    const args: Expression[] = [];
    let swap = false;
    this.OPTION(() => {
      const side = this.OR([
        { ALT: () => this.CONSUME(K.LEADING) },
        { ALT: () => this.CONSUME(K.TRAILING) },
        { ALT: () => this.CONSUME(K.BOTH) },
      ]);
      name = side.tokenType === K.LEADING ? "ltrim" : side.tokenType === K.TRAILING ? "rtrim" : "btrim";
    });
    this.OPTION2(() => {
      args.push(this.SUBRULE(this.expression));
      this.OPTION3(() => {
        this.CONSUME(Comma);
        args.push(this.SUBRULE2(this.expression));
      });
    });
    this.OPTION4(() => {
      this.CONSUME(K.FROM);
      args.push(this.SUBRULE3(this.expression));
      swap = true;
    });
    const end = this.CONSUME(RightParen);
    return this.ACTION(() => {
      if (args.length === 0) this.fail("TRIM needs a text", end);
      if (args.length > 2) this.fail("TRIM takes a text and the characters to remove", end);
      return plainCall(name, swap ? args.toReversed() : args, first ?? end);
    });
  });
}
