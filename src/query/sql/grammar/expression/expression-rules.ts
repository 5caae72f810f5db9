/**
 * Expressions by precedence climbing: one rule reads an operand, then as many operators as bind tighter than its caller allows
 * (`precedence.ts`). One rule a power, the usual way in chevrotain, would cost twelve calls an operand and twelve stack frames a
 * parenthesis.
 *
 * Two limits keep everything that walks the tree from overflowing the stack: how deep rules recurse, and how high the tree gets
 * (`1 + 1 + 1 …` recurses nowhere but leans left). Long chains of AND and OR, which programs write, become balanced trees instead.
 */
import type { IToken } from "chevrotain";
import { SQL_DEPTH_MAX } from "../../../../base/limits.ts";
import type { BinaryOperator, ComparisonOperator, Expression, Query } from "../../syntax/ast.ts";
import type { Rule } from "../base/base-rules.ts";
import { stringOf } from "../../tokens/lexer.ts";
import { collationNamed } from "./collation.ts";
import { Power } from "../../syntax/precedence.ts";
import { RangeRules } from "./range-rules.ts";
import { quote } from "../../tokens/syntax-error.ts";
import {
  Comma,
  Constants,
  DoubleColon,
  Infix,
  infixPowerOf,
  K,
  LeftParen,
  operatorOf,
  RightParen,
  StringText,
} from "../../tokens/token.ts";
import { RECORDED } from "../base/recorded.ts";

/** Chains of AND or OR up to this many terms lean left, as written; longer ones are balanced. */
const CHAIN_LEANING_MAX = 64;

const NOT = K.NOT;

/** `left operator right`, which begins where its left side does. */
function join(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { kind: "binary", operator, left, right, span: left.span };
}

/** The terms `[start, end)` as a tree of least height, in order. */
function balance(operator: BinaryOperator, terms: readonly Expression[], start: number, end: number): Expression {
  const only = terms[start];
  if (only !== undefined && end - start === 1) return only;
  const middle = (start + end) >>> 1;
  return join(operator, balance(operator, terms, start, middle), balance(operator, terms, middle, end));
}

const COMPARISONS: ReadonlySet<BinaryOperator> = new Set(["=", "<>", "<", "<=", ">", ">="]);

/** What may follow a query in parentheses that is part of a larger one. */
const SET_OPERATORS: ReadonlySet<unknown> = new Set([K.UNION, K.INTERSECT, K.EXCEPT, K.ORDER, K.LIMIT, K.OFFSET]);

const PREDICATES: ReadonlySet<unknown> = new Set([K.BETWEEN, K.IN, K.LIKE, K.ILIKE, K.SIMILAR, K.REGEXP, K.RLIKE]);

/** How far behind each opening parenthesis its partner lies, or the end where it has none. */
function closingsOf(tokens: readonly IToken[]): ReadonlyMap<IToken, number> {
  const closings = new Map<IToken, number>();
  const open: number[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token.tokenType === LeftParen) {
      open.push(i);
      closings.set(token, tokens.length - i);
      continue;
    }
    const start = token.tokenType === RightParen ? open.pop() : undefined;
    const partner = start === undefined ? undefined : tokens[start];
    if (partner !== undefined && start !== undefined) closings.set(partner, i - start);
  }
  return closings;
}

/** Operators and predicates; the `expression` rule that the others call. */
export abstract class ExpressionRules extends RangeRules {
  /** How many expression rules are running inside each other. */
  private depth = 0;
  /** How far the partner of each parenthesis of some tokens lies behind it; made when first asked for. */
  private closings: { readonly of: readonly IToken[]; readonly distances: ReadonlyMap<IToken, number> } | undefined;

  /** Forgets the last text, which may have failed halfway. */
  protected resetExpressions(): void {
    this.depth = 0;
    this.defaultAllowed = false;
  }

  /** An expression of operators that bind tighter than `above`. */
  protected readonly expression: Rule<[above?: number], Expression> = this.rule("expression", (above = Power.none as number) => {
    this.ACTION(() => {
      if (++this.depth > SQL_DEPTH_MAX) this.tooDeep(this.LA(1));
    });
    const outerHeight = this.marks.height;
    this.marks.height = 0;
    let result = this.operand();
    this.grow(1);
    this.MANY({
      GATE: () => this.nextPower() > above,
      DEF: () => {
        const left = result;
        result = this.OR2({
          ERR_MSG: "an operator",
          DEF: [
            { ALT: () => this.binaryTail(left) },
            { ALT: () => this.SUBRULE(this.predicateTail, { ARGS: [left] }) },
            { ALT: () => this.SUBRULE(this.isTail, { ARGS: [left] }) },
            { ALT: () => this.SUBRULE(this.castTail, { ARGS: [left] }) },
            { ALT: () => this.SUBRULE(this.subscriptTail, { ARGS: [left] }) },
            { ALT: () => this.SUBRULE(this.mapTail, { ARGS: [left] }) },
            { ALT: () => this.SUBRULE(this.rangeTail, { ARGS: [left] }) },
            { ALT: () => this.SUBRULE(this.zoneTail, { ARGS: [left] }) },
            { ALT: () => this.SUBRULE(this.collateTail, { ARGS: [left] }) },
          ],
        });
        this.grow(1);
      },
    });
    this.marks.height = Math.max(this.marks.height, outerHeight);
    this.depth--;
    return result;
  });

  private grow(levels: number): void {
    this.marks.height += levels;
    if (this.marks.height > SQL_DEPTH_MAX) this.ACTION(() => this.tooDeep(this.LA(1)));
  }

  /** Begins something that may nest, at a token. @throws DbError InvalidSyntax when it lies too deep */
  protected enter(token: IToken): void {
    if (++this.depth > SQL_DEPTH_MAX) this.tooDeep(token);
  }

  /** Ends what `enter` began. */
  protected leave(): void {
    this.depth--;
  }

  private tooDeep(token: IToken): never {
    return this.fail(`the statement nests deeper than ${SQL_DEPTH_MAX} levels`, token);
  }

  /** How tightly the next token binds what stands before it; 0 when it does not continue an expression. */
  private nextPower(): number {
    const next = this.LA(1);
    // `DEFAULT 1 NOT NULL`: NOT continues an expression only before a predicate.
    if (next.tokenType === NOT) return PREDICATES.has(this.LA(2).tokenType) ? Power.predicate : Power.none;
    if (next.tokenType === K.AT && this.LA(2).tokenType !== K.TIME) return Power.none;
    if (next.tokenType === K.RANGE) return this.rangeFollows() ? Power.cast : Power.none;
    return infixPowerOf(next.tokenTypeIdx);
  }

  /** An operator and its right side. A part of `expression`. */
  private binaryTail(left: Expression): Expression {
    const token = this.CONSUME(Infix);
    const power = infixPowerOf(token.tokenTypeIdx);
    const operator = operatorOf(token.tokenType) ?? "=";
    const quantified = this.OPTION5({
      GATE: () => COMPARISONS.has(operator) && this.LA(2).tokenType === LeftParen,
      DEF: () => this.SUBRULE(this.quantifiedTail, { ARGS: [left, operator] }),
    });
    if (quantified !== undefined && !this.RECORDING_PHASE) return quantified;
    const right = this.SUBRULE(this.expression, { ARGS: [power] });
    if (operator !== "and" && operator !== "or" && !this.RECORDING_PHASE) return join(operator, left, right);
    const terms = [left, right];
    this.MANY2({
      GATE: () => this.LA(1).tokenType === token.tokenType,
      DEF: () => {
        this.CONSUME2(Infix);
        terms.push(this.SUBRULE2(this.expression, { ARGS: [power] }));
      },
    });
    return this.chain(operator, terms);
  }

  /** Joins terms by AND or OR: leaning left, or balanced when there are many. */
  private chain(operator: BinaryOperator, terms: readonly Expression[]): Expression {
    if (terms.length <= CHAIN_LEANING_MAX) {
      this.grow(terms.length - 2);
      return terms.reduce((left, right) => join(operator, left, right));
    }
    this.grow(Math.ceil(Math.log2(terms.length)) - 1);
    return balance(operator, terms, 0, terms.length);
  }

  /** `ANY (SELECT …)` or `ANY (list)` behind a comparison. */
  private readonly quantifiedTail: Rule<[left?: Expression, operator?: BinaryOperator], Expression> = this.rule(
    "quantifiedTail",
    (left = RECORDED, operator = "=") => {
      const quantifier = this.meaningOf("ANY, SOME or ALL", { any: [K.ANY, K.SOME], all: K.ALL });
      const start = this.CONSUME(LeftParen);
      let query: Query | undefined;
      let list: Expression | undefined;
      this.OR2({
        ERR_MSG: "a query or a list",
        DEF: [
          {
            GATE: () => this.queryFollows(1),
            ALT: () => {
              query = this.SUBRULE(this.query);
            },
            IGNORE_AMBIGUITIES: true,
          },
          {
            ALT: () => {
              list = this.SUBRULE(this.expression);
            },
          },
        ],
      });
      this.CONSUME(RightParen);
      return this.ACTION(() => {
        if (list !== undefined) return this.anyOf(left, operator, quantifier, list, start);
        return {
          kind: "quantified",
          operator: operator as ComparisonOperator,
          quantifier,
          operand: left,
          query: query as Query,
          span: left.span,
        };
      });
    },
  );

  /** `x = ANY (list)` is `array_has(list, x)`, and `x <> ALL (list)` its opposite. */
  private anyOf(left: Expression, operator: BinaryOperator, quantifier: "any" | "all", list: Expression, token: IToken): Expression {
    const { span } = left;
    const has: Expression = {
      kind: "call",
      name: "array_has",
      args: [list, left],
      star: false,
      distinct: false,
      orderBy: [],
      filter: undefined,
      span,
    };
    if (operator === "=" && quantifier === "any") return has;
    if (operator === "<>" && quantifier === "all") return { kind: "unary", operator: "not", operand: has, span };
    return this.refuse(`${operator} ${quantifier.toUpperCase()} of a list; only = ANY and <> ALL are`, token);
  }

  /** `a, b, c`. */
  protected readonly expressionList: Rule<[], readonly Expression[]> = this.rule("expressionList", () => {
    const items: Expression[] = [];
    this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => items.push(this.SUBRULE(this.expression)), ERR_MSG: "an expression" });
    return items;
  });

  /** Whether the parenthesis that many tokens ahead holds a query, not an expression or a join. */
  protected parenthesisIsQuery(ahead: number): boolean {
    return this.LA(ahead).tokenType === LeftParen && this.queryFollows(ahead + 1);
  }

  /** Whether a query begins that many tokens ahead: SELECT, or one in parentheses that is not a part of an expression or a join. */
  protected queryFollows(ahead: number): boolean {
    let open = 0;
    while (this.LA(ahead + open).tokenType === LeftParen) if (++open > SQL_DEPTH_MAX) return false;
    if (!this.beginsQuery(ahead + open)) return false;
    while (open > 0) {
      const { tokenType } = this.LA(this.closing(ahead + --open) + 1);
      if (tokenType !== RightParen && !SET_OPERATORS.has(tokenType)) return false;
    }
    return true;
  }

  /** How many tokens ahead the partner of a parenthesis stands. */
  protected closing(ahead: number): number {
    const of = this.input;
    if (this.closings?.of !== of) this.closings = { of, distances: closingsOf(of) };
    return ahead + (this.closings.distances.get(this.LA(ahead)) ?? 0);
  }

  private readonly castTail: Rule<[left?: Expression], Expression> = this.rule("castTail", (left = RECORDED) => {
    const token = this.CONSUME(DoubleColon);
    const type = this.SUBRULE(this.typeName);
    return this.ACTION(() => this.cast(left, type, false, token, left.span));
  });

  /** `AT TIME ZONE zone`. */
  private readonly zoneTail: Rule<[left?: Expression], Expression> = this.rule("zoneTail", (left = RECORDED) => {
    this.CONSUME(K.AT);
    this.CONSUME(K.TIME);
    this.CONSUME(K.ZONE);
    return join("at time zone", left, this.SUBRULE(this.expression, { ARGS: [Power.zone] }));
  });

  /** `a COLLATE utf8mb4_bin`: the order that texts have anyway, so that nothing of it stays in the tree. */
  private readonly collateTail: Rule<[left?: Expression], Expression> = this.rule("collateTail", (left = RECORDED) => {
    this.CONSUME(K.COLLATE);
    const token = this.LA(1);
    const name = this.OR([
      { ALT: () => stringOf(this.CONSUME(StringText)) },
      {
        ALT: () => {
          const parts = this.SUBRULE(this.objectName);
          return this.ACTION(() => parts.at(-1) ?? "");
        },
      },
    ]);
    this.ACTION(() => this.checkCollation(name, token));
    return left;
  });

  private checkCollation(name: string, token: IToken): void {
    const meaning = collationNamed(name);
    if (meaning === "unknown") this.fail(`unknown collation ${quote(name)}; texts compare by code points, as with utf8mb4_bin`, token);
    if (meaning === "folding")
      this.refuse(`COLLATE ${name}: texts compare by code points; compare lower(x), or use ILIKE, to make no difference of size`, token);
  }

  private readonly isTail: Rule<[left?: Expression], Expression> = this.rule("isTail", (left = RECORDED) => {
    this.CONSUME(K.IS);
    const negated = this.negated();
    const test = this.choose<"null" | "true" | "false" | "unknown" | Expression>({
      ERR_MSG: "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM",
      DEF: [
        { ALT: () => this.choice(this.CONSUME(K.NULL), "null") },
        { ALT: () => this.choice(this.CONSUME(K.TRUE), "true") },
        { ALT: () => this.choice(this.CONSUME(K.FALSE), "false") },
        { ALT: () => this.choice(this.CONSUME(K.UNKNOWN), "unknown") },
        {
          ALT: () => {
            this.CONSUME(K.DISTINCT);
            this.CONSUME(K.FROM);
            return this.SUBRULE(this.expression, { ARGS: [Power.is] });
          },
        },
      ],
    });
    if (typeof test !== "string") return join(negated ? "is not distinct from" : "is distinct from", left, test);
    return { kind: "is", operand: left, test, negated, span: left.span };
  });

  /** `NOT`, when it is there. A part of the rules that use it. */
  private negated(): boolean {
    return this.has(NOT);
  }

  /** `[NOT] BETWEEN`, `[NOT] IN`, `[NOT] LIKE`, `[NOT] REGEXP`. */
  private readonly predicateTail: Rule<[left?: Expression], Expression> = this.rule("predicateTail", (left = RECORDED) => {
    const negated = this.negated();
    return this.choose<Expression>({
      ERR_MSG: "BETWEEN, IN, LIKE, REGEXP or SIMILAR TO",
      DEF: [
        { ALT: () => this.between(left, negated) },
        { ALT: () => this.inList(left, negated) },
        { ALT: () => this.like(left, negated) },
        { ALT: () => this.similar(left, negated) },
        { ALT: () => this.regexp(left, negated) },
      ],
    });
  });

  private between(operand: Expression, negated: boolean): Expression {
    this.CONSUME(K.BETWEEN);
    const low = this.SUBRULE(this.expression, { ARGS: [Power.predicate] });
    this.CONSUME(K.AND);
    const high = this.SUBRULE2(this.expression, { ARGS: [Power.predicate] });
    return { kind: "between", operand, low, high, negated, span: operand.span };
  }

  private inList(operand: Expression, negated: boolean): Expression {
    const items: Expression[] = [];
    let query: Query | undefined;
    this.CONSUME(K.IN);
    this.CONSUME(LeftParen);
    this.OR3({
      ERR_MSG: "an expression",
      DEF: [
        {
          GATE: () => this.queryFollows(1),
          ALT: () => {
            query = this.SUBRULE(this.query);
          },
          IGNORE_AMBIGUITIES: true,
        },
        {
          ALT: () =>
            this.AT_LEAST_ONE_SEP({
              SEP: Comma,
              ERR_MSG: "an expression",
              DEF: () =>
                this.OR4({
                  ERR_MSG: "an expression",
                  DEF: [
                    { ALT: () => items.push(this.SUBRULE3(this.expression)) },
                    {
                      ALT: () => {
                        for (const constant of (this.CONSUME(Constants).payload ?? []) as readonly Expression[]) items.push(constant);
                      },
                    },
                  ],
                }),
            }),
        },
      ],
    });
    this.CONSUME(RightParen);
    if (query !== undefined) return { kind: "in-query", operand, query, negated, span: operand.span };
    return { kind: "in-list", operand, items, constants: constantsBefore(items), negated, span: operand.span };
  }

  private similar(operand: Expression, negated: boolean): Expression {
    this.CONSUME(K.SIMILAR);
    this.CONSUME(K.TO);
    return join(negated ? "not similar to" : "similar to", operand, this.SUBRULE5(this.expression, { ARGS: [Power.predicate] }));
  }

  /** MySQL's word for `~`: texts compare by code points, as in its binary collations. */
  private regexp(operand: Expression, negated: boolean): Expression {
    this.OR5([{ ALT: () => this.CONSUME(K.REGEXP) }, { ALT: () => this.CONSUME(K.RLIKE) }]);
    return join(negated ? "!~" : "~", operand, this.SUBRULE6(this.expression, { ARGS: [Power.predicate] }));
  }

  private like(operand: Expression, negated: boolean): Expression {
    const insensitive = this.OR2([
      { ALT: () => this.choice(this.CONSUME(K.LIKE), "like") },
      { ALT: () => this.choice(this.CONSUME(K.ILIKE), "ilike") },
    ]);
    const pattern = this.SUBRULE4(this.expression, { ARGS: [Power.predicate] });
    const escape = this.OPTION2(() => {
      this.CONSUME(K.ESCAPE);
      const text = this.CONSUME(StringText);
      const value = stringOf(text);
      this.ACTION(() => {
        if ([...value].length !== 1) this.fail(`ESCAPE must be one character, not ${quote(value)}`, text);
      });
      return value;
    });
    return { kind: "like", operand, pattern, escape, insensitive: insensitive === "ilike", negated, span: operand.span };
  }
}

/** How many constants a list begins with. */
function constantsBefore(items: readonly Expression[]): number {
  const other = items.findIndex((item) => !isConstant(item.kind === "unary" ? item.operand : item));
  return other < 0 ? items.length : other;
}

function isConstant({ kind }: Expression): boolean {
  return kind === "number" || kind === "string" || kind === "null";
}
