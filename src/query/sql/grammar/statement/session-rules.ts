/** Prepared statements and cursors, which belong to a session (contract query.md 1.11, 4.1). */
import { EOF } from "chevrotain";
import type { Expression } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { CopyRules } from "./copy-rules.ts";
import type { CursorStatement, PreparedStatement } from "../../syntax/statement-ast.ts";
import { Comma, K, NumberText, Semicolon } from "../../tokens/token.ts";

/** PREPARE, EXECUTE, DEALLOCATE; DECLARE, FETCH, CLOSE. */
export abstract class SessionRules extends CopyRules {
  /** `PREPARE name FROM 'statement'`. */
  protected readonly prepare: Rule<[], PreparedStatement> = this.rule("prepare", () => {
    const start = this.CONSUME(K.PREPARE);
    const name = this.SUBRULE(this.identifier);
    this.CONSUME(K.FROM);
    return { kind: "prepare", name, text: this.SUBRULE(this.stringValue), span: spanOf(start) };
  });

  /** `EXECUTE name [USING value, …]`. */
  protected readonly execute: Rule<[], PreparedStatement> = this.rule("execute", () => {
    const start = this.CONSUME(K.EXECUTE);
    const name = this.SUBRULE(this.identifier);
    const values: Expression[] = [];
    this.OPTION(() => {
      this.CONSUME(K.USING);
      this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => values.push(this.SUBRULE(this.expression)), ERR_MSG: "a value" });
    });
    return { kind: "execute", name, values, span: spanOf(start) };
  });

  /** `DEALLOCATE [PREPARE] name | ALL`. */
  protected readonly deallocate: Rule<[], PreparedStatement> = this.rule("deallocate", () => {
    const start = this.CONSUME(K.DEALLOCATE);
    this.OPTION({
      // A statement may be called `prepare`.
      GATE: () => ![EOF, Semicolon].includes(this.LA(2).tokenType),
      DEF: () => this.CONSUME(K.PREPARE),
    });
    let name: string | undefined;
    this.OR({
      ERR_MSG: "the name of a prepared statement",
      DEF: [
        {
          ALT: () => {
            name = this.SUBRULE(this.identifier);
          },
        },
        { ALT: () => this.CONSUME(K.ALL) },
      ],
    });
    return { kind: "deallocate", name, span: spanOf(start) };
  });

  /** `DECLARE name CURSOR FOR query`. */
  protected readonly declareCursor: Rule<[], CursorStatement> = this.rule("declareCursor", () => {
    const start = this.CONSUME(K.DECLARE);
    const name = this.SUBRULE(this.identifier);
    this.words(K.CURSOR, K.FOR);
    return { kind: "declare-cursor", name, query: this.SUBRULE(this.queryOrTql), span: spanOf(start) };
  });

  /** `FETCH n {FROM | IN} name`. */
  protected readonly fetch: Rule<[], CursorStatement> = this.rule("fetch", () => {
    const start = this.CONSUME(K.FETCH);
    const number = this.CONSUME(NumberText);
    this.OR({ ERR_MSG: "FROM or IN", DEF: [{ ALT: () => this.CONSUME(K.FROM) }, { ALT: () => this.CONSUME(K.IN) }] });
    const name = this.SUBRULE(this.identifier);
    const count = this.ACTION(() => {
      const value = Number(number.image);
      if (!Number.isSafeInteger(value)) this.fail(`found '${number.image.slice(0, 40)}', expected a whole number of rows`, number);
      return value;
    });
    return { kind: "fetch", name, count, span: spanOf(start) };
  });

  /** `CLOSE name`. */
  protected readonly closeCursor: Rule<[], CursorStatement> = this.rule("closeCursor", () => {
    const start = this.CONSUME(K.CLOSE);
    return { kind: "close-cursor", name: this.SUBRULE(this.identifier), span: spanOf(start) };
  });
}
