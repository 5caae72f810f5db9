/** SHOW CREATE TABLE and SHOW CREATE DATABASE: the layout of contract query.md 1.8. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { displayName, sqlName } from "../../../column/data-type.ts";
import type { DatabaseInfo } from "../../../table/catalog.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { databaseNotFound, tableNotFound } from "../../../table/not-found.ts";
import { isFileTable } from "../../../table/file-table.ts";
import { isInternalColumn } from "../../../table/metric.ts";
import type { ColumnDefinition, TableDefinition, TablePartitions } from "../../../table/schema.ts";
import { defaultDisplay } from "../../plan/virtual/default-display.ts";
import { resolveName } from "../../plan/from/source.ts";
import { builtInColumns, builtInTableNames } from "../../plan/virtual/built-in-table.ts";
import type { QueryContext } from "../../query-context.ts";
import { printPart } from "../../sql/print/print-name.ts";
import { maskedOptions } from "../../sql/print/secret-options.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { foreignTableText } from "./foreign-table.ts";
import { jsonHintsText } from "../shared/json-hint.ts";
import { rowsResult, textHeaders } from "../shared/rows-result.ts";

/** The statement that makes a table. @throws DbError TableNotFound, Unsupported for a computed table */
export function showCreateTable(statement: Extract<Statement, { kind: "show-create-table" }>, context: QueryContext): StatementResult {
  const { database, table } = resolveName(statement.name, context.variables.database);
  const found = context.catalog.table(database, table);
  if (found !== undefined) {
    const text = statement.foreign
      ? foreignTableText(found.schema)
      : createTableText(found.schema, {
          mark: context.variables.connection?.protocol === "mysql" ? "`" : '"',
          inherited: inherited(database, context),
        });
    return rowsResult(textHeaders("Table", "Create Table"), [[table, text]]);
  }
  const name = `${CATALOG_NAME}.${database}.${table}`;
  if (context.catalog.view(database, table) !== undefined) {
    throw new DbError(StatusCode.Unsupported, `Show create table only for base table. ${name} is VIEW`);
  }
  if (builtInTableNames(database).includes(table)) {
    throw new DbError(StatusCode.Unsupported, `Show create table only for base table. ${name} is TEMPORARY`);
  }
  throw new DbError(StatusCode.TableNotFound, `Table not found: ${name}`);
}

/** Options that a table of a database has without saying so (contract query.md 1.2). */
function inherited(database: string, { catalog }: QueryContext): Readonly<Record<string, string>> {
  const ttl = catalog.database(database)?.options["ttl"];
  return ttl === undefined ? {} : { ttl };
}

/** The statement that makes a database. @throws DbError DatabaseNotFound */
export function showCreateDatabase(
  statement: Extract<Statement, { kind: "show-create-database" }>,
  context: QueryContext,
): StatementResult {
  const database = context.catalog.database(statement.name);
  if (database === undefined) throw databaseNotFound(statement.name);
  return rowsResult(textHeaders("Database", "Create Database"), [[database.name, createDatabaseText(database)]]);
}

/** How CREATE TABLE is printed. */
export interface CreateTableStyle {
  /** Goes around names; by default `"`. */
  readonly mark?: '"' | "`";
  /** Options that the table has from its database. */
  readonly inherited?: Readonly<Record<string, string>>;
}

/** Text of CREATE TABLE. */
export function createTableText(schema: TableDefinition, { mark = '"', inherited = {} }: CreateTableStyle = {}): string {
  const quoted = (name: string): string => mark + name.replaceAll(mark, mark + mark) + mark;
  const items = schema.columns.filter(({ name }) => !isInternalColumn(schema, name)).map((column) => columnText(column, quoted));
  const time = schema.columns.find(({ semantic }) => semantic === "timestamp");
  if (time !== undefined) items.push(`TIME INDEX (${quoted(time.name)})`);
  const primaryKey = schema.primaryKey.filter((name) => !isInternalColumn(schema, name));
  if (primaryKey.length > 0) items.push(`PRIMARY KEY (${primaryKey.map(quoted).join(", ")})`);
  const isFile = isFileTable(schema);
  const all = maskedOptions({ ...(isFile ? {} : inherited), ...schema.options });
  const options = Object.keys(all)
    .sort()
    .map((key) => optionText(key, all[key] ?? ""));
  const tail = options.length === 0 ? "" : `WITH(\n${options.join(",\n")}\n)`;
  const body = items.map((item) => `  ${item}`).join(",\n");
  const partitions = partitionText(schema.partitions, quoted);
  const words = `CREATE ${isFile ? "EXTERNAL " : ""}TABLE IF NOT EXISTS`;
  return `${words} ${quoted(schema.name)} (\n${body}\n)\n${partitions}\nENGINE=${schema.engine}\n${tail}`;
}

function partitionText(partitions: TablePartitions | undefined, quoted: (name: string) => string): string {
  if (partitions === undefined) return "";
  const rules = partitions.rules.map((rule) => `\n  ${rule}`).join(",");
  return `PARTITION ON COLUMNS (${partitions.columns.map(quoted).join(", ")}) (${rules}\n)`;
}

function createDatabaseText({ name, options }: DatabaseInfo): string {
  const head = `CREATE DATABASE IF NOT EXISTS ${printPart(name)}`;
  const printed = Object.keys(options)
    .sort()
    .map((key) => `  ${optionKey(key)} = '${escaped(options[key] ?? "")}'`);
  return printed.length === 0 ? head : `${head}\nWITH(\n${printed.join(",\n")}\n)`;
}

const escaped = (text: string): string => text.replaceAll("'", "''");
const optionKey = (key: string): string => (key.includes(".") ? `'${key}'` : key);

/** Comments of tables that made themselves, whose key clients expect in quotes, unlike that of a comment that somebody wrote. */
const OWN_COMMENTS: ReadonlySet<string> = new Set(["Created on insertion", "Auto created table by flow engine"]);

/** One option of a table. A comment shows its backslashes as escapes. */
function optionText(key: string, value: string): string {
  if (key !== "comment") return `  ${optionKey(key)} = '${escaped(value)}'`;
  return `  ${OWN_COMMENTS.has(value) ? "'comment'" : key} = '${escaped(value).replaceAll("\\", "\\\\")}'`;
}

function columnText(column: ColumnDefinition, quoted: (name: string) => string): string {
  const hints = column.hints === undefined ? "" : jsonHintsText(column.hints, quoted);
  const parts = [quoted(column.name), sqlName(column.type) + hints, column.nullable ? "NULL" : "NOT NULL"];
  const printed = defaultText(column);
  if (printed !== undefined) parts.push(`DEFAULT ${printed}`);
  if (column.comment !== undefined) parts.push(`COMMENT '${escaped(column.comment)}'`);
  return [...parts, ...(column.indexes ?? [])].join(" ");
}

/** A default as it is printed after DEFAULT: text quoted, times as text. */
function defaultText(column: ColumnDefinition): string | undefined {
  if (column.default?.kind === "now") return column.default.written ?? "current_timestamp()";
  const plain = defaultDisplay(column);
  if (plain === undefined) return undefined;
  return ["string", "date", "timestamp", "time", "vector"].includes(column.type.kind) ? `'${escaped(plain)}'` : plain;
}

/** DESCRIBE: one row a column. @throws DbError TableNotFound */
export function describe(statement: Extract<Statement, { kind: "describe" }>, context: QueryContext): StatementResult {
  const { database, table } = resolveName(statement.name, context.variables.database);
  const headers = textHeaders("Column", "Type", "Key", "Null", "Default", "Semantic Type");
  const found = context.catalog.table(database, table);
  if (found !== undefined) return rowsResult(headers, found.schema.columns.map(describeRow));
  const semantic = database === "public" ? "tag" : "field"; // Only `numbers` has a tag.
  const computed = builtInColumns({ database, table })?.map((column): ColumnDefinition => ({ ...column, semantic }));
  if (computed !== undefined) return rowsResult(headers, computed.map(describeRow));
  // What a view has is what its query gives; the catalogue holds no columns of it.
  if (context.catalog.view(database, table) !== undefined) return rowsResult(headers, []);
  throw tableNotFound(database, table);
}

function describeRow(column: ColumnDefinition): readonly string[] {
  const key = column.semantic === "field" ? "" : "PRI";
  return [
    column.name,
    displayName(column.type),
    key,
    column.nullable ? "YES" : "NO",
    defaultDisplay(column) ?? "",
    column.semantic.toUpperCase(),
  ];
}
