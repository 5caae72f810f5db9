/**
 * What aggregates over sliding slices of time add to the grammar:
 *
 *   SELECT max(a) RANGE '10s' FILL PREV FROM t ALIGN '5s' TO NOW BY (host) FILL NULL
 *          └ rangeTail ──────────────┘        └ alignClause ─────────────────────┘
 */
import { EOF } from "chevrotain";
import type { AlignClause, Expression, FillClause } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { CallRules } from "./call-rules.ts";
import { Power } from "../../syntax/precedence.ts";
import { Comma, K, LeftParen, NumberText, RightParen, StringText } from "../../tokens/token.ts";
import { RECORDED } from "../base/recorded.ts";

/** Ends of a window's frame, which also begins with RANGE. */
const FRAME_ENDS: ReadonlySet<string> = new Set(["PRECEDING", "FOLLOWING"]);

/** What the value behind FILL means. */
function fillOf(value: Expression): FillClause {
  if (value.kind === "null") return { kind: "null" };
  const word = value.kind === "column" && value.name.length === 1 && !value.quoted ? value.name[0] : undefined;
  return word === "prev" || word === "linear" ? { kind: word } : { kind: "constant", value };
}

/** RANGE and ALIGN. */
export abstract class RangeRules extends CallRules {
  /** Whether the word RANGE that comes next begins a slice of time, not a frame of a window or a name. */
  protected rangeFollows(): boolean {
    const { tokenType } = this.LA(2);
    const endsFrame = (ahead: number): boolean => FRAME_ENDS.has(this.LA(ahead).image.toUpperCase());
    if (tokenType === LeftParen) return !endsFrame(this.afterParenthesis(2));
    if (tokenType !== StringText && tokenType !== NumberText && tokenType !== K.INTERVAL) return false;
    return ![3, 4, 5].some(endsFrame);
  }

  /** How many tokens ahead the one behind a parenthesis stands. */
  private afterParenthesis(ahead: number): number {
    let open = 0;
    for (let at = ahead; ; at++) {
      const { tokenType } = this.LA(at);
      if (tokenType === LeftParen) open++;
      else if (tokenType === EOF || (tokenType === RightParen && --open === 0)) return at + 1;
    }
  }

  /** `RANGE '10s' FILL PREV` behind an operand. */
  protected readonly rangeTail: Rule<[operand?: Expression], Expression> = this.rule("rangeTail", (operand = RECORDED) => {
    this.CONSUME(K.RANGE);
    const duration = this.SUBRULE(this.expression, { ARGS: [Power.cast] });
    const fill = this.OPTION(this.after(K.FILL, () => fillOf(this.SUBRULE2(this.expression, { ARGS: [Power.cast] }))));
    return { kind: "range", operand, duration, fill, span: operand.span };
  });

  /** `ALIGN '5s'`, then TO, BY and FILL in any order. */
  protected readonly alignClause: Rule<[], AlignClause> = this.rule("alignClause", () => {
    const start = this.CONSUME(K.ALIGN);
    const every = this.SUBRULE(this.expression);
    const seen = new Set<string>();
    let to: Expression | undefined;
    let by: Expression[] | undefined;
    let fill: FillClause | undefined;
    this.MANY(() => {
      const token = this.LA(1);
      this.ACTION(() => this.firstTime(token.image.toUpperCase(), token, seen));
      this.OR([
        {
          ALT: () => {
            this.CONSUME(K.TO);
            to = this.SUBRULE2(this.expression);
          },
        },
        {
          ALT: () => {
            this.CONSUME(K.BY);
            by = [];
            this.CONSUME(LeftParen);
            this.MANY_SEP({ SEP: Comma, DEF: () => by?.push(this.SUBRULE3(this.expression)) });
            this.CONSUME(RightParen);
          },
        },
        {
          ALT: () => {
            this.CONSUME(K.FILL);
            fill = fillOf(this.SUBRULE4(this.expression, { ARGS: [Power.cast] }));
          },
        },
      ]);
    });
    return { every, to, by, fill, span: spanOf(start) };
  });
}
