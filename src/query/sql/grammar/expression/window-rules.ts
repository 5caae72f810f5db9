/**
 * What makes a call a window call, and named windows:
 *
 *   over    ::= OVER name | OVER ( [name] [PARTITION BY …] [ORDER BY …] [frame] )
 *   frame   ::= (ROWS | RANGE | GROUPS) (edge | BETWEEN edge AND edge)
 *   edge    ::= UNBOUNDED (PRECEDING | FOLLOWING) | CURRENT ROW | expression (PRECEDING | FOLLOWING)
 *   windows ::= WINDOW name AS ( … ), …
 */
import type { IToken } from "chevrotain";
import type { Expression, FrameClause, FrameEdge, NamedWindow, OrderItem, WindowClause } from "../../syntax/ast.ts";
import type { Rule } from "../base/base-rules.ts";
import { nameOf } from "../../tokens/lexer.ts";
import { NestedRules } from "./nested-rules.ts";
import { Power } from "../../syntax/precedence.ts";
import { Comma, K, LeftParen, Name, RightParen } from "../../tokens/token.ts";

/** Names that begin another part of a window, and so are not the name of one. */
const PARTS: ReadonlySet<unknown> = new Set([K.PARTITION, K.ROWS, K.RANGE, K.GROUPS]);

/** Where a frame ends that says only where it begins. */
const CURRENT: FrameEdge = { kind: "current" };

/** What makes a call a window call. */
type WindowPart = Pick<Extract<Expression, { kind: "call" }>, "nulls" | "over">;

/** OVER and WINDOW. */
export abstract class WindowRules extends NestedRules {
  protected abstract readonly orderByClause: Rule<[], readonly OrderItem[]>;

  /** What may follow the arguments of a call: `IGNORE NULLS OVER w`. A part of `callTail`; uses OPTION6 and OPTION7 of that rule. */
  protected windowPart(): WindowPart {
    const nulls = this.OPTION6({
      // A column may be called `ignore`.
      GATE: () => this.LA(2).tokenType === K.NULLS,
      DEF: () => this.SUBRULE(this.nullTreatment),
    });
    const over = this.OPTION7(() => this.SUBRULE(this.overClause));
    return { ...(nulls && { nulls }), ...(over && { over }) };
  }

  /** The same behind the last argument: `f(a IGNORE NULLS)`. Uses OPTION8 of `callTail`. */
  protected innerNulls(): WindowPart["nulls"] {
    return this.OPTION8({
      GATE: () => this.LA(2).tokenType === K.NULLS,
      DEF: () => this.SUBRULE2(this.nullTreatment),
    });
  }

  /** `IGNORE NULLS`, `RESPECT NULLS`. */
  private readonly nullTreatment: Rule<[], "ignore" | "respect"> = this.rule("nullTreatment", () => {
    const treatment = this.meaningOf("IGNORE NULLS or RESPECT NULLS", { ignore: K.IGNORE, respect: K.RESPECT });
    this.CONSUME(K.NULLS);
    return treatment;
  });

  private readonly overClause: Rule<[], WindowClause> = this.rule("overClause", () => {
    this.CONSUME(K.OVER);
    return this.choose<WindowClause>({
      ERR_MSG: "a window in parentheses or the name of one",
      DEF: [
        { ALT: () => this.SUBRULE(this.windowDefinition) },
        { ALT: () => ({ base: this.SUBRULE(this.identifier), partitionBy: [], orderBy: [], frame: undefined }) },
      ],
    });
  });

  /** `WINDOW w AS (…), v AS (w ORDER BY …)`. */
  protected readonly windowsClause: Rule<[], readonly NamedWindow[]> = this.rule("windowsClause", () => {
    const windows: NamedWindow[] = [];
    this.CONSUME(K.WINDOW);
    this.AT_LEAST_ONE_SEP({
      SEP: Comma,
      ERR_MSG: "the name of a window",
      DEF: () => {
        const name = this.SUBRULE(this.identifier);
        this.CONSUME(K.AS);
        windows.push({ name, window: this.SUBRULE(this.windowDefinition) });
      },
    });
    return windows;
  });

  private readonly windowDefinition: Rule<[], WindowClause> = this.rule("windowDefinition", () => {
    const partitionBy: Expression[] = [];
    this.CONSUME(LeftParen);
    const base = this.OPTION({
      GATE: () => !PARTS.has(this.LA(1).tokenType),
      DEF: () => nameOf(this.CONSUME(Name)),
    });
    this.OPTION2(() => {
      this.words(K.PARTITION, K.BY);
      this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => partitionBy.push(this.SUBRULE(this.expression)), ERR_MSG: "an expression" });
    });
    const orderBy = this.OPTION3(() => this.SUBRULE(this.orderByClause)) ?? [];
    const frame = this.OPTION4(() => this.SUBRULE(this.frameClause));
    this.CONSUME(RightParen);
    return { base, partitionBy, orderBy, frame };
  });

  private readonly frameClause: Rule<[], FrameClause> = this.rule("frameClause", () => {
    const unit = this.meaningOf("ROWS, RANGE or GROUPS", { rows: K.ROWS, range: K.RANGE, groups: K.GROUPS });
    let start: FrameEdge = CURRENT;
    let end: FrameEdge = CURRENT;
    this.OR2({
      ERR_MSG: "where the frame begins",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(K.BETWEEN);
            start = this.SUBRULE(this.frameEdge, { ARGS: [true] });
            this.CONSUME(K.AND);
            end = this.SUBRULE2(this.frameEdge, { ARGS: [false] });
          },
        },
        {
          ALT: () => {
            start = this.SUBRULE3(this.frameEdge, { ARGS: [true] });
          },
        },
      ],
    });
    this.ACTION(() => {
      const next = this.LA(1);
      if (next.tokenType === K.EXCLUDE) this.refuse("EXCLUDE in a window frame", next);
    });
    return { unit, start, end };
  });

  private readonly frameEdge: Rule<[isStart?: boolean], FrameEdge> = this.rule("frameEdge", (isStart = true) => {
    const first = this.LA(1);
    return this.choose<FrameEdge>({
      ERR_MSG: "UNBOUNDED, CURRENT ROW or a distance",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(K.UNBOUNDED);
            const isPreceding = this.SUBRULE(this.isPreceding);
            this.ACTION(() => this.checkUnbounded(isStart, isPreceding, first));
            return { kind: "unbounded" };
          },
          IGNORE_AMBIGUITIES: true,
        },
        {
          ALT: this.after([K.CURRENT, K.ROW], () => CURRENT),
          IGNORE_AMBIGUITIES: true,
        },
        {
          ALT: () => {
            // AND belongs to BETWEEN here.
            const offset = this.SUBRULE(this.expression, { ARGS: [Power.predicate] });
            return { kind: "offset", direction: this.SUBRULE2(this.isPreceding) ? "preceding" : "following", offset };
          },
        },
      ],
    });
  });

  private checkUnbounded(isStart: boolean, isPreceding: boolean, token: IToken): void {
    if (isStart && !isPreceding) this.fail("a window frame cannot begin at UNBOUNDED FOLLOWING", token);
    if (!isStart && isPreceding) this.fail("a window frame cannot end at UNBOUNDED PRECEDING", token);
  }

  private readonly isPreceding: Rule<[], boolean> = this.rule("isPreceding", () => {
    const token = this.OR({
      ERR_MSG: "PRECEDING or FOLLOWING",
      DEF: [{ ALT: () => this.CONSUME(K.PRECEDING) }, { ALT: () => this.CONSUME(K.FOLLOWING) }],
    });
    return token.tokenType === K.PRECEDING;
  });
}
