/**
 * SELECT, INSERT and DELETE.
 */
import type { Delete, Expression, Insert, OrderItem, Select, SelectItem, TableReference } from "./ast.ts";
import { type Rule, spanOf } from "./base-rules.ts";
import { ExpressionRules } from "./expression-rules.ts";
import { nameOf, unquote } from "./lexer.ts";
import { Alias, Comma, K, Label, LeftParen, RightParen, Star, StringText } from "./token.ts";

/** Calls that are clauses of GROUP BY. */
const GROUPING_CALLS: ReadonlySet<string> = new Set(["rollup", "cube"]);

/** The rows that a SELECT keeps. */
interface Window {
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
}

/** SELECT, INSERT and DELETE. */
export abstract class SelectRules extends ExpressionRules {
  protected readonly select: Rule<[], Select> = this.rule("select", () => {
    const start = this.CONSUME(K.SELECT);
    const items: SelectItem[] = [];
    let distinct = false;
    let from: TableReference | undefined;
    let where: Expression | undefined;
    let groupBy: readonly Expression[] = [];
    let having: Expression | undefined;
    let orderBy: readonly OrderItem[] = [];
    this.OPTION(() => {
      distinct =
        this.choose<"distinct" | "all">({
          ERR_MSG: "DISTINCT or ALL",
          DEF: [{ ALT: () => this.choice(this.CONSUME(K.DISTINCT), "distinct") }, { ALT: () => this.choice(this.CONSUME(K.ALL), "all") }],
        }) === "distinct";
    });
    items.push(this.SUBRULE(this.selectItem));
    this.MANY({
      GATE: () => this.LA(2).tokenType !== K.FROM,
      DEF: () => {
        this.CONSUME(Comma);
        items.push(this.SUBRULE2(this.selectItem));
      },
    });
    this.OPTION7(() => this.CONSUME2(Comma));
    this.OPTION2(() => {
      this.CONSUME(K.FROM);
      from = this.SUBRULE(this.tableReference);
    });
    this.OPTION3(() => {
      this.CONSUME(K.WHERE);
      where = this.SUBRULE(this.expression);
    });
    this.OPTION4(() => {
      groupBy = this.SUBRULE(this.groupByClause);
    });
    this.OPTION5(() => {
      this.CONSUME(K.HAVING);
      having = this.SUBRULE2(this.expression);
    });
    this.OPTION6(() => {
      orderBy = this.SUBRULE(this.orderByClause);
    });
    const { limit, offset } = this.SUBRULE(this.limitClause) ?? {};
    return { kind: "select", distinct, items, from, where, groupBy, having, orderBy, limit, offset, span: spanOf(start) };
  });

  private readonly selectItem: Rule<[], SelectItem> = this.rule("selectItem", () => {
    const start = this.LA(1);
    return this.choose<SelectItem>({
      ERR_MSG: "a column or expression",
      DEF: [
        { ALT: () => ({ kind: "star", table: undefined, span: spanOf(this.CONSUME(Star)) }) },
        {
          ALT: () => {
            this.starAfter = start;
            this.qualifiedStar = undefined;
            const expression = this.SUBRULE(this.expression);
            const star = this.qualifiedStar;
            this.starAfter = undefined;
            const alias = this.alias();
            return this.ACTION(() => {
              if (star === undefined) return { kind: "expression", expression, alias };
              if (star !== expression || alias !== undefined) this.fail(`${nameOf(start)}.* can only stand alone`, start);
              return { kind: "star", table: nameOf(start), span: spanOf(start) };
            });
          },
        },
      ],
    });
  });

  /** `AS x`, `AS 'x'` or a bare `x`, when there is one. A part of the rules that use it. */
  private alias(): string | undefined {
    let alias: string | undefined;
    this.OPTION9(() => {
      alias = this.OR8([
        { ALT: () => nameOf(this.CONSUME(Alias)) },
        {
          ALT: () => {
            this.CONSUME(K.AS);
            return this.OR9({
              ERR_MSG: "an alias",
              DEF: [{ ALT: () => nameOf(this.CONSUME(Label)) }, { ALT: () => unquote(this.CONSUME(StringText).image) }],
            });
          },
        },
      ]);
    });
    return alias;
  }

  private readonly tableReference: Rule<[], TableReference> = this.rule("tableReference", () => {
    const start = this.LA(1);
    const name = this.SUBRULE(this.objectName);
    this.OPTION(() => {
      const token = this.CONSUME(LeftParen);
      this.ACTION(() => this.refuse(`table function ${name.join(".")}`, token));
    });
    const alias = this.alias();
    this.OPTION2(() => {
      const token = this.CONSUME(Comma);
      this.ACTION(() => this.refuse("JOIN (more than one table in FROM)", token));
    });
    return { kind: "table", name, alias, span: spanOf(start) };
  });

  private readonly groupByClause: Rule<[], readonly Expression[]> = this.rule("groupByClause", () => {
    const keys: Expression[] = [];
    this.CONSUME(K.GROUP);
    this.CONSUME(K.BY);
    this.AT_LEAST_ONE_SEP({
      SEP: Comma,
      ERR_MSG: "an expression",
      DEF: () => {
        const start = this.LA(1);
        const key = this.SUBRULE(this.expression);
        this.ACTION(() => {
          if (key.kind === "call" && GROUPING_CALLS.has(key.name)) this.refuse(key.name.toUpperCase(), start);
        });
        keys.push(key);
      },
    });
    return keys;
  });

  /** `LIMIT n`, `LIMIT ALL`, `OFFSET m`, in either order, or `LIMIT m, n`. */
  private readonly limitClause: Rule<[], Window> = this.rule("limitClause", () => {
    let limit: Expression | undefined;
    let offset: Expression | undefined;
    const seen = new Set<string>();
    this.MANY(() => {
      const token = this.LA(1);
      this.ACTION(() => {
        const word = token.image.toUpperCase();
        if (seen.has(word)) this.fail(`${word} is written twice`, token);
        seen.add(word);
      });
      this.OR([
        {
          ALT: () => {
            this.CONSUME(K.LIMIT);
            this.OR2({
              ERR_MSG: "a number of rows",
              DEF: [
                { ALT: () => this.CONSUME(K.ALL) },
                {
                  ALT: () => {
                    limit = this.SUBRULE(this.expression);
                    this.OPTION(() => {
                      this.CONSUME(Comma);
                      offset = limit;
                      limit = this.SUBRULE2(this.expression);
                    });
                  },
                },
              ],
            });
          },
        },
        {
          ALT: () => {
            this.CONSUME(K.OFFSET);
            offset = this.SUBRULE3(this.expression);
            this.OPTION2(() => this.OR3([{ ALT: () => this.CONSUME(K.ROW) }, { ALT: () => this.CONSUME(K.ROWS) }]));
          },
        },
      ]);
    });
    return { limit, offset };
  });

  /** `DELETE FROM t [WHERE …]`. */
  protected readonly delete: Rule<[], Delete> = this.rule("delete", () => {
    const start = this.CONSUME(K.DELETE);
    this.CONSUME(K.FROM);
    const table = this.SUBRULE(this.objectName);
    let where: Expression | undefined;
    this.OPTION(() => {
      this.CONSUME(K.WHERE);
      where = this.SUBRULE(this.expression);
    });
    return { kind: "delete", table, where, span: spanOf(start) };
  });

  /** `INSERT [INTO] [TABLE] t [(a, b)] VALUES … | SELECT …`; REPLACE is the same. */
  protected readonly insert: Rule<[], Insert> = this.rule("insert", () => {
    const start = this.OR2([{ ALT: () => this.CONSUME(K.INSERT) }, { ALT: () => this.CONSUME(K.REPLACE) }]);
    this.CONSUME(K.INTO);
    this.OPTION(() => this.CONSUME(K.TABLE));
    const table = this.SUBRULE(this.objectName);
    let columns: readonly string[] | undefined;
    this.OPTION2({
      GATE: () => this.LA(2).tokenType !== K.SELECT,
      DEF: () => {
        columns = this.SUBRULE(this.nameList);
      },
    });
    const source = this.choose<Insert["source"]>({
      ERR_MSG: "VALUES or SELECT",
      DEF: [{ ALT: () => ({ kind: "values", rows: this.SUBRULE(this.valueRows) }) }, { ALT: () => this.SUBRULE(this.select) }],
    });
    this.OPTION3(() => {
      const token = this.CONSUME(K.ON);
      this.ACTION(() => this.refuse("INSERT … ON", token));
    });
    return { kind: "insert", table, columns, source, span: spanOf(start) };
  });

  private readonly valueRows: Rule<[], readonly (readonly Expression[])[]> = this.rule("valueRows", () => {
    const rows: (readonly Expression[])[] = [];
    this.CONSUME(K.VALUES);
    this.defaultAllowed = true;
    rows.push(this.SUBRULE(this.valueRow));
    this.MANY({
      GATE: () => this.LA(2).tokenType === LeftParen,
      DEF: () => {
        this.CONSUME(Comma);
        rows.push(this.SUBRULE2(this.valueRow));
      },
    });
    this.OPTION(() => this.CONSUME2(Comma));
    this.defaultAllowed = false;
    return rows;
  });

  /** `(1, 'a', DEFAULT)`; a comma may trail, here and after the rows. */
  private readonly valueRow: Rule<[], readonly Expression[]> = this.rule("valueRow", () => {
    const row: Expression[] = [];
    this.CONSUME(LeftParen);
    row.push(this.SUBRULE(this.expression));
    this.MANY({
      GATE: () => this.LA(2).tokenType !== RightParen,
      DEF: () => {
        this.CONSUME(Comma);
        row.push(this.SUBRULE2(this.expression));
      },
    });
    this.OPTION(() => this.CONSUME2(Comma));
    this.CONSUME(RightParen);
    return row;
  });
}
