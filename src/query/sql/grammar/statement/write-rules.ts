/**
 * INSERT, UPDATE and DELETE.
 */
import { type Rule, spanOf } from "../base/base-rules.ts";
import type { Assignment, Delete, Insert, Update } from "../../syntax/statement-ast.ts";
import { TqlRules } from "../query/tql-rules.ts";
import { Comma, Equal, K } from "../../tokens/token.ts";

/** INSERT, UPDATE and DELETE. */
export abstract class WriteRules extends TqlRules {
  /** `DELETE FROM t [WHERE …]`. */
  protected readonly delete: Rule<[], Delete> = this.rule("delete", () => {
    const start = this.CONSUME(K.DELETE);
    this.CONSUME(K.FROM);
    const table = this.SUBRULE(this.objectName);
    const where = this.OPTION(this.after(K.WHERE, () => this.SUBRULE(this.expression)));
    return { kind: "delete", table, where, span: spanOf(start) };
  });

  /** `UPDATE t [AS a] SET b = c, d = DEFAULT [WHERE …]`. */
  protected readonly update: Rule<[], Update> = this.rule("update", () => {
    const start = this.CONSUME(K.UPDATE);
    const table = this.SUBRULE(this.objectName);
    const alias = this.alias();
    const assignments: Assignment[] = [];
    this.CONSUME(K.SET);
    this.defaultAllowed = true;
    this.AT_LEAST_ONE_SEP({
      SEP: Comma,
      ERR_MSG: "column = value",
      DEF: () => {
        const column = this.SUBRULE2(this.objectName);
        this.CONSUME(Equal);
        assignments.push({ column, value: this.SUBRULE(this.expression) });
      },
    });
    this.defaultAllowed = false;
    const where = this.OPTION(this.after(K.WHERE, () => this.SUBRULE2(this.expression)));
    return { kind: "update", table, alias, assignments, where, span: spanOf(start) };
  });

  /** `INSERT [INTO] [TABLE] t [(a, b)] VALUES … | SELECT …`; REPLACE is the same. */
  protected readonly insert: Rule<[], Insert> = this.rule("insert", () => {
    const start = this.OR2([{ ALT: () => this.CONSUME(K.INSERT) }, { ALT: () => this.CONSUME(K.REPLACE) }]);
    this.CONSUME(K.INTO);
    this.OPTION(() => this.CONSUME(K.TABLE));
    const table = this.SUBRULE(this.objectName);
    const columns = this.OPTION2({
      GATE: () => !this.parenthesisIsQuery(1),
      DEF: () => this.SUBRULE(this.nameList),
    });
    const source = this.choose<Insert["source"]>({
      ERR_MSG: "VALUES or SELECT",
      DEF: [{ ALT: () => this.givenRows(), IGNORE_AMBIGUITIES: true }, { ALT: () => this.SUBRULE(this.query) }],
    });
    this.OPTION3(() => {
      const token = this.CONSUME(K.ON);
      this.ACTION(() => this.refuse("INSERT … ON", token));
    });
    return { kind: "insert", table, columns, source, span: spanOf(start) };
  });

  /** VALUES of an INSERT, where DEFAULT may stand. A part of `insert`. */
  private givenRows(): Insert["source"] {
    this.defaultAllowed = true;
    const rows = this.SUBRULE(this.valueRows);
    this.defaultAllowed = false;
    return { kind: "values", rows };
  }
}
