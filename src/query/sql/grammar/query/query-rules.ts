/**
 * Queries: SELECT, VALUES, set operations, WITH.
 *
 *   query  ::= [WITH name AS (query), …] union [ORDER BY …] [LIMIT …]
 *   union  ::= meet {(UNION | EXCEPT) [ALL] meet}
 *   meet   ::= part {INTERSECT [ALL] part}
 *   part   ::= SELECT … | VALUES … | (query)
 */
import { SET_OPERATIONS_MAX } from "../../../../base/limits.ts";
import type {
  AlignClause,
  CommonTable,
  Expression,
  NamedWindow,
  Query,
  QueryEnd,
  RelationAlias,
  Select,
  SelectItem,
  SetOperation,
  StarReplacement,
  TableReference,
  Tql,
} from "../../syntax/ast.ts";
import { NO_END, plainSelect } from "../../syntax/plain-trees.ts";
import type { RowBlock, ValueRows } from "../../syntax/value-rows.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { GroupingRules } from "./grouping-rules.ts";
import { nameOf } from "../../tokens/lexer.ts";
import { Comma, ConstantRows, K, LeftParen, RightParen, Star } from "../../tokens/token.ts";

/** The rows that a query keeps. */
interface Window {
  readonly limit: Expression | undefined;
  readonly offset: Expression | undefined;
}

/** What stands behind a `*`. */
type StarTail = Pick<Extract<SelectItem, { kind: "star" }>, "excluded" | "replaced">;

/** A query with an end. One that has an end of its own, in parentheses, becomes a relation of FROM. */
function withEnd(query: Query, end: QueryEnd): Query {
  if (end.orderBy.length === 0 && end.limit === undefined && end.offset === undefined) return query;
  if (query.kind !== "with" && query.orderBy.length === 0 && query.limit === undefined && query.offset === undefined)
    return { ...query, ...end };
  const { span } = query;
  const from: TableReference = { kind: "derived", query, lateral: false, alias: undefined, span };
  const items: readonly SelectItem[] = [{ kind: "star", table: undefined, span }];
  return plainSelect({ items, from, ...end, span });
}

/** Queries. */
export abstract class QueryRules extends GroupingRules {
  protected abstract readonly tql: Rule<[], Tql>;
  protected readonly query: Rule<[], Query> = this.rule("query", () => {
    const start = this.LA(1);
    const tables: CommonTable[] = [];
    this.ACTION(() => this.enter(start));
    let recursive = false;
    this.OPTION(() => {
      this.CONSUME(K.WITH);
      this.OPTION3({
        // A query may be called `recursive`.
        GATE: () => ![K.AS, LeftParen].includes(this.LA(2).tokenType),
        DEF: () => {
          this.CONSUME(K.RECURSIVE);
          recursive = true;
        },
      });
      this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => tables.push(this.SUBRULE(this.commonTable)), ERR_MSG: "a name" });
    });
    const body = this.SUBRULE(this.union);
    const orderBy = this.OPTION2(() => this.SUBRULE(this.orderByClause)) ?? [];
    const { limit, offset } = this.SUBRULE(this.limitClause) ?? {};
    return this.ACTION(() => {
      this.leave();
      const query = withEnd(body, { orderBy, limit, offset });
      if (tables.length === 0) return query;
      return { kind: "with", ...(recursive && { recursive }), tables, query, span: spanOf(start) };
    });
  });

  /** `a (x, y) AS (query)` of a WITH. */
  private readonly commonTable: Rule<[], CommonTable> = this.rule("commonTable", () => {
    const start = this.LA(1);
    const name = this.SUBRULE(this.identifier);
    const columns = this.OPTION(() => this.SUBRULE(this.nameList)) ?? [];
    this.words(K.AS, LeftParen);
    const first = this.LA(1);
    const query = this.choose<CommonTable["query"]>({
      ERR_MSG: "a query",
      DEF: [{ ALT: () => this.SUBRULE(this.tql) }, { ALT: () => this.SUBRULE(this.query) }],
    });
    this.ACTION(() => {
      if (query.kind === "tql" && query.mode !== "eval") this.fail("only TQL EVAL is served in WITH", first);
    });
    this.CONSUME(RightParen);
    const alias: RelationAlias = { name, columns };
    return { alias, query, span: spanOf(start) };
  });

  private readonly union: Rule<[], Query> = this.rule("union", () => {
    let left = this.SUBRULE(this.meet);
    this.MANY(() => {
      const operator = this.meaningOf("UNION or EXCEPT", { union: K.UNION, except: K.EXCEPT });
      const all = this.SUBRULE(this.isAll);
      left = this.setOperation(operator, all, left, this.SUBRULE2(this.meet));
    });
    return left;
  });

  private readonly meet: Rule<[], Query> = this.rule("meet", () => {
    let left = this.SUBRULE(this.part);
    this.MANY(() => {
      this.CONSUME(K.INTERSECT);
      const all = this.SUBRULE(this.isAll);
      left = this.setOperation("intersect", all, left, this.SUBRULE2(this.part));
    });
    return left;
  });

  private setOperation(operator: SetOperation["operator"], all: boolean, left: Query, right: Query): Query {
    return this.ACTION(() => {
      if (++this.marks.setOperations > SET_OPERATIONS_MAX)
        this.fail(`the statement has more than ${SET_OPERATIONS_MAX} set operations; use VALUES, or several statements`, this.LA(1));
      return { kind: "set-operation", operator, all, left, right, ...NO_END, span: left.span };
    });
  }

  /** `ALL`, `DISTINCT` or nothing behind a set operator. */
  private readonly isAll: Rule<[], boolean> = this.rule("isAll", () => {
    return (
      this.OPTION(() => {
        const token = this.OR([{ ALT: () => this.CONSUME(K.ALL) }, { ALT: () => this.CONSUME(K.DISTINCT) }]);
        return token.tokenType === K.ALL;
      }) ?? false
    );
  });

  private readonly part: Rule<[], Query> = this.rule("part", () => {
    const start = this.LA(1);
    return this.choose<Query>({
      ERR_MSG: "a query",
      DEF: [
        { ALT: () => this.SUBRULE(this.select) },
        { ALT: () => ({ kind: "values-query", rows: this.SUBRULE(this.valueRows), ...NO_END, span: spanOf(start) }) },
        {
          ALT: () => {
            this.CONSUME(LeftParen);
            const query = this.SUBRULE(this.query);
            this.CONSUME(RightParen);
            return query;
          },
        },
      ],
    });
  });

  /** One SELECT without what ends a query. */
  private readonly select: Rule<[], Select> = this.rule("select", () => {
    const start = this.CONSUME(K.SELECT);
    let distinct = false;
    let windows: readonly NamedWindow[] | undefined;
    let qualify: Expression | undefined;
    let distinctOn: readonly Expression[] = [];
    let align: AlignClause | undefined;
    this.OPTION(() => {
      distinct = this.meaningOf("DISTINCT or ALL", { distinct: K.DISTINCT, all: K.ALL }) === "distinct";
      this.OPTION6({
        GATE: () => distinct,
        DEF: () => {
          this.words(K.ON, LeftParen);
          distinctOn = this.SUBRULE(this.expressionList);
          this.CONSUME(RightParen);
        },
      });
    });
    const items = this.items((step) => this.subrule(step, this.selectItem), K.FROM);
    const from = this.OPTION2(this.after(K.FROM, () => this.SUBRULE(this.fromClause)));
    const where = this.OPTION3(this.after(K.WHERE, () => this.SUBRULE(this.expression)));
    const grouping = this.OPTION4(() => this.SUBRULE(this.groupByClause)) ?? { groupBy: [] };
    const having = this.OPTION5(this.after(K.HAVING, () => this.SUBRULE2(this.expression)));
    // In either order.
    this.OPTION8(() => {
      this.CONSUME(K.QUALIFY);
      qualify = this.SUBRULE3(this.expression);
    });
    this.OPTION9(() => {
      windows = this.SUBRULE(this.windowsClause);
      this.option(10, {
        GATE: () => qualify === undefined,
        DEF: () => {
          this.CONSUME2(K.QUALIFY);
          qualify = this.SUBRULE4(this.expression);
        },
      });
    });
    this.option(11, () => {
      align = this.SUBRULE(this.alignClause);
    });
    const extra = { ...(windows && { windows }), ...(qualify && { qualify }), align };
    return { kind: "select", distinct, distinctOn, items, from, where, ...grouping, having, ...extra, ...NO_END, span: spanOf(start) };
  });

  private readonly selectItem: Rule<[], SelectItem> = this.rule("selectItem", () => {
    const start = this.LA(1);
    return this.choose<SelectItem>({
      ERR_MSG: "a column or expression",
      DEF: [
        {
          ALT: () => {
            const span = spanOf(this.CONSUME(Star));
            return { kind: "star", table: undefined, ...this.SUBRULE(this.starTail), span };
          },
        },
        {
          ALT: () => {
            this.starAfter = start;
            this.marks.qualifiedStar = undefined;
            const expression = this.SUBRULE(this.expression);
            const star = this.marks.qualifiedStar;
            this.starAfter = undefined;
            const tail = this.OPTION({
              GATE: () => star !== undefined,
              DEF: () => this.SUBRULE2(this.starTail),
            });
            const alias = this.alias();
            return this.ACTION(() => {
              if (star === undefined) return { kind: "expression", expression, alias };
              if (star !== expression || alias !== undefined) this.fail(`${nameOf(start)}.* can only stand alone`, start);
              return { kind: "star", table: nameOf(start), ...tail, span: spanOf(start) };
            });
          },
        },
      ],
    });
  });

  /** `EXCLUDE (a, b)` or `EXCEPT (a, b)`, then `REPLACE (expression AS a)`, behind `*`. */
  private readonly starTail: Rule<[], StarTail> = this.rule("starTail", () => {
    const replaced: StarReplacement[] = [];
    const excluded = this.OPTION({
      // EXCEPT begins another query too.
      GATE: () => this.LA(1).tokenType !== K.EXCEPT || (this.LA(2).tokenType === LeftParen && !this.beginsQuery(3)),
      DEF: () => {
        this.OR2([{ ALT: () => this.CONSUME(K.EXCLUDE) }, { ALT: () => this.CONSUME(K.EXCEPT) }]);
        return this.choose<readonly string[]>({
          ERR_MSG: "names of columns",
          DEF: [{ ALT: () => this.SUBRULE(this.nameList) }, { ALT: () => [this.SUBRULE(this.identifier)] }],
        });
      },
    });
    this.OPTION2(() => {
      this.words(K.REPLACE, LeftParen);
      this.AT_LEAST_ONE_SEP({
        SEP: Comma,
        ERR_MSG: "a value AS a column",
        DEF: () => {
          const expression = this.SUBRULE(this.expression);
          this.CONSUME(K.AS);
          replaced.push({ expression, column: this.SUBRULE2(this.identifier) });
        },
      });
      this.CONSUME(RightParen);
    });
    return { ...(excluded !== undefined && { excluded }), ...(replaced.length > 0 && { replaced }) };
  });

  /** `LIMIT n`, `LIMIT ALL`, `OFFSET m`, in either order, `LIMIT m, n`, or `FETCH FIRST n ROWS ONLY` for LIMIT. */
  private readonly limitClause: Rule<[], Window> = this.rule("limitClause", () => {
    let limit: Expression | undefined;
    let offset: Expression | undefined;
    const seen = new Set<string>();
    this.MANY(() => {
      const token = this.LA(1);
      this.ACTION(() => {
        const written = token.image.toUpperCase();
        this.firstTime(written === "FETCH" ? "LIMIT" : written, token, seen);
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
        {
          ALT: () => {
            limit = this.SUBRULE(this.fetchClause);
          },
        },
      ]);
    });
    return { limit, offset };
  });

  /** `FETCH {FIRST | NEXT} [n] {ROW | ROWS} ONLY`. */
  private readonly fetchClause: Rule<[], Expression> = this.rule("fetchClause", () => {
    this.CONSUME(K.FETCH);
    this.OR({ ERR_MSG: "FIRST or NEXT", DEF: [{ ALT: () => this.CONSUME(K.FIRST) }, { ALT: () => this.CONSUME(K.NEXT) }] });
    const count = this.OPTION({
      GATE: () => this.LA(1).tokenType !== K.ROW && this.LA(1).tokenType !== K.ROWS,
      DEF: () => this.SUBRULE(this.expression),
    });
    const end = this.OR2({ ERR_MSG: "ROWS", DEF: [{ ALT: () => this.CONSUME(K.ROW) }, { ALT: () => this.CONSUME2(K.ROWS) }] });
    this.CONSUME(K.ONLY);
    return count ?? { kind: "number", text: "1", span: spanOf(end) };
  });

  /** `VALUES (1, 'a'), (2, 'b')`; long lists of constants come in blocks (`row-lists.ts`). */
  protected readonly valueRows: Rule<[], ValueRows<Expression>> = this.rule("valueRows", () => {
    const blocks: RowBlock<Expression>[] = [];
    let trees: (readonly Expression[])[] | undefined;
    const take = (found: ValueRows<Expression>): void =>
      this.ACTION(() => {
        for (const block of found) {
          if (block.kind !== "trees") {
            trees = undefined;
            blocks.push(block);
            continue;
          }
          if (trees === undefined) blocks.push({ kind: "trees", rows: (trees = []) });
          for (const row of block.rows) trees.push(row);
        }
      });
    this.CONSUME(K.VALUES);
    take(this.SUBRULE(this.rowOrRows));
    this.MANY({
      GATE: () => this.LA(2).tokenType === LeftParen || this.LA(2).tokenType === ConstantRows,
      DEF: () => {
        this.CONSUME(Comma);
        take(this.SUBRULE2(this.rowOrRows));
      },
    });
    this.OPTION(() => this.CONSUME2(Comma));
    return blocks;
  });

  private readonly rowOrRows: Rule<[], ValueRows<Expression>> = this.rule("rowOrRows", () =>
    this.choose<ValueRows<Expression>>({
      ERR_MSG: "'('",
      DEF: [
        { ALT: () => [{ kind: "trees", rows: [this.SUBRULE(this.valueRow)] }] },
        { ALT: () => (this.CONSUME(ConstantRows).payload ?? []) as ValueRows<Expression> },
      ],
    }),
  );

  /** `(1, 'a', DEFAULT)`; a comma may trail, here and after the rows. Not `items`, which costs 3 % of a long INSERT. */
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
