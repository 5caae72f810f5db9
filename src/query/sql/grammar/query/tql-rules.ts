/** TQL: PromQL among SQL (contract query.md 6.6). What stands between its parentheses is SQL; the query itself is one token. */
import type { ExplainFormat, Expression, Tql, TqlRange } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { nameOf } from "../../tokens/lexer.ts";
import { QueryRules } from "./query-rules.ts";
import { syntaxError, positionOf } from "../../tokens/syntax-error.ts";
import { Comma, K, Label, LeftParen, Name, PromqlText, RightParen } from "../../tokens/token.ts";

/** TQL statements. */
export abstract class TqlRules extends QueryRules {
  /** `TQL EVAL (start, end, step [, lookback]) promql [AS alias]`, `TQL EXPLAIN | ANALYZE [VERBOSE] [FORMAT f] […] promql`. */
  protected readonly tql: Rule<[], Tql> = this.rule("tql", () => {
    const start = this.CONSUME(K.TQL);
    const mode = this.meaningOf("EVAL, EXPLAIN or ANALYZE", {
      eval: [K.EVAL, K.EVALUATE],
      explain: K.EXPLAIN,
      analyze: K.ANALYZE,
    });
    const verbose =
      this.OPTION({
        GATE: () => mode !== "eval",
        DEF: this.after(K.VERBOSE, () => true),
      }) ?? false;
    let format: ExplainFormat = "text";
    this.OPTION2({
      GATE: () => mode !== "eval",
      DEF: () => {
        this.CONSUME(K.FORMAT);
        const token = this.CONSUME(Name);
        // With another word PromQL begins at FORMAT (`tql-text.ts`).
        format = nameOf(token) as ExplainFormat;
      },
    });
    const range = this.OPTION3(() => this.SUBRULE(this.tqlRange));
    const query = this.CONSUME(PromqlText);
    const alias = this.OPTION5(this.after(K.AS, () => nameOf(this.CONSUME(Label))));
    const promql = query.image;
    return { kind: "tql", mode, verbose, format, range, promql, promqlSpan: spanOf(query), alias, span: spanOf(start) };
  });

  /** `(start, end, step [, lookback])`; a comma may follow. */
  private readonly tqlRange: Rule<[], TqlRange> = this.rule("tqlRange", () => {
    const start = this.CONSUME(LeftParen);
    const values: Expression[] = [];
    this.MANY_SEP({ SEP: Comma, DEF: () => values.push(this.SUBRULE(this.expression)) });
    this.CONSUME(RightParen);
    this.OPTION(() => this.CONSUME(Comma));
    return this.ACTION((): TqlRange => {
      const [from, to, step, lookback] = values;
      if (from === undefined || to === undefined || step === undefined || values.length > 4) {
        return this.failTql(`found ${values.length} values, expected (start, end, step) or (start, end, step, lookback)`, start);
      }
      return { start: from, end: to, step, lookback };
    });
  });

  private failTql(why: string, token: Parameters<typeof positionOf>[0]): never {
    throw syntaxError(why, positionOf(token, this.text), "TQL");
  }
}
