/**
 * CREATE and DROP of databases and tables (contract query.md 1.4, 1.5). What a table must look like (one time index, no duplicate names)
 * is checked where it is created, not here.
 */
import type { IToken } from "chevrotain";
import { type DbError, invalidArguments } from "../../../../base/error.ts";
import { TABLE_COLUMNS_MAX } from "../../../../base/limits.ts";
import { type DataType, JSON2 } from "../../../../column/data-type.ts";
import { type Rule, spanOf } from "../base/base-rules.ts";
import type { ColumnClause, CreateExternalTable, CreateTable, HintClause } from "../../syntax/definition-ast.ts";
import { nameOf } from "../../tokens/lexer.ts";
import { Power } from "../../syntax/precedence.ts";
import { FlowRules } from "./flow-rules.ts";
import { plainColumn } from "../../syntax/plain-trees.ts";
import type { Statement } from "../../syntax/statement-ast.ts";
import { Dot, Equal, K, Label, LeftParen, Name, RightParen, StringText } from "../../tokens/token.ts";

/** A column whose options are being read. */
type OpenColumn = { -readonly [Part in keyof ColumnClause]: ColumnClause[Part] } & { readonly indexes: ColumnClause["indexes"][number][] };

/** What the items between the parentheses of CREATE TABLE say. */
interface TableItems {
  readonly columns: ColumnClause[];
  primaryKey: readonly string[] | undefined;
  readonly timeIndexes: (readonly string[])[];
}

/** The answer to more than one definition of the primary key. */
function keysInManyPlaces(): DbError {
  return invalidArguments("Illegal primary keys definition: found definitions of primary keys in multiple places");
}

/** The answer to more columns than a table may have, before the rest of them is read. */
function tooManyColumns(): DbError {
  return invalidArguments(
    `cannot create table: it has more than ${TABLE_COLUMNS_MAX} columns; put tags and fields of other kinds into tables of their own`,
  );
}

/** The answer to `FULLTEXT` without INDEX, which other databases have. */
function noIndexWord(column: string, kind: string): DbError {
  const why = `expect INDEX after ${kind.toUpperCase()} keyword`;
  return invalidArguments(`Invalid column option, column name: ${column}, error: ${why}`);
}

/** What follows the name in CREATE TABLE. */
type TableBody = Omit<CreateTable, "kind" | "name" | "ifNotExists" | "span">;

/** CREATE and DROP. */
export abstract class CreateRules extends FlowRules {
  protected readonly create: Rule<[], Statement> = this.rule("create", () => {
    const start = this.CONSUME(K.CREATE);
    return this.choose<Statement>({
      ERR_MSG: "TABLE, VIEW or DATABASE",
      DEF: [
        { ALT: () => this.SUBRULE(this.createTable, { ARGS: [start] }) },
        { ALT: () => this.SUBRULE(this.createReplacing, { ARGS: [start] }) },
        { ALT: () => this.SUBRULE(this.createView, { ARGS: [start] }) },
        { ALT: () => this.SUBRULE(this.createFlow, { ARGS: [start] }) },
        { ALT: () => this.SUBRULE(this.createDatabase, { ARGS: [start] }) },
        { ALT: () => this.SUBRULE(this.createExternalTable, { ARGS: [start] }) },
      ],
    });
  });

  /** `OR REPLACE …`, behind CREATE. */
  private readonly createReplacing: Rule<[start?: IToken], Statement> = this.rule("createReplacing", (start) => {
    const word = this.CONSUME(K.OR);
    this.CONSUME(K.REPLACE);
    return this.choose<Statement>({
      ERR_MSG: "VIEW or FLOW",
      DEF: [
        { ALT: () => this.SUBRULE(this.createView, { ARGS: [start ?? word, true] }) },
        { ALT: () => this.SUBRULE(this.createFlow, { ARGS: [start ?? word, true] }) },
      ],
    });
  });

  private readonly createDatabase: Rule<[start?: IToken], Statement> = this.rule("createDatabase", (start) => {
    const word = this.OR([{ ALT: () => this.CONSUME(K.DATABASE) }, { ALT: () => this.CONSUME(K.SCHEMA) }]);
    const ifNotExists = this.SUBRULE(this.ifNotExists);
    const name = this.SUBRULE(this.databaseName);
    const options = this.OPTION(() => this.SUBRULE(this.withOptions)) ?? {};
    return { kind: "create-database", name, ifNotExists, options, span: spanOf(start ?? word) };
  });

  private readonly createTable: Rule<[start?: IToken], Statement> = this.rule("createTable", (start) => {
    const word = this.CONSUME(K.TABLE);
    const ifNotExists = this.SUBRULE(this.ifNotExists);
    const name = this.SUBRULE(this.objectName);
    const span = spanOf(start ?? word);
    return this.choose<Statement>({
      ERR_MSG: "'(', LIKE or AS",
      DEF: [
        { ALT: this.after(K.LIKE, () => ({ kind: "create-table-like", name, ifNotExists, source: this.SUBRULE2(this.objectName), span })) },
        {
          ALT: () => {
            const definition = this.SUBRULE(this.tableDefinition);
            const query = this.OPTION(this.after(K.AS, () => this.SUBRULE(this.query)));
            const body = { name, ifNotExists, ...definition, span };
            return query === undefined ? { kind: "create-table", ...body } : { kind: "create-table-as", ...body, query };
          },
        },
        {
          ALT: () => {
            const end = this.SUBRULE(this.tableEnd);
            this.CONSUME2(K.AS);
            const body = { name, ifNotExists, columns: [], primaryKey: undefined, timeIndexes: [], ...end, span };
            return { kind: "create-table-as", ...body, query: this.SUBRULE2(this.query) };
          },
        },
      ],
    });
  });

  /** `( items ) [PARTITION ON COLUMNS …] [ENGINE = name] [WITH (…)]`. */
  private readonly tableDefinition: Rule<[], TableBody> = this.rule("tableDefinition", () => {
    const items: TableItems = { columns: [], primaryKey: undefined, timeIndexes: [] };
    this.SUBRULE(this.tableItems, { ARGS: [items] });
    const end = this.SUBRULE(this.tableEnd);
    const { columns, primaryKey, timeIndexes } = items;
    return { columns, primaryKey, timeIndexes, ...end };
  });

  /** `[PARTITION ON COLUMNS …] [ENGINE = name] [WITH (…)]`. */
  private readonly tableEnd: Rule<[], Pick<TableBody, "partitions" | "engine" | "options">> = this.rule("tableEnd", () => {
    const partitions = this.OPTION6(() => this.SUBRULE(this.partitions));
    const engine = this.OPTION3(() => {
      this.CONSUME(K.ENGINE);
      this.OPTION4(() => this.CONSUME(Equal));
      return this.OR({
        ERR_MSG: "an engine name",
        DEF: [{ ALT: () => this.SUBRULE(this.identifier) }, { ALT: () => this.SUBRULE(this.stringValue) }],
      });
    });
    const options = this.OPTION5(() => this.SUBRULE(this.withOptions)) ?? {};
    return { partitions, engine, options };
  });

  /** `( item, … )`; a comma may trail. */
  private readonly tableItems: Rule<[items?: TableItems], void> = this.rule("tableItems", (items) => {
    const target: TableItems = items ?? { columns: [], primaryKey: undefined, timeIndexes: [] };
    this.CONSUME(LeftParen);
    this.OPTION(() => this.items((step) => this.subrule(step, this.tableItem, { ARGS: [target] })));
    this.CONSUME(RightParen);
  });

  /** `EXTERNAL TABLE [IF NOT EXISTS] t [(columns)] [ENGINE = file] WITH (location = …)`. */
  private readonly createExternalTable: Rule<[start?: IToken], CreateExternalTable> = this.rule("createExternalTable", (start) => {
    const word = this.CONSUME(K.EXTERNAL);
    this.CONSUME(K.TABLE);
    const ifNotExists = this.SUBRULE(this.ifNotExists);
    const name = this.SUBRULE(this.objectName);
    const items: TableItems = { columns: [], primaryKey: undefined, timeIndexes: [] };
    this.OPTION(() => this.SUBRULE(this.tableItems, { ARGS: [items] }));
    this.OPTION2(() => {
      this.CONSUME(K.ENGINE);
      this.OPTION3(() => this.CONSUME(Equal));
      this.CONSUME(K.FILE);
    });
    const options = this.SUBRULE(this.withOptions);
    const { columns, primaryKey, timeIndexes } = items;
    return { kind: "create-external-table", name, ifNotExists, columns, primaryKey, timeIndexes, options, span: spanOf(start ?? word) };
  });

  private readonly tableItem: Rule<[items?: TableItems], void> = this.rule("tableItem", (items) => {
    this.OR({
      ERR_MSG: "a column, PRIMARY KEY or TIME INDEX",
      DEF: [
        {
          // Columns may be called `primary` and `time`.
          GATE: () => this.LA(2).tokenType === K.KEY && this.LA(3).tokenType === LeftParen,
          ALT: () => {
            this.words(K.PRIMARY, K.KEY);
            const names = this.SUBRULE(this.nameList);
            this.ACTION(() => {
              if (items?.primaryKey !== undefined) throw keysInManyPlaces();
              if (items !== undefined) items.primaryKey = names;
            });
          },
        },
        {
          GATE: () => this.LA(2).tokenType === K.INDEX && this.LA(3).tokenType === LeftParen,
          ALT: () => {
            this.words(K.TIME, K.INDEX);
            items?.timeIndexes.push(this.SUBRULE2(this.nameList));
          },
        },
        {
          ALT: () => {
            const column = this.SUBRULE(this.columnDefinition);
            if (items !== undefined && items.columns.push(column) > TABLE_COLUMNS_MAX) throw tooManyColumns();
          },
        },
      ],
    });
  });

  protected readonly columnDefinition: Rule<[], ColumnClause> = this.rule("columnDefinition", () => {
    const start = this.CONSUME(Name);
    let hints: readonly HintClause[] | undefined;
    const type = this.choose<DataType>({
      ERR_MSG: "a type",
      DEF: [
        {
          GATE: () => this.LA(1).image.toLowerCase() === "json2" && this.LA(2).tokenType === LeftParen,
          ALT: () => {
            this.CONSUME2(Name);
            hints = this.SUBRULE(this.jsonHints);
            return JSON2;
          },
          IGNORE_AMBIGUITIES: true,
        },
        { ALT: () => this.SUBRULE(this.columnType) },
      ],
    });
    const column: OpenColumn = { ...plainColumn(nameOf(start), type, spanOf(start)), indexes: [], ...(hints !== undefined && { hints }) };
    this.MANY(() => this.SUBRULE(this.columnOption, { ARGS: [column] }));
    return column;
  });

  /** `(path.to.field TYPE [NULL | NOT NULL] [DEFAULT value], …)` behind JSON2; a comma may trail. */
  private readonly jsonHints: Rule<[], readonly HintClause[]> = this.rule("jsonHints", () => {
    this.CONSUME(LeftParen);
    const hints = this.items((step) => this.subrule(step, this.jsonHint));
    this.CONSUME(RightParen);
    return hints;
  });

  private readonly jsonHint: Rule<[], HintClause> = this.rule("jsonHint", () => {
    const path: IToken[] = [];
    this.AT_LEAST_ONE_SEP({ SEP: Dot, DEF: () => path.push(this.CONSUME(Label)), ERR_MSG: "a path" });
    const type = this.SUBRULE(this.columnType);
    let nullable = true;
    this.OPTION(() => {
      this.OPTION2(() => {
        this.CONSUME(K.NOT);
        nullable = false;
      });
      this.CONSUME(K.NULL);
    });
    const value = this.OPTION3(this.after(K.DEFAULT, () => this.SUBRULE(this.expression)));
    return this.ACTION(() => ({ path: path.map(nameOf), type, nullable, default: value }));
  });

  /** Refuses an option that a column has already: of two that differ neither can be meant. @throws DbError InvalidSyntax */
  private once(before: unknown, option: string, token: IToken): void {
    this.ACTION(() => {
      if (before !== undefined) this.fail(`found a second ${option} of one column, expected one`, token);
    });
  }

  private readonly columnOption: Rule<[column?: OpenColumn], void> = this.rule("columnOption", (target) => {
    const options: Partial<OpenColumn> = target ?? {};
    this.OR({
      ERR_MSG: "a column option, ',' or ')'",
      DEF: [
        {
          ALT: () => {
            const word = this.CONSUME(K.NULL);
            this.once(options.nullable, "NULL or NOT NULL", word);
            options.nullable = true;
          },
        },
        {
          ALT: () => {
            const word = this.CONSUME(K.NOT);
            this.CONSUME2(K.NULL);
            this.once(options.nullable, "NULL or NOT NULL", word);
            options.nullable = false;
          },
        },
        {
          ALT: () => {
            const word = this.CONSUME(K.DEFAULT);
            this.once(options.default, "DEFAULT", word);
            // Above AND, NOT and IS, so that the options that follow are not taken for operators.
            options.default = this.SUBRULE(this.expression, { ARGS: [Power.predicate] });
          },
        },
        {
          ALT: () => {
            const word = this.CONSUME(K.COMMENT);
            this.once(options.comment, "COMMENT", word);
            options.comment = this.SUBRULE(this.stringValue);
          },
        },
        {
          ALT: () => {
            this.words(K.PRIMARY, K.KEY);
            options.primaryKey = true;
          },
        },
        {
          ALT: () => {
            this.words(K.TIME, K.INDEX);
            options.timeIndex = true;
          },
        },
        { ALT: () => void this.CONSUME(K.UNIQUE) },
        {
          ALT: () => {
            this.words(K.CHARACTER, K.SET);
            this.OR2([{ ALT: () => this.CONSUME(Name) }, { ALT: () => this.CONSUME(StringText) }]);
          },
        },
        {
          ALT: () => {
            const index = this.SUBRULE(this.indexOption, { ARGS: [options.name] });
            options.indexes?.push(index);
          },
        },
      ],
    });
  });

  /** `SKIPPING INDEX WITH(granularity = 1024)`. */
  protected readonly indexOption: Rule<[column?: string | undefined], ColumnClause["indexes"][number]> = this.rule(
    "indexOption",
    (column) => {
      const kind = this.meaningOf("SKIPPING, FULLTEXT or INVERTED", {
        skipping: K.SKIPPING,
        fulltext: K.FULLTEXT,
        inverted: K.INVERTED,
      });
      this.ACTION(() => {
        if (this.LA(1).tokenType !== K.INDEX) throw noIndexWord(column ?? "", kind);
      });
      this.CONSUME(K.INDEX);
      const options = this.OPTION(() => this.SUBRULE(this.withOptions)) ?? {};
      return { kind, options };
    },
  );

  protected readonly drop: Rule<[], Statement> = this.rule("drop", () => {
    const start = this.CONSUME(K.DROP);
    return this.choose<Statement>({
      ERR_MSG: "TABLE, VIEW or DATABASE",
      DEF: [
        {
          ALT: () => {
            this.CONSUME(K.FLOW);
            const ifExists = this.SUBRULE3(this.ifExists);
            return { kind: "drop-flow", name: this.SUBRULE2(this.objectName), ifExists, span: spanOf(start) };
          },
        },
        { ALT: () => this.SUBRULE(this.dropView, { ARGS: [start] }) },
        {
          ALT: () => {
            this.CONSUME(K.TABLE);
            const ifExists = this.SUBRULE(this.ifExists);
            const names = this.list("a table name", () => this.SUBRULE(this.objectName));
            return { kind: "drop-table", names, ifExists, span: spanOf(start) };
          },
        },
        {
          ALT: () => {
            this.OR2([{ ALT: () => this.CONSUME(K.DATABASE) }, { ALT: () => this.CONSUME(K.SCHEMA) }]);
            const ifExists = this.SUBRULE2(this.ifExists);
            return { kind: "drop-database", name: this.SUBRULE(this.databaseName), ifExists, span: spanOf(start) };
          },
        },
      ],
    });
  });
}
