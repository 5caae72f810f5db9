/**
 * FROM: tables, queries in parentheses, table functions, joins.
 */
import type { IToken } from "chevrotain";
import { JOINS_MAX } from "../../../../base/limits.ts";
import type { Expression, JoinConstraint, JoinKind, RelationAlias, SampleClause, TableReference } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { ExpressionRules } from "../expression/expression-rules.ts";
import { nameOf, stringOf } from "../../tokens/lexer.ts";
import { quote } from "../../tokens/syntax-error.ts";
import { Alias, Comma, K, Label, LeftParen, NumberText, RightParen, StringText } from "../../tokens/token.ts";

/** Stands for the left side while the grammar is recorded. */
const RECORDED: TableReference = { kind: "table", name: [], alias: undefined, span: { line: 1, column: 1 } };

/** The FROM clause. */
export abstract class FromRules extends ExpressionRules {
  /** `AS x`, `AS 'x'` or a bare `x`, when there is one. A part of the rules that use it. */
  protected alias(): string | undefined {
    return this.OPTION9(() =>
      this.OR8([
        { ALT: () => nameOf(this.CONSUME(Alias)) },
        {
          ALT: this.after(K.AS, () =>
            this.OR9({
              ERR_MSG: "an alias",
              DEF: [{ ALT: () => nameOf(this.CONSUME(Label)) }, { ALT: () => stringOf(this.CONSUME(StringText)) }],
            }),
          ),
        },
      ]),
    );
  }

  /** `AS t (a, b)` of a relation, when there is one. A part of the rules that use it. */
  private relationAlias(): RelationAlias | undefined {
    const name = this.alias();
    const columns =
      this.OPTION8({
        GATE: () => name !== undefined,
        DEF: () => this.SUBRULE(this.nameList),
      }) ?? [];
    return name === undefined ? undefined : { name, columns };
  }

  private readonly relationAliasRule: Rule<[], RelationAlias | undefined> = this.rule("relationAliasRule", () => this.relationAlias());

  /** Relations between commas: all pairs of their rows. */
  protected readonly fromClause: Rule<[], TableReference> = this.rule("fromClause", () => {
    let left = this.SUBRULE(this.tableReference);
    let joins = 0;
    this.MANY(() => {
      const comma = this.CONSUME(Comma);
      this.ACTION(() => this.checkJoins(++joins, comma));
      const right = this.SUBRULE2(this.tableReference);
      left = { kind: "join", join: "cross", left, right, constraint: undefined, span: left?.span ?? RECORDED.span };
    });
    return left;
  });

  private readonly tableReference: Rule<[], TableReference> = this.rule("tableReference", () => {
    const start = this.LA(1);
    this.ACTION(() => this.enter(start));
    let left = this.SUBRULE(this.relation);
    let joins = 0;
    this.MANY(() => {
      this.ACTION(() => this.checkJoins(++joins, this.LA(1)));
      left = this.SUBRULE(this.joinTail, { ARGS: [left] });
    });
    this.ACTION(() => this.leave());
    return left;
  });

  private checkJoins(joins: number, token: IToken): void {
    if (joins > JOINS_MAX) this.fail(`a FROM has more than ${JOINS_MAX} joins`, token);
  }

  /** One relation, or joins in parentheses. */
  private readonly relation: Rule<[], TableReference> = this.rule("relation", () => {
    const start = this.LA(1);
    const span = spanOf(start);
    return this.choose<TableReference>({
      ERR_MSG: "a name",
      DEF: [
        {
          GATE: () => !this.isLateral(),
          ALT: () => this.SUBRULE(this.named),
          IGNORE_AMBIGUITIES: true,
        },
        { ALT: this.after(K.LATERAL, () => this.SUBRULE(this.lateral)) },
        {
          GATE: () => this.parenthesisIsQuery(1),
          ALT: () => {
            this.CONSUME(LeftParen);
            const query = this.SUBRULE(this.query);
            this.CONSUME(RightParen);
            return { kind: "derived", query, lateral: false, alias: this.relationAlias(), span };
          },
          IGNORE_AMBIGUITIES: true,
        },
        {
          ALT: () => {
            this.CONSUME2(LeftParen);
            const inner = this.SUBRULE(this.fromClause);
            this.CONSUME2(RightParen);
            return inner;
          },
        },
      ],
    });
  });

  private isLateral(): boolean {
    const next = this.LA(2).tokenType;
    return this.LA(1).tokenType === K.LATERAL && (next === LeftParen || this.LA(3).tokenType === LeftParen);
  }

  /** A table, or a function that gives one. */
  private readonly named: Rule<[], TableReference> = this.rule("named", () => {
    const start = this.LA(1);
    const name = this.SUBRULE(this.objectName);
    let args: readonly Expression[] | undefined;
    this.OPTION(() => {
      this.CONSUME(LeftParen);
      args = [];
      this.OPTION2(() => {
        args = this.SUBRULE(this.expressionList);
      });
      this.CONSUME(RightParen);
    });
    const ordinality = this.OPTION5({
      GATE: () => args !== undefined && this.LA(2).image.toLowerCase() === "ordinality",
      DEF: () => {
        this.CONSUME(K.WITH);
        this.CONSUME4(Label);
        return true;
      },
    });
    let alias = this.relationAlias();
    let sample: SampleClause | undefined;
    this.OPTION3(() => {
      sample = this.SUBRULE(this.sampleClause);
      this.OPTION4({
        GATE: () => alias === undefined,
        DEF: () => {
          alias = this.SUBRULE(this.relationAliasRule);
        },
      });
    });
    return this.ACTION(() => {
      const span = spanOf(start);
      if (sample !== undefined && args !== undefined) this.fail("TABLESAMPLE goes with a table, not with a function", start);
      return args === undefined
        ? { kind: "table", name, alias, ...(sample && { sample }), span }
        : { kind: "table-function", name: (name.at(-1) ?? "").toLowerCase(), args, ...(ordinality && { ordinality }), alias, span };
    });
  });

  /** `TABLESAMPLE [BERNOULLI | SYSTEM] (10 [PERCENT | ROWS]) [REPEATABLE (seed)]`. */
  private readonly sampleClause: Rule<[], SampleClause> = this.rule("sampleClause", () => {
    this.CONSUME(K.TABLESAMPLE);
    const method = this.OPTION(() => this.meaningOf("BERNOULLI or SYSTEM", { bernoulli: K.BERNOULLI, system: K.SYSTEM }));
    this.CONSUME(LeftParen);
    const amount = this.CONSUME(NumberText);
    const unit =
      this.OPTION2(() =>
        this.OR2({
          ERR_MSG: "PERCENT or ROWS",
          DEF: [{ ALT: () => this.choice(this.CONSUME(K.PERCENT), "percent") }, { ALT: () => this.choice(this.CONSUME(K.ROWS), "rows") }],
        }),
      ) ?? "percent";
    this.CONSUME(RightParen);
    const seed = this.OPTION3(() => {
      this.CONSUME(K.REPEATABLE);
      this.CONSUME2(LeftParen);
      const number = this.CONSUME2(NumberText).image;
      this.CONSUME2(RightParen);
      return number;
    });
    this.ACTION(() => {
      const value = Number(amount.image);
      if (unit === "percent" && value > 100) this.fail(`found ${quote(amount.image)}, expected at most 100 PERCENT`, amount);
      if (unit === "rows" && !Number.isSafeInteger(value))
        this.fail(`found ${quote(amount.image)}, expected a whole number of ROWS`, amount);
    });
    return { method, amount: amount.image, unit, seed };
  });

  /** What follows LATERAL: a query, or a function, which may name earlier relations anyway. */
  private readonly lateral: Rule<[], TableReference> = this.rule("lateral", () => {
    const span = spanOf(this.LA(1));
    return this.choose<TableReference>({
      ERR_MSG: "a query or a table function",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(LeftParen);
            const query = this.SUBRULE(this.query);
            this.CONSUME(RightParen);
            return { kind: "derived", query, lateral: true, alias: this.relationAlias(), span };
          },
        },
        { ALT: () => this.SUBRULE(this.named) },
      ],
    });
  });

  /** `LEFT JOIN b ON …`. */
  private readonly joinTail: Rule<[left?: TableReference], TableReference> = this.rule("joinTail", (left = RECORDED) => {
    const natural = this.has(K.NATURAL);
    const join = this.SUBRULE(this.joinKind);
    const right = this.SUBRULE(this.relation);
    const written = this.OPTION2(() =>
      this.choose<JoinConstraint>({
        ERR_MSG: "ON or USING",
        DEF: [
          { ALT: this.after(K.ON, () => ({ kind: "on", condition: this.SUBRULE(this.expression) })) },
          { ALT: this.after(K.USING, () => ({ kind: "using", columns: this.SUBRULE(this.nameList) })) },
        ],
      }),
    );
    const constraint: JoinConstraint = written ?? (natural ? { kind: "natural" } : undefined);
    return this.ACTION(() => {
      if (constraint === undefined && join !== "cross" && join !== "inner") this.fail("a join needs ON or USING", this.LA(0));
      if (join === "cross" && constraint !== undefined) this.fail("CROSS JOIN takes no condition; write JOIN … ON", this.LA(0));
      return { kind: "join", join, left, right, constraint, span: left.span };
    });
  });

  private readonly joinKind: Rule<[], JoinKind> = this.rule("joinKind", () => {
    const kind =
      this.OPTION(() =>
        this.choose<JoinKind>({
          ERR_MSG: "INNER, CROSS, LEFT, RIGHT, FULL, SEMI or ANTI",
          DEF: [
            { ALT: () => this.choice(this.CONSUME(K.INNER), "inner") },
            { ALT: () => this.SUBRULE(this.asofKind) },
            { ALT: () => this.choice(this.CONSUME(K.SEMI), "left-semi") },
            { ALT: () => this.choice(this.CONSUME(K.ANTI), "left-anti") },
            { ALT: () => this.choice(this.CONSUME(K.CROSS), "cross") },
            {
              ALT: () => {
                this.CONSUME(K.LEFT);
                const which = this.SUBRULE(this.joinSide);
                return which === "outer" ? "left" : `left-${which}`;
              },
            },
            {
              ALT: () => {
                this.CONSUME(K.RIGHT);
                const which = this.SUBRULE2(this.joinSide);
                return which === "outer" ? "right" : `right-${which}`;
              },
            },
            {
              ALT: () => {
                this.CONSUME(K.FULL);
                this.OPTION4(() => this.CONSUME3(K.OUTER));
                return "full" as const;
              },
            },
          ],
        }),
      ) ?? "inner";
    this.CONSUME(K.JOIN);
    return kind;
  });

  /** `ASOF`, `ASOF LEFT [OUTER]`, `ASOF INNER`. */
  private readonly asofKind: Rule<[], "asof" | "asof-left"> = this.rule("asofKind", () => {
    this.CONSUME(K.ASOF);
    return (
      this.OPTION(() =>
        this.choose<"asof" | "asof-left">({
          ERR_MSG: "LEFT, INNER or JOIN",
          DEF: [
            { ALT: () => this.choice(this.CONSUME(K.INNER), "asof") },
            {
              ALT: () => {
                this.CONSUME(K.LEFT);
                this.OPTION2(() => this.CONSUME(K.OUTER));
                return "asof-left";
              },
            },
          ],
        }),
      ) ?? "asof"
    );
  });

  private readonly joinSide: Rule<[], "outer" | "semi" | "anti"> = this.rule("joinSide", () => {
    return this.OPTION(() => this.meaningOf("OUTER, SEMI or ANTI", { outer: K.OUTER, semi: K.SEMI, anti: K.ANTI })) ?? "outer";
  });
}
