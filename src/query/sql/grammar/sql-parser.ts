/**
 * The whole grammar: statements separated by `;`. Building one costs some milliseconds, so there is one, made when first needed
 * (`parse.ts`); it keeps state while it parses and is not reentrant.
 */
import type { IToken } from "chevrotain";
import type { ExplainFormat } from "../syntax/ast.ts";
import { type Rule, spanOf } from "./base/base-rules.ts";
import { type FinishedRules, type Marks, newMarks } from "./base/finished-rules.ts";
import { nameOf } from "../tokens/lexer.ts";
import { SessionRules } from "./statement/session-rules.ts";
import type { Statement } from "../syntax/statement-ast.ts";
import { K, Name, Semicolon } from "../tokens/token.ts";

/** The parser of SQL texts: `begin`, then `script`, then look at `errors`. */
export class SqlParser extends SessionRules {
  constructor(validate = false) {
    super(validate);
    this.performSelfAnalysis();
  }

  /**
   * Takes a new text and its tokens.
   *
   * @param marks of what stands before them; changed
   * @param finished what was read of them before; with it `script` throws `Stop` when it is time
   */
  begin(text: string, tokens: IToken[], marks: Marks, finished?: FinishedRules): void {
    this.text = text;
    this.marks = marks;
    this.finished = finished;
    this.resetExpressions();
    this.input = tokens;
  }

  /** Forgets text and tokens, which may be large. */
  end(): void {
    this.begin("", [], newMarks());
  }

  /** Statements of the text; empty ones are skipped. Look at `errors` before using them. */
  readonly script: Rule<[], readonly Statement[]> = this.rule("script", () => {
    const statements: Statement[] = [];
    this.MANY(() => this.CONSUME(Semicolon));
    this.OPTION(() => {
      statements.push(this.SUBRULE(this.statement));
      this.MANY2(() => {
        this.CONSUME2(Semicolon);
        this.OPTION2(() => {
          statements.push(this.SUBRULE2(this.statement));
        });
      });
    });
    return statements;
  });

  private readonly statement: Rule<[], Statement> = this.rule("statement", () =>
    this.choose<Statement>({
      ERR_MSG: "a statement",
      DEF: [
        { ALT: () => this.SUBRULE(this.query) },
        { ALT: () => this.SUBRULE(this.insert) },
        { ALT: () => this.SUBRULE(this.delete) },
        { ALT: () => this.SUBRULE(this.update) },
        { ALT: () => this.SUBRULE(this.create) },
        { ALT: () => this.SUBRULE(this.drop) },
        { ALT: () => this.SUBRULE(this.alter) },
        { ALT: () => this.SUBRULE(this.truncate) },
        { ALT: () => this.SUBRULE(this.comment) },
        { ALT: () => this.SUBRULE(this.show) },
        { ALT: () => this.SUBRULE(this.describe) },
        { ALT: () => this.SUBRULE(this.use) },
        { ALT: () => this.SUBRULE(this.set) },
        { ALT: () => this.SUBRULE(this.admin) },
        { ALT: () => this.SUBRULE(this.kill) },
        { ALT: () => this.SUBRULE(this.explain) },
        { ALT: () => this.SUBRULE(this.copy) },
        { ALT: () => this.SUBRULE(this.tql) },
        { ALT: () => this.SUBRULE(this.prepare) },
        { ALT: () => this.SUBRULE(this.execute) },
        { ALT: () => this.SUBRULE(this.deallocate) },
        { ALT: () => this.SUBRULE(this.declareCursor) },
        { ALT: () => this.SUBRULE(this.fetch) },
        { ALT: () => this.SUBRULE(this.closeCursor) },
      ],
    }),
  );

  /** `EXPLAIN [ANALYZE] [VERBOSE] [FORMAT TEXT|JSON|GRAPHVIZ] statement`. */
  private readonly explain: Rule<[], Statement> = this.rule("explain", () => {
    const start = this.CONSUME(K.EXPLAIN);
    let analyze = false;
    let verbose = false;
    let format: ExplainFormat = "text";
    this.OPTION(() => {
      this.CONSUME(K.ANALYZE);
      analyze = true;
    });
    this.OPTION2(() => {
      this.CONSUME(K.VERBOSE);
      verbose = true;
    });
    this.OPTION3(() => {
      this.CONSUME(K.FORMAT);
      const token = this.CONSUME(Name);
      format = this.ACTION(() => this.explainFormat(token, analyze)) ?? "text";
    });
    this.ACTION(() => {
      // Also keeps `EXPLAIN EXPLAIN …` from recursing.
      if (this.LA(1).tokenType === K.EXPLAIN) this.fail("cannot explain an EXPLAIN", this.LA(1));
    });
    return { kind: "explain", analyze, verbose, format, statement: this.SUBRULE(this.statement), span: spanOf(start) };
  });

  private explainFormat(token: IToken, analyze: boolean): ExplainFormat {
    const name = nameOf(token).toLowerCase();
    if (name === "graphviz" && analyze) return this.refuse("EXPLAIN ANALYZE FORMAT GRAPHVIZ", token);
    if (name === "text" || name === "json" || name === "graphviz") return name;
    return this.fail(`found '${name}', expected TEXT, JSON or GRAPHVIZ`, token);
  }
}
