/**
 * Statements about the server and the session: SHOW, DESCRIBE, USE, SET, ADMIN.
 */
import type { IToken } from "chevrotain";
import type { Expression } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { nameOf } from "../../tokens/lexer.ts";
import { ListRules } from "./list-rules.ts";
import { printWhole } from "../../print/print.ts";
import type { Statement } from "../../syntax/statement-ast.ts";
import { AtAt, Comma, Dot, Equal, K, Label, LeftParen, Name, RightParen } from "../../tokens/token.ts";

/** What may stand before the name of a variable, as in `@@session.time_zone`. */
const SCOPES: ReadonlySet<string> = new Set(["session", "local", "global"]);

/** SHOW, DESCRIBE, USE, SET and ADMIN. */
export abstract class ShowRules extends ListRules {
  protected readonly show: Rule<[], Statement> = this.rule("show", () => {
    const start = this.CONSUME(K.SHOW);
    return this.choose<Statement>({
      ERR_MSG: "DATABASES, TABLES, CREATE or VARIABLES",
      DEF: [
        { ALT: () => this.SUBRULE(this.showList, { ARGS: [start] }) },
        { ALT: () => this.SUBRULE(this.showCreate, { ARGS: [start] }) },
        {
          ALT: () => {
            this.CONSUME(K.VARIABLES);
            const name = this.OR2([
              { ALT: () => this.SUBRULE(this.variableName) },
              {
                ALT: () => {
                  this.CONSUME(K.LIKE);
                  const pattern = this.SUBRULE(this.stringValue);
                  return this.ACTION(() => pattern.toLowerCase());
                },
              },
            ]);
            return { kind: "show-variable", name, span: spanOf(start) };
          },
        },
      ],
    });
  });

  /** `[FULL] DATABASES | SCHEMAS | TABLES [FROM db] [LIKE … | WHERE …]`. */
  private readonly showList: Rule<[start?: IToken], Statement> = this.rule("showList", (start) => {
    const full = this.has(K.FULL);
    return this.choose<Statement>({
      ERR_MSG: "DATABASES or TABLES",
      DEF: [
        {
          ALT: () => {
            const word = this.OR2([{ ALT: () => this.CONSUME(K.DATABASES) }, { ALT: () => this.CONSUME(K.SCHEMAS) }]);
            return { kind: "show-databases", full, filter: this.SUBRULE(this.showFilter), span: spanOf(start ?? word) };
          },
        },
        {
          ALT: () => {
            const word = this.CONSUME(K.TABLES);
            const database = this.SUBRULE(this.fromDatabase);
            return { kind: "show-tables", full, database, filter: this.SUBRULE2(this.showFilter), span: spanOf(start ?? word) };
          },
        },
        { ALT: () => this.SUBRULE(this.listing, { ARGS: [start, full] }) },
      ],
    });
  });

  private readonly showCreate: Rule<[start?: IToken], Statement> = this.rule("showCreate", (start) => {
    const word = this.CONSUME(K.CREATE);
    const span = spanOf(start ?? word);
    return this.choose<Statement>({
      ERR_MSG: "TABLE, DATABASE, VIEW or FLOW",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(K.TABLE);
            const name = this.SUBRULE(this.objectName);
            const foreign = this.OPTION(this.after([K.FOR, K.POSTGRES_FOREIGN_TABLE], () => true)) ?? false;
            return { kind: "show-create-table", name, foreign, span };
          },
        },
        {
          ALT: () => {
            this.OR2([{ ALT: () => this.CONSUME(K.DATABASE) }, { ALT: () => this.CONSUME(K.SCHEMA) }]);
            return { kind: "show-create-database", name: this.SUBRULE(this.databaseName), span };
          },
        },
        { ALT: this.after(K.VIEW, () => ({ kind: "show-create-view", name: this.SUBRULE2(this.objectName), span })) },
        { ALT: this.after(K.FLOW, () => ({ kind: "show-create-flow", name: this.SUBRULE3(this.objectName), span })) },
      ],
    });
  });

  protected readonly describe: Rule<[], Statement> = this.rule("describe", () => {
    const start = this.OR([{ ALT: () => this.CONSUME(K.DESC) }, { ALT: () => this.CONSUME(K.DESCRIBE) }]);
    this.OPTION(() => this.CONSUME(K.TABLE));
    return { kind: "describe", name: this.SUBRULE(this.objectName), span: spanOf(start) };
  });

  protected readonly use: Rule<[], Statement> = this.rule("use", () => {
    const start = this.CONSUME(K.USE);
    return { kind: "use", database: this.SUBRULE(this.databaseName), span: spanOf(start) };
  });

  /** `SET [scope] name = value`, `SET TIME ZONE value`, `SET NAMES value`. */
  protected readonly set: Rule<[], Statement> = this.rule("set", () => {
    const start = this.CONSUME(K.SET);
    this.OPTION({
      GATE: () => this.LA(2).tokenType !== Equal && this.LA(2).tokenType !== K.TO,
      DEF: () =>
        this.OR([{ ALT: () => this.CONSUME(K.SESSION) }, { ALT: () => this.CONSUME(K.LOCAL) }, { ALT: () => this.CONSUME(K.GLOBAL) }]),
    });
    const name = this.OR2({
      ERR_MSG: "a variable",
      DEF: [
        {
          GATE: () => this.LA(2).tokenType === K.ZONE,
          ALT: this.after([K.TIME, K.ZONE], () => "time_zone"),
        },
        {
          GATE: () => this.LA(2).tokenType !== Equal && this.LA(2).tokenType !== K.TO,
          ALT: this.after(K.NAMES, () => "names"),
        },
        {
          ALT: () => {
            const variable = this.SUBRULE(this.variableName);
            this.OR3({
              ERR_MSG: "'=' or TO",
              DEF: [{ ALT: () => this.CONSUME(Equal) }, { ALT: () => this.CONSUME(K.TO) }],
            });
            return variable;
          },
        },
      ],
    });
    return { kind: "set-variable", name, value: this.SUBRULE(this.setValue), span: spanOf(start) };
  });

  /** `time_zone`, `@@session.time_zone`; lower-case, without its scope. */
  private readonly variableName: Rule<[], string> = this.rule("variableName", () => {
    this.OPTION(() => this.CONSUME(AtAt));
    const parts = [nameOf(this.CONSUME(Name))];
    this.MANY(() => {
      this.CONSUME(Dot);
      parts.push(nameOf(this.CONSUME(Label)));
    });
    if (parts.length > 1 && SCOPES.has(parts[0] ?? "")) parts.shift();
    return parts.join(".").toLowerCase();
  });

  /** A value, `ON`, or a list, which is one text: `ISO, MDY`. */
  private readonly setValue: Rule<[], Expression> = this.rule("setValue", () =>
    this.choose<Expression>({
      ERR_MSG: "a value",
      DEF: [
        { ALT: () => ({ kind: "string", value: "on", span: spanOf(this.CONSUME(K.ON)) }) },
        {
          ALT: () => {
            const start = this.LA(1);
            this.defaultAllowed = true;
            const values = this.list("a value", () => this.SUBRULE(this.expression));
            this.defaultAllowed = false;
            return this.ACTION((): Expression => {
              const [only, ...others] = values;
              if (only !== undefined && others.length === 0) return only;
              const texts = values.map((value) => (value.kind === "string" ? value.value : printWhole(value)));
              return { kind: "string", value: texts.join(", "), span: spanOf(start) };
            });
          },
        },
      ],
    }),
  );

  protected readonly admin: Rule<[], Statement> = this.rule("admin", () => {
    const start = this.CONSUME(K.ADMIN);
    const name = this.SUBRULE(this.identifier);
    const args: Expression[] = [];
    this.CONSUME(LeftParen);
    this.MANY_SEP({ SEP: Comma, DEF: () => args.push(this.SUBRULE(this.expression)) });
    this.CONSUME(RightParen);
    return { kind: "admin", name, args, span: spanOf(start) };
  });
}
