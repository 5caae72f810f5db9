/**
 * COPY and CREATE EXTERNAL TABLE's options (contract query.md 1.10):
 *
 *   COPY [TABLE] t | DATABASE d | (query)  TO | FROM  'location'  [WITH (…)] [CONNECTION (…)] [LIMIT n]
 */
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import type { Query } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { ShowRules } from "./show-rules.ts";
import type { Copy } from "../../syntax/statement-ast.ts";
import { quote } from "../../tokens/syntax-error.ts";
import { K, LeftParen, NumberText, RightParen } from "../../tokens/token.ts";

/** COPY. */
export abstract class CopyRules extends ShowRules {
  protected readonly copy: Rule<[], Copy> = this.rule("copy", () => {
    const start = this.CONSUME(K.COPY);
    const subject = this.SUBRULE(this.copySubject);
    const direction = this.meaningOf("TO or FROM", { to: K.TO, from: K.FROM });
    this.ACTION(() => {
      const place = this.LA(1);
      if (/^std(in|out)$/i.test(place.image)) this.refuse(`COPY … ${place.image.toUpperCase()} outside the PostgreSQL protocol`, place);
      if (direction === "from" && subject.kind === "query") this.fail("a query takes no rows: COPY (query) goes TO a file", place);
    });
    const location = this.SUBRULE(this.stringValue);
    const options = this.OPTION(() => this.SUBRULE(this.withOptions)) ?? {};
    const connection = this.OPTION2(this.after(K.CONNECTION, () => this.SUBRULE(this.optionList))) ?? {};
    const limit = this.OPTION3(this.after(K.LIMIT, () => this.SUBRULE(this.rowLimit)));
    this.ACTION(() => {
      // The words are the contract's.
      if (limit !== undefined && subject.kind === "database")
        throw new DbError(StatusCode.InvalidSyntax, "Invalid SQL, error: limit is not supported");
    });
    return { kind: "copy", subject, direction, location, options, connection, limit, span: spanOf(start) };
  });

  private readonly copySubject: Rule<[], Copy["subject"]> = this.rule("copySubject", () =>
    this.choose<Copy["subject"]>({
      ERR_MSG: "a table, DATABASE or a query in parentheses",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(LeftParen);
            const query: Query = this.SUBRULE(this.query);
            this.CONSUME(RightParen);
            return { kind: "query", query };
          },
        },
        { ALT: this.after(K.TABLE, () => ({ kind: "table", name: this.SUBRULE(this.objectName) })) },
        {
          // A table may be called `database`.
          GATE: () => ![K.TO, K.FROM].includes(this.LA(2).tokenType),
          ALT: this.after(K.DATABASE, () => ({ kind: "database", name: this.SUBRULE(this.databaseName) })),
          IGNORE_AMBIGUITIES: true,
        },
        { ALT: () => ({ kind: "table", name: this.SUBRULE2(this.objectName) }) },
      ],
    }),
  );

  private readonly rowLimit: Rule<[], number> = this.rule("rowLimit", () => {
    this.ACTION(() => {
      const token = this.LA(1);
      if (!/^\d{1,15}$/.test(token.image)) this.fail(`found ${quote(token.image)}, expected the number of maximum rows`, token);
    });
    return Number(this.CONSUME(NumberText).image);
  });
}
