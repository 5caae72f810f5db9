/**
 * ALTER of tables and databases, TRUNCATE and COMMENT ON (contract query.md 1.5). Whether columns and options exist is looked up where
 * the statement is run.
 */
import type { IToken } from "chevrotain";
import type { Expression } from "../../syntax/ast.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import { CreateRules } from "./create-rules.ts";
import type { AlterAction, ChangedOptions, ColumnClause, CommentTarget, IndexKind } from "../../syntax/definition-ast.ts";
import { Power } from "../../syntax/precedence.ts";
import type { Statement } from "../../syntax/statement-ast.ts";
import { Comma, Equal, K, LeftParen, RightParen } from "../../tokens/token.ts";

/** ALTER, TRUNCATE and COMMENT. */
export abstract class AlterRules extends CreateRules {
  protected readonly alter: Rule<[], Statement> = this.rule("alter", () => {
    const start = this.CONSUME(K.ALTER);
    return this.choose<Statement>({
      ERR_MSG: "TABLE or DATABASE",
      DEF: [
        { ALT: () => this.SUBRULE(this.alterTable, { ARGS: [start] }) },
        { ALT: () => this.SUBRULE(this.alterDatabase, { ARGS: [start] }) },
      ],
    });
  });

  private readonly alterDatabase: Rule<[start?: IToken], Statement> = this.rule("alterDatabase", (start) => {
    const word = this.OR([{ ALT: () => this.CONSUME(K.DATABASE) }, { ALT: () => this.CONSUME(K.SCHEMA) }]);
    const name = this.SUBRULE(this.databaseName);
    const options = this.SUBRULE(this.databaseChange);
    return { kind: "alter-database", name, options, span: spanOf(start ?? word) };
  });

  private readonly databaseChange: Rule<[], ChangedOptions> = this.rule("databaseChange", () =>
    this.choose<ChangedOptions>({
      ERR_MSG: "SET or UNSET",
      DEF: [
        { ALT: this.after(K.SET, () => this.SUBRULE(this.changedOptions)) },
        {
          ALT: () => {
            const keys = this.SUBRULE(this.unsetOptions);
            return this.ACTION(() => Object.fromEntries(keys.map((key) => [key, undefined])));
          },
        },
      ],
    }),
  );

  private readonly alterTable: Rule<[start?: IToken], Statement> = this.rule("alterTable", (start) => {
    const word = this.CONSUME(K.TABLE);
    const name = this.SUBRULE(this.objectName);
    const actions: AlterAction[] = [];
    this.OR({
      ERR_MSG: "ADD, DROP, MODIFY, SET, UNSET or RENAME",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(K.SET);
            actions.push({ kind: "set-options", options: this.SUBRULE(this.changedOptions) });
          },
        },
        { ALT: () => actions.push({ kind: "unset-options", keys: this.SUBRULE(this.unsetOptions) }) },
        {
          ALT: () => {
            this.CONSUME(K.RENAME);
            this.OPTION({ GATE: () => this.isWordBeforeName(), DEF: () => this.CONSUME(K.TO) });
            actions.push({ kind: "rename", name: this.SUBRULE2(this.objectName) });
          },
        },
        {
          ALT: () =>
            this.AT_LEAST_ONE_SEP({
              SEP: Comma,
              DEF: () => actions.push(this.SUBRULE(this.columnAction)),
              ERR_MSG: "ADD, DROP, MODIFY, SET, UNSET or RENAME",
            }),
        },
      ],
    });
    return { kind: "alter-table", name, actions, span: spanOf(start ?? word) };
  });

  /** Whether the next word is followed by something, so that it is not itself the name that ends the clause. */
  private isWordBeforeName(): boolean {
    const next = this.LA(2);
    return next.image !== "" && next.image !== ";" && next.image !== "," && next.image !== ".";
  }

  private readonly columnAction: Rule<[], AlterAction> = this.rule("columnAction", () =>
    this.choose<AlterAction>({
      ERR_MSG: "ADD, DROP or MODIFY",
      DEF: [
        { ALT: () => this.SUBRULE(this.addColumn) },
        {
          ALT: () => {
            this.CONSUME(K.DROP);
            this.OPTION({ GATE: () => this.isWordBeforeName(), DEF: () => this.CONSUME(K.COLUMN) });
            return { kind: "drop-column", column: this.SUBRULE(this.identifier) };
          },
        },
        {
          ALT: () => {
            this.CONSUME(K.MODIFY);
            this.OPTION2({ GATE: () => this.isWordBeforeName(), DEF: () => this.CONSUME2(K.COLUMN) });
            const column = this.SUBRULE2(this.identifier);
            return this.SUBRULE(this.modification, { ARGS: [column] });
          },
        },
      ],
    }),
  );

  /** `ADD [COLUMN] [IF NOT EXISTS] definition [FIRST | AFTER column]`. */
  private readonly addColumn: Rule<[], AlterAction> = this.rule("addColumn", () => {
    this.CONSUME(K.ADD);
    this.OPTION(() => this.CONSUME(K.COLUMN));
    const ifNotExists = this.SUBRULE(this.ifNotExists);
    const column: ColumnClause = this.SUBRULE(this.columnDefinition);
    const place = this.OPTION2(() =>
      this.choose<NonNullable<Extract<AlterAction, { kind: "add-column" }>["place"]>>({
        ERR_MSG: "FIRST or AFTER",
        DEF: [
          { ALT: this.after(K.FIRST, () => ({ kind: "first" })) },
          { ALT: this.after(K.AFTER, () => ({ kind: "after", column: this.SUBRULE(this.identifier) })) },
        ],
      }),
    );
    return { kind: "add-column", column, ifNotExists, place };
  });

  /** What follows MODIFY COLUMN and its name: a type, `SET DEFAULT v`, `DROP DEFAULT`, `SET … INDEX`, `UNSET … INDEX`. */
  private readonly modification: Rule<[column?: string], AlterAction> = this.rule("modification", (name) => {
    const column = name ?? "";
    return this.choose<AlterAction>({
      IGNORE_AMBIGUITIES: true, // A type is a name, and so are SET, UNSET and DROP; they come first.
      ERR_MSG: "a type, SET, UNSET or DROP DEFAULT",
      DEF: [
        { ALT: this.after(K.SET, () => this.SUBRULE(this.setOfColumn, { ARGS: [column] })) },
        {
          ALT: () => {
            this.CONSUME(K.UNSET);
            const index: IndexKind = this.OR2({
              ERR_MSG: "SKIPPING, FULLTEXT or INVERTED",
              DEF: [
                { ALT: () => this.choice(this.CONSUME(K.SKIPPING), "skipping") },
                { ALT: () => this.choice(this.CONSUME(K.FULLTEXT), "fulltext") },
                { ALT: () => this.choice(this.CONSUME(K.INVERTED), "inverted") },
              ],
            });
            this.CONSUME(K.INDEX);
            return { kind: "unset-index", column, index };
          },
        },
        { ALT: this.after([K.DROP, K.DEFAULT], () => ({ kind: "drop-default", column })) },
        { ALT: () => ({ kind: "change-type", column, type: this.SUBRULE(this.columnType) }) },
      ],
    });
  });

  private readonly setOfColumn: Rule<[column?: string], AlterAction> = this.rule("setOfColumn", (name) => {
    const column = name ?? "";
    return this.choose<AlterAction>({
      ERR_MSG: "DEFAULT, SKIPPING, FULLTEXT or INVERTED",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(K.DEFAULT);
            const value: Expression = this.SUBRULE(this.expression, { ARGS: [Power.predicate] });
            return { kind: "set-default", column, value };
          },
        },
        { ALT: () => ({ kind: "set-index", column, index: this.SUBRULE(this.indexOption, { ARGS: [column] }) }) },
      ],
    });
  });

  /** `'ttl' = '1d', 'append_mode' = NULL`; NULL takes an option away. */
  private readonly changedOptions: Rule<[], ChangedOptions> = this.rule("changedOptions", () => {
    const entries: (readonly [string, string | undefined])[] = [];
    this.AT_LEAST_ONE_SEP({
      SEP: Comma,
      DEF: () => {
        const key = this.SUBRULE(this.optionKey);
        this.CONSUME(Equal);
        const isNull = this.LA(1).tokenType === K.NULL;
        const value = this.SUBRULE(this.optionValue);
        entries.push([key, isNull ? undefined : value]);
      },
      ERR_MSG: "an option",
    });
    return this.ACTION(() => Object.fromEntries(entries));
  });

  /** `UNSET 'ttl', 'write_buffer_size'`. */
  private readonly unsetOptions: Rule<[], readonly string[]> = this.rule("unsetOptions", () => {
    this.CONSUME(K.UNSET);
    return this.list("an option name", () => this.SUBRULE(this.optionKey));
  });

  /** `TRUNCATE [TABLE] t [FILE RANGE (start, end), …]`. */
  protected readonly truncate: Rule<[], Statement> = this.rule("truncate", () => {
    const start = this.CONSUME(K.TRUNCATE);
    this.OPTION(() => this.CONSUME(K.TABLE));
    const name = this.SUBRULE(this.objectName);
    const ranges = this.OPTION2(() => {
      const found: (readonly [Expression, Expression])[] = [];
      this.words(K.FILE, K.RANGE);
      this.AT_LEAST_ONE_SEP({
        SEP: Comma,
        DEF: () => {
          this.CONSUME(LeftParen);
          const low = this.SUBRULE(this.expression);
          this.CONSUME2(Comma);
          const high = this.SUBRULE2(this.expression);
          this.CONSUME(RightParen);
          found.push([low, high]);
        },
        ERR_MSG: "a range (start, end)",
      });
      return found;
    });
    return { kind: "truncate", name, ranges, span: spanOf(start) };
  });

  /** `COMMENT ON {TABLE t | COLUMN t.c} IS {'text' | NULL}`. */
  protected readonly comment: Rule<[], Statement> = this.rule("comment", () => {
    const start = this.CONSUME(K.COMMENT);
    this.CONSUME(K.ON);
    const target = this.choose<CommentTarget>({
      ERR_MSG: "TABLE, COLUMN or FLOW",
      DEF: [
        { ALT: this.after(K.TABLE, () => ({ kind: "table", name: this.SUBRULE(this.objectName) })) },
        {
          ALT: () => {
            const word = this.CONSUME(K.COLUMN);
            const name = this.SUBRULE2(this.objectName);
            return this.ACTION((): CommentTarget => {
              if (name.length < 2) this.fail("found a column without its table, expected table.column", word);
              return { kind: "column", table: name.slice(0, -1), column: name.at(-1) ?? "" };
            });
          },
        },
        { ALT: this.after(K.FLOW, () => ({ kind: "flow", name: this.SUBRULE3(this.objectName) })) },
      ],
    });
    this.CONSUME(K.IS);
    const comment = this.OR2({
      ERR_MSG: "a string or NULL",
      DEF: [{ ALT: () => this.SUBRULE(this.stringValue) }, { ALT: this.after(K.NULL, () => undefined) }],
    });
    return { kind: "comment", target, comment, span: spanOf(start) };
  });
}
