/**
 * Calls of functions and aggregates, and the spellings with keywords between the arguments, which become plain calls:
 *
 *   EXTRACT(part FROM x)       date_part('part', x)
 *   SUBSTRING(x FROM a FOR b)  substr(x, a, b), in either order; without FROM from 1 on
 *   POSITION(a IN b)           strpos(b, a); POSITION(b, a) likewise
 *   TRIM(LEADING c FROM x)     ltrim(x, c)
 *   OVERLAY(x PLACING y FROM a FOR b)  overlay(x, y, a, b)
 *   f(p) WITHIN GROUP (ORDER BY x)   f(x, p), and what else `aggregate-spellings.ts` has
 *   CONVERT(x, type), CONVERT(x USING charset)  casts
 */
import type { IToken } from "chevrotain";
import { STRING } from "../../../../column/data-type.ts";
import { groupConcatArguments, namedArguments, type Spelled, withinGroup } from "./aggregate-spellings.ts";
import type { Expression, OrderItem } from "../../syntax/ast.ts";
import { isSignedInteger, type Rule, spanOf } from "../base/base-rules.ts";
import { nameOf, stringOf } from "../../tokens/lexer.ts";
import { ROW_CALLS } from "../../syntax/call-name.ts";
import { plainCall } from "./plain-call.ts";
import { Power } from "../../syntax/precedence.ts";
import { Comma, Equal, Greater, K, Label, LeftParen, Name, RightParen, Star, StringText } from "../../tokens/token.ts";
import { WindowRules } from "./window-rules.ts";

/** What may stand behind the arguments of a call. */
type CallEnding = { readonly word: "separator" | "using"; readonly text: string };

/** Calls and ORDER BY. */
export abstract class CallRules extends WindowRules {
  /** `f(DISTINCT a, b ORDER BY c) FILTER (WHERE d)`, `count(*)`. */
  protected readonly callTail: Rule<[first?: IToken], Expression> = this.rule("callTail", (first) => {
    const args: Expression[] = [];
    const labels: (string | undefined)[] = [];
    const start = first ?? this.LA(0);
    let star = false;
    let distinct = false;
    let orderBy: readonly OrderItem[] = [];
    let nulls: "ignore" | "respect" | undefined;
    let ending: CallEnding | undefined;
    this.CONSUME(LeftParen);
    this.OPTION({
      GATE: () => this.LA(1).tokenType !== RightParen,
      DEF: () => {
        distinct = this.distinctness();
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
                this.AT_LEAST_ONE_SEP({
                  SEP: Comma,
                  ERR_MSG: "an expression",
                  DEF: () => {
                    labels.push(this.argumentLabel());
                    args.push(this.SUBRULE(this.expression));
                  },
                });
                nulls = this.innerNulls();
                this.OPTION3(() => {
                  orderBy = this.SUBRULE(this.orderByClause);
                });
                this.OPTION9(() => {
                  ending = this.SUBRULE(this.callEnding);
                });
                // `UNSIGNED INTEGER` of CONVERT means what its first word does.
                this.option(10, {
                  GATE: () => /^convert$/i.test(start.image) && isSignedInteger(this.LA(0), this.LA(1)),
                  DEF: () => this.CONSUME(Name),
                });
              },
            },
          ],
        });
      },
    });
    this.CONSUME(RightParen);
    const within = this.OPTION5(() => this.SUBRULE(this.withinClause));
    const filter = this.OPTION4(() => this.SUBRULE(this.filterClause));
    const window = { ...(nulls && { nulls }), ...this.windowPart() };
    return this.ACTION(() => {
      const name = nameOf(start).toLowerCase();
      if (star && name !== "count") this.fail(`${name}(*) is no aggregate; only count takes *`, start);
      const span = spanOf(start);
      if (name === "convert" && !star) return this.converted(args, ending, start);
      const given = this.spelled({ name, args, orderBy }, labels, within, ending, start);
      const made: Expression = { kind: "call", ...given, star, distinct, filter, ...window, span };
      return ROW_CALLS.has(name) ? { ...plainCall("unnest", [made], start), span } : made;
    });
  });

  /** `DISTINCT`, `ALL`. A part of `callTail`. */
  private distinctness(): boolean {
    const word = this.OPTION2(() => this.meaningOf("DISTINCT or ALL", { distinct: K.DISTINCT, all: K.ALL }));
    return word === "distinct";
  }

  /** `FILTER (WHERE a)`. */
  private readonly filterClause: Rule<[], Expression> = this.rule("filterClause", () => {
    this.words(K.FILTER, LeftParen, K.WHERE);
    const condition = this.SUBRULE(this.expression);
    this.CONSUME(RightParen);
    return condition;
  });

  /** `WITHIN GROUP (ORDER BY a)`. */
  private readonly withinClause: Rule<[], readonly OrderItem[]> = this.rule("withinClause", () => {
    this.words(K.WITHIN, K.GROUP, LeftParen);
    const order = this.SUBRULE(this.orderByClause);
    this.CONSUME(RightParen);
    return order;
  });

  /** `name =>` before an argument. A part of `callTail`. */
  private argumentLabel(): string | undefined {
    let label: IToken | undefined;
    this.OPTION1({
      GATE: () => this.LA(2).tokenType === Equal && this.LA(3).tokenType === Greater,
      DEF: () => {
        label = this.CONSUME(Label);
        this.words(Equal, Greater);
      },
    });
    return label === undefined ? undefined : nameOf(label);
  }

  /** `SEPARATOR ','` of group_concat, `USING utf8mb4` of convert. */
  private readonly callEnding: Rule<[], CallEnding> = this.rule("callEnding", () =>
    this.OR({
      ERR_MSG: "SEPARATOR or USING",
      DEF: [
        { ALT: this.after(K.SEPARATOR, () => ({ word: "separator", text: stringOf(this.CONSUME(StringText)) }) as const) },
        { ALT: this.after(K.USING, () => ({ word: "using", text: this.SUBRULE(this.identifier) }) as const) },
      ],
    }),
  );

  /** A call as the plain one that its spelling stands for. */
  private spelled(
    { name, args, orderBy }: Spelled,
    labels: readonly (string | undefined)[],
    within: readonly OrderItem[] | undefined,
    ending: CallEnding | undefined,
    start: IToken,
  ): Spelled {
    const span = spanOf(start);
    if (ending !== undefined && (ending.word !== "separator" || name !== "group_concat"))
      return this.fail(`${ending.word.toUpperCase()} does not go with ${name}()`, start);
    const named = namedArguments(name, args, labels, span);
    if (named === undefined) return this.fail(`${name}() has no arguments of these names`, start);
    if (within !== undefined)
      return (
        withinGroup(name, args, within, span) ??
        this.fail(
          `WITHIN GROUP (ORDER BY value) goes with a percentile, not with ${name}(); also mode() and listagg(text[, separator])`,
          start,
        )
      );
    if (name === "listagg")
      return { name: "string_agg", args: args.length === 1 ? [...args, { kind: "string", value: "", span }] : args, orderBy };
    if (name !== "group_concat") return { name, args: named, orderBy };
    return { name, args: groupConcatArguments(args, ending?.text ?? ",", span), orderBy };
  }

  /** `CONVERT(x, SIGNED)`, `CONVERT(x USING utf8mb4)`: casts, since every text is UTF-8. */
  private converted([operand, type, ...rest]: readonly Expression[], ending: CallEnding | undefined, start: IToken): Expression {
    const wrong = (): never => this.fail("CONVERT takes a value and a type, or a value USING a character set", start);
    if (operand === undefined || rest.length > 0) return wrong();
    const span = spanOf(start);
    if (ending?.word === "using" && type === undefined) return this.cast(operand, STRING, false, start, span);
    if (ending !== undefined) return wrong();
    const isPlain = type?.kind === "column" && !type.quoted && type.name.length === 1;
    if (isPlain) return this.cast(operand, this.resolveType(type.name[0] ?? "", [], false, start), false, start, span);
    if (type?.kind !== "call") return wrong();
    const sizes = type.args.map((size) => (size.kind === "number" ? Number(size.text) : Number.NaN));
    return this.cast(operand, this.resolveType(type.name, sizes, false, start), false, start, span);
  }

  /** A call with keywords between its arguments, or a column of that name. */
  protected readonly specialLed: Rule<[], Expression> = this.rule("specialLed", () => {
    const first = this.OR([
      { ALT: () => this.CONSUME(K.EXTRACT) },
      { ALT: () => this.CONSUME(K.SUBSTRING) },
      { ALT: () => this.CONSUME(K.POSITION) },
      { ALT: () => this.CONSUME(K.OVERLAY) },
      { ALT: () => this.CONSUME(K.TRIM) },
    ]);
    const result = this.OPTION(() =>
      this.OR2([
        {
          ALT: this.after(LeftParen, () =>
            this.OR3({
              ERR_MSG: "an argument",
              DEF: [
                { GATE: () => first.tokenType === K.EXTRACT, ALT: () => this.SUBRULE(this.extractTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.SUBSTRING, ALT: () => this.SUBRULE(this.substringTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.POSITION, ALT: () => this.SUBRULE(this.positionTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.OVERLAY, ALT: () => this.SUBRULE(this.overlayTail, { ARGS: [first] }) },
                { GATE: () => first.tokenType === K.TRIM, ALT: () => this.SUBRULE(this.trimTail, { ARGS: [first] }) },
              ],
            }),
          ),
        },
        { ALT: () => this.SUBRULE(this.qualifiedColumn, { ARGS: [first] }) },
      ]),
    );
    return this.ACTION(() => result ?? this.bareName(first));
  });

  protected readonly orderByClause: Rule<[], readonly OrderItem[]> = this.rule("orderByClause", () => {
    this.words(K.ORDER, K.BY);
    return this.list("an expression", () => this.SUBRULE(this.orderItem));
  });

  private readonly orderItem: Rule<[], OrderItem> = this.rule("orderItem", () => {
    const expression = this.SUBRULE(this.expression);
    const descending =
      this.OPTION(() => {
        const token = this.OR([{ ALT: () => this.CONSUME(K.ASC) }, { ALT: () => this.CONSUME(K.DESC) }]);
        return token.tokenType === K.DESC;
      }) ?? false;
    const nullsFirst = this.OPTION2(() => {
      this.CONSUME(K.NULLS);
      const token = this.OR2([{ ALT: () => this.CONSUME(K.FIRST) }, { ALT: () => this.CONSUME(K.LAST) }]);
      return token.tokenType === K.FIRST;
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
      const text = part.tokenType === StringText ? stringOf(part) : nameOf(part);
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
    const start = this.OPTION(this.after(K.FROM, () => this.SUBRULE2(this.expression)));
    return this.ACTION(() => [start ?? { kind: "number", text: "1", span: spanOf(first) }, length]);
  });

  private readonly substringTail: Rule<[first?: IToken], Expression> = this.rule("substringTail", (first) => {
    const text = this.SUBRULE(this.expression);
    const rest = this.choose<readonly Expression[]>({
      ERR_MSG: "',', FROM or FOR",
      DEF: [
        { ALT: this.after(Comma, () => this.list("an expression", () => this.SUBRULE2(this.expression))) },
        { ALT: () => this.SUBRULE(this.extent) },
        { ALT: () => this.SUBRULE(this.extentFromEnd) },
      ],
    });
    const end = this.CONSUME(RightParen);
    return this.ACTION(() => plainCall("substr", [text, ...rest], first ?? end));
  });

  private readonly overlayTail: Rule<[first?: IToken], Expression> = this.rule("overlayTail", (first) => {
    const text = this.SUBRULE(this.expression);
    const rest = this.choose<readonly Expression[]>({
      ERR_MSG: "',' or PLACING",
      DEF: [
        { ALT: this.after(Comma, () => this.list("an expression", () => this.SUBRULE2(this.expression))) },
        {
          ALT: this.after(K.PLACING, () => {
            const other = this.SUBRULE3(this.expression);
            const ends = this.SUBRULE(this.extent);
            return this.ACTION(() => [other, ...ends]);
          }),
        },
      ],
    });
    const end = this.CONSUME(RightParen);
    return this.ACTION(() => plainCall("overlay", [text, ...rest], first ?? end));
  });

  private readonly positionTail: Rule<[first?: IToken], Expression> = this.rule("positionTail", (name) => {
    // Above the power of IN, which here is punctuation.
    const first = this.SUBRULE(this.expression, { ARGS: [Power.predicate] });
    const args = this.OR({
      ERR_MSG: "IN or ','",
      DEF: [
        { ALT: this.after(K.IN, () => [this.SUBRULE2(this.expression), first]) },
        { ALT: this.after(Comma, () => [first, this.SUBRULE3(this.expression)]) },
      ],
    });
    const end = this.CONSUME(RightParen);
    return plainCall("strpos", args, name ?? end);
  });

  private readonly trimTail: Rule<[first?: IToken], Expression> = this.rule("trimTail", (first) => {
    const args: Expression[] = [];
    const name =
      this.OPTION(() => {
        const side = this.OR([
          { ALT: () => this.CONSUME(K.LEADING) },
          { ALT: () => this.CONSUME(K.TRAILING) },
          { ALT: () => this.CONSUME(K.BOTH) },
        ]);
        return side.tokenType === K.LEADING ? "ltrim" : side.tokenType === K.TRAILING ? "rtrim" : "btrim";
      }) ?? "btrim";
    this.OPTION2(() => {
      args.push(this.SUBRULE(this.expression));
      this.OPTION3(() => {
        this.CONSUME(Comma);
        args.push(this.SUBRULE2(this.expression));
      });
    });
    const swap =
      this.OPTION4(() => {
        this.CONSUME(K.FROM);
        args.push(this.SUBRULE3(this.expression));
        return true;
      }) ?? false;
    const end = this.CONSUME(RightParen);
    return this.ACTION(() => {
      if (args.length === 0) this.fail("TRIM needs a text", end);
      if (args.length > 2) this.fail("TRIM takes a text and the characters to remove", end);
      return plainCall(name, swap ? args.toReversed() : args, first ?? end);
    });
  });
}
