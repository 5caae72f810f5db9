/**
 * Statements → text on one line, keywords in upper case: for EXPLAIN, the names of ADMIN results, logs and formatting.
 * Parsing the text gives the same tree again.
 */
import { unreachable } from "../../../base/assert.ts";
import type { Expression, Query } from "../syntax/ast.ts";
import type { CreateExternalTable, CreateTable, CreateTableAs, CreateView, PartitionClause } from "../syntax/definition-ast.ts";
import { printAlterDatabase, printAlterTable, printComment, printTruncate } from "./print-alter.ts";
import { printColumnClause, printOptions } from "./print-column.ts";
import { printSessionStatement } from "./print-session.ts";
import { printName, printPart, printString } from "./print-name.ts";
import { type PrintStyle, print, printQuery, printRows, UPPER } from "./print.ts";
import { maskedOptions } from "./secret-options.ts";
import type { ListingKind, ShowFilter, ShowListing } from "../syntax/show-ast.ts";
import type { Copy, CursorStatement, Insert, PreparedStatement, Statement, Update } from "../syntax/statement-ast.ts";

const VALUES: PrintStyle = { ...UPPER, keepQuotes: true };

/** `SELECT max(a) FROM t WHERE b IS NOT NULL LIMIT 1`, without a semicolon. */
export function printStatement(statement: Statement): string {
  switch (statement.kind) {
    case "select":
    case "set-operation":
    case "values-query":
    case "with":
      return printQuery(statement, UPPER);
    case "insert":
      return printInsert(statement);
    case "delete":
      return `DELETE FROM ${printName(statement.table)}${statement.where === undefined ? "" : ` WHERE ${printOne(statement.where)}`}`;
    case "update":
      return printUpdate(statement);
    case "create-table":
      return printCreateTable(statement);
    case "create-table-as":
      return `${printCreateTable(statement)} AS ${printQuery(statement.query, UPPER)}`;
    case "create-external-table":
      return printCreateExternalTable(statement);
    case "copy":
      return printCopy(statement);
    case "create-database": {
      const { name, ifNotExists, options } = statement;
      return `CREATE DATABASE ${ifNotExists ? "IF NOT EXISTS " : ""}${printPart(name)}${printOptions(options)}`;
    }
    case "drop-database":
      return `DROP DATABASE ${statement.ifExists ? "IF EXISTS " : ""}${printPart(statement.name)}`;
    case "drop-table":
      return `DROP TABLE ${statement.ifExists ? "IF EXISTS " : ""}${statement.names.map(printName).join(", ")}`;
    case "create-table-like": {
      const { name, ifNotExists, source } = statement;
      return `CREATE TABLE ${ifNotExists ? "IF NOT EXISTS " : ""}${printName(name)} LIKE ${printName(source)}`;
    }
    case "drop-flow":
      return `DROP FLOW ${statement.ifExists ? "IF EXISTS " : ""}${printName(statement.name)}`;
    case "create-view":
      return printCreateView(statement);
    case "drop-view":
      return `DROP VIEW ${statement.ifExists ? "IF EXISTS " : ""}${statement.names.map(printName).join(", ")}`;
    case "alter-table":
      return printAlterTable(statement);
    case "alter-database":
      return printAlterDatabase(statement);
    case "truncate":
      return printTruncate(statement);
    case "comment":
      return printComment(statement);
    case "explain": {
      const words = [
        "EXPLAIN",
        statement.analyze && "ANALYZE",
        statement.verbose && "VERBOSE",
        statement.format !== "text" && `FORMAT ${statement.format.toUpperCase()}`,
      ];
      return [...words.filter((word) => word !== false), printStatement(statement.statement)].join(" ");
    }
    case "create-flow":
    case "tql":
    case "prepare":
    case "execute":
    case "deallocate":
    case "declare-cursor":
    case "fetch":
    case "close-cursor":
      return printSessionStatement(statement);
    default:
      return printSession(statement);
  }
}

/** `UPDATE t AS a SET b = 1 WHERE c`. */
function printUpdate({ table, alias, assignments, where }: Update): string {
  const named = alias === undefined ? "" : ` AS ${printPart(alias)}`;
  const set = assignments.map(({ column, value }) => `${printName(column)} = ${printOne(value)}`).join(", ");
  return `UPDATE ${printName(table)}${named} SET ${set}${where === undefined ? "" : ` WHERE ${printOne(where)}`}`;
}

type SessionStatement = Exclude<
  Statement,
  {
    kind:
      | Query["kind"]
      | "insert"
      | "delete"
      | "update"
      | "create-table"
      | "create-table-as"
      | "create-external-table"
      | "copy"
      | "create-database"
      | "drop-database"
      | "drop-table"
      | "create-table-like"
      | "create-flow"
      | "tql"
      | PreparedStatement["kind"]
      | CursorStatement["kind"]
      | "drop-flow"
      | "create-view"
      | "drop-view"
      | "alter-table"
      | "alter-database"
      | "truncate"
      | "comment"
      | "explain";
  }
>;

function printSession(statement: SessionStatement): string {
  switch (statement.kind) {
    case "show-databases":
      return `SHOW ${statement.full ? "FULL " : ""}DATABASES${printFilter(statement.filter)}`;
    case "show-tables": {
      const from = statement.database === undefined ? "" : ` FROM ${printPart(statement.database)}`;
      return `SHOW ${statement.full ? "FULL " : ""}TABLES${from}${printFilter(statement.filter)}`;
    }
    case "show-create-table":
      return `SHOW CREATE TABLE ${printName(statement.name)}${statement.foreign ? " FOR POSTGRES_FOREIGN_TABLE" : ""}`;
    case "show-create-view":
      return `SHOW CREATE VIEW ${printName(statement.name)}`;
    case "show-create-flow":
      return `SHOW CREATE FLOW ${printName(statement.name)}`;
    case "show-listing":
      return printListing(statement);
    case "kill":
      return `KILL ${printString(statement.id)}`;
    case "show-create-database":
      return `SHOW CREATE DATABASE ${printPart(statement.name)}`;
    case "show-variable":
      return `SHOW VARIABLES ${printVariable(statement.name)}`;
    case "describe":
      return `DESCRIBE TABLE ${printName(statement.name)}`;
    case "use":
      return `USE ${printPart(statement.database)}`;
    case "set-variable":
      return `SET ${printVariable(statement.name)} = ${printOne(statement.value)}`;
    case "admin":
      return `ADMIN ${printPart(statement.name)}(${statement.args.map(printOne).join(", ")})`;
    default:
      return unreachable(statement);
  }
}

/** A condition as statements are printed, for SHOW CREATE TABLE: `id >= 5 AND id < 9`. */
export function printCondition(expression: Expression): string {
  return print(expression, UPPER);
}

function printOne(expression: Expression): string {
  return print(expression, UPPER);
}

function printVariable(name: string): string {
  return name.split(".").map(printPart).join(".");
}

function printInsert({ table, columns, source }: Insert): string {
  const names = columns === undefined ? "" : ` (${columns.map(printPart).join(", ")})`;
  const rows = source.kind === "values" ? `VALUES ${printRows(source.rows, VALUES)}` : printQuery(source, UPPER);
  return `INSERT INTO ${printName(table)}${names} ${rows}`;
}

function itemsOf({ columns, primaryKey, timeIndexes }: Pick<CreateTable, "columns" | "primaryKey" | "timeIndexes">): readonly string[] {
  const items = columns.map(printColumnClause);
  for (const names of timeIndexes) items.push(`TIME INDEX (${names.map(printPart).join(", ")})`);
  if (primaryKey !== undefined) items.push(`PRIMARY KEY (${primaryKey.map(printPart).join(", ")})`);
  return items;
}

/** Secret options are masked: then, alone, the text does not give the same tree again. */
function printCreateExternalTable(statement: CreateExternalTable): string {
  const items = itemsOf(statement);
  const head = `CREATE EXTERNAL TABLE ${statement.ifNotExists ? "IF NOT EXISTS " : ""}${printName(statement.name)}`;
  const columns = items.length === 0 ? "" : ` (${items.join(", ")})`;
  return `${head}${columns}${printOptions(maskedOptions(statement.options)) || " WITH ()"}`;
}

/** As above. */
function printCopy({ subject, direction, location, options, connection, limit }: Copy): string {
  const what =
    subject.kind === "query"
      ? `(${printQuery(subject.query, UPPER)})`
      : subject.kind === "table"
        ? `TABLE ${printName(subject.name)}`
        : `DATABASE ${printPart(subject.name)}`;
  const store = printOptions(maskedOptions(connection)).replace(" WITH", " CONNECTION");
  const rows = limit === undefined ? "" : ` LIMIT ${limit}`;
  return `COPY ${what} ${direction.toUpperCase()} ${printString(location)}${printOptions(options)}${store}${rows}`;
}

function printCreateTable(statement: CreateTable | CreateTableAs): string {
  const { name, ifNotExists, partitions, engine, options } = statement;
  const head = `CREATE TABLE ${ifNotExists ? "IF NOT EXISTS " : ""}${printName(name)}`;
  const items = itemsOf(statement);
  const listed = statement.kind === "create-table-as" && items.length === 0 ? "" : ` (${items.join(", ")})`;
  const body = `${head}${listed}${printPartitions(partitions)}`;
  return `${body}${engine === undefined ? "" : ` ENGINE = ${printPart(engine)}`}${printOptions(options)}`;
}

function printPartitions(partitions: PartitionClause | undefined): string {
  if (partitions === undefined) return "";
  return ` PARTITION ON COLUMNS (${partitions.columns.map(printPart).join(", ")}) (${partitions.rules.map(printOne).join(", ")})`;
}

function printCreateView({ name, orReplace, ifNotExists, columns, query }: CreateView): string {
  const words = `CREATE ${orReplace ? "OR REPLACE " : ""}VIEW ${ifNotExists ? "IF NOT EXISTS " : ""}`;
  const names = columns.length === 0 ? "" : ` (${columns.map(printPart).join(", ")})`;
  return `${words}${printName(name)}${names} AS ${printQuery(query, UPPER)}`;
}

/** The words of each listing. */
const LISTINGS: Readonly<Record<ListingKind, string>> = {
  columns: "COLUMNS",
  index: "INDEX",
  regions: "REGION",
  views: "VIEWS",
  "table-status": "TABLE STATUS",
  flows: "FLOWS",
  "flow-status": "FLOW STATUS",
  engines: "ENGINES",
  charset: "CHARSET",
  collation: "COLLATION",
  processlist: "PROCESSLIST",
  status: "STATUS",
  "search-path": "SEARCH_PATH",
};

function printListing({ what, full, table, database, filter }: ShowListing): string {
  const from = table === undefined ? "" : ` FROM ${printName(table)}`;
  const within = database === undefined ? "" : ` FROM ${printPart(database)}`;
  return `SHOW ${full ? "FULL " : ""}${LISTINGS[what]}${from}${within}${printFilter(filter)}`;
}

function printFilter(filter: ShowFilter): string {
  if (filter === undefined) return "";
  return filter.kind === "like" ? ` LIKE ${printString(filter.pattern)}` : ` WHERE ${printOne(filter.expression)}`;
}
