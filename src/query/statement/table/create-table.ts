/** CREATE TABLE and DROP TABLE. */
import { DbError, invalidArguments } from "../../../base/error.ts";
import { TABLE_COLUMNS_MAX } from "../../../base/limits.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { checkTableName, nameFlaw } from "../../../table/names.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { databaseNotFound, tableNotFound } from "../../../table/not-found.ts";
import type { ColumnDefinition, TableDefinition } from "../../../table/schema.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { type ResolvedName, resolveName } from "../../plan/from/source.ts";
import { checkNoGraphTable } from "../../plan/common/semantic-graph.ts";
import { builtInTableNames } from "../../plan/virtual/built-in-table.ts";
import { INFORMATION_SCHEMA } from "../../plan/virtual/information-schema.ts";
import type { QueryContext } from "../../query-context.ts";
import type { CreateTable } from "../../sql/syntax/definition-ast.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { checkStructured, columnDefinition } from "./column-definition.ts";
import { columnOptionError } from "../../../table/column-option-error.ts";
import { optionsFromDatabase } from "../../../table/database-template.ts";
import { checkNoView } from "../shared/no-view.ts";
import { tablePartitions } from "./partitions.ts";
import { checkSpread, type Options, tableOptions } from "./table-options.ts";

const ENGINES: readonly string[] = ["mito", "metric", "file"];

const syntax = (message: string): DbError => new DbError(StatusCode.InvalidSyntax, message);

/** Makes the table of a statement. @throws DbError of contract query.md 1.4 */
export async function createTable(statement: CreateTable, context: QueryContext): Promise<StatementResult> {
  const definition = completeDefinition(statement, context);
  const { database, name } = definition;
  checkWritable(database);
  checkNoGraphTable({ database, table: name });
  if (isTaken({ database, table: name }, statement.ifNotExists, context)) return NO_ROWS_CHANGED;
  await context.catalog.createTable(definition, statement.ifNotExists);
  return NO_ROWS_CHANGED;
}

/** The definition that a statement describes, with the options that its database gives. @throws DbError */
export function completeDefinition(statement: CreateTable, { catalog, clock, variables }: QueryContext): TableDefinition {
  const definition = tableDefinition(statement, environmentOf(clock, variables));
  const options = tableOptions(optionsFromDatabase(definition.options, catalog.database(definition.database)?.options ?? {}));
  return { ...definition, options };
}

/**
 * Whether a table's name belongs to a table or a view already, where IF NOT EXISTS lets that pass.
 *
 * @throws DbError TableAlreadyExists, DatabaseNotFound
 */
export function isTaken({ database, table: name }: ResolvedName, ifNotExists: boolean, { catalog }: QueryContext): boolean {
  if (catalog.database(database) === undefined) throw databaseNotFound(database);
  const isView = catalog.view(database, name) !== undefined;
  const taken = isView || catalog.table(database, name) !== undefined || builtInTableNames(database).includes(name);
  if (!taken || ifNotExists) return taken;
  const what = isView ? "View" : "Table";
  throw new DbError(StatusCode.TableAlreadyExists, `${what} already exists: \`${CATALOG_NAME}.${database}.${name}\``);
}

/** Refuses changes of computed databases. @throws DbError Unsupported */
export function checkWritable(database: string): void {
  if (database === INFORMATION_SCHEMA) throw new DbError(StatusCode.Unsupported, `Schema \`${database}\` is read-only`);
}

/** The definition that a statement describes. @throws DbError */
export function tableDefinition(statement: CreateTable, environment: Environment): TableDefinition {
  const { database, table } = resolveName(statement.name, environment.database);
  checkTableName(table);
  const engine = statement.engine ?? "mito";
  if (!ENGINES.includes(engine)) throw invalidArguments(`Table engine not found: ${engine}; use one of ${ENGINES.join(", ")}`);
  checkColumns(statement);
  const timeIndex = timeIndexName(statement);
  const primaryKey = primaryKeyNames(statement, timeIndex);
  const columns = statement.columns.map((clause): ColumnDefinition => {
    const semantic = clause.name === timeIndex ? "timestamp" : primaryKey.includes(clause.name) ? "tag" : "field";
    return columnDefinition(clause, semantic, environment);
  });
  const options = ownCompaction(tableOptions(statement.options));
  checkStructured(columns, options);
  const { partitions } = statement;
  const divided = partitions === undefined ? {} : { partitions: tablePartitions(partitions, columns, environment) };
  checkSpread({ engine, options, ...divided });
  return { database, name: table, columns, primaryKey, engine, options, ...divided };
}

/** Options of compaction that a table has itself count instead of those of its database, which the table then says. */
function ownCompaction(options: Options): Options {
  const isOwn = Object.keys(options).some((key) => key.startsWith("compaction."));
  return isOwn ? { ...options, "compaction.override": options["compaction.override"] ?? "true" } : options;
}

/** What CREATE TABLE AS has is counted here; a text with too many columns is refused as it is read. */
function checkColumns({ columns }: CreateTable): void {
  if (columns.length > TABLE_COLUMNS_MAX)
    throw invalidArguments(`cannot create table: it has ${columns.length} columns, at most ${TABLE_COLUMNS_MAX} are allowed`);
  const seen = new Map<string, number>();
  for (const [i, { name }] of columns.entries()) {
    const first = seen.get(name);
    if (first !== undefined) throw invalidArguments(`Invalid SQL, error: column name \`${name}\` is duplicated at index ${first} and ${i}`);
    const flaw = nameFlaw(name);
    if (flaw !== undefined) throw invalidArguments(`Invalid column name at index ${i}: ${flaw}`);
    seen.set(name, i);
  }
}

function timeIndexName({ columns, timeIndexes }: CreateTable): string {
  const inline = columns.filter((column) => column.timeIndex).map((column) => [column.name]);
  const all = [...inline, ...timeIndexes];
  const [first] = all;
  if (first === undefined) throw syntax("Missing time index constraint");
  if (all.length > 1) throw syntax(`Invalid time index: expected only one time index constraint but actual ${all.length}`);
  const [name, ...others] = first;
  if (name === undefined || others.length > 0) throw syntax("Invalid time index: it should contain only one column in time index");
  if (!columns.some((column) => column.name === name))
    throw invalidArguments(`Invalid SQL, error: time index column \`${name}\` is not a column of the table`);
  return name;
}

function primaryKeyNames({ columns, primaryKey }: CreateTable, timeIndex: string): readonly string[] {
  const inline = columns.filter((column) => column.primaryKey).map((column) => column.name);
  if (inline.length > 1)
    throw invalidArguments("Illegal primary keys definition: not allowed to inline multiple primary keys in columns options");
  if (inline.length > 0 && primaryKey !== undefined)
    throw invalidArguments("Illegal primary keys definition: found definitions of primary keys in multiple places");
  const names = primaryKey ?? inline;
  for (const [i, name] of names.entries()) {
    if (!columns.some((column) => column.name === name))
      throw invalidArguments(`Invalid SQL, error: primary key column \`${name}\` is not a column of the table`);
    if (name === timeIndex) throw columnOptionError(name, "a column cannot be both a primary key and the time index");
    if (names.indexOf(name) !== i) throw invalidArguments(`Illegal primary keys definition: column \`${name}\` is named twice`);
  }
  return names;
}

/** Drops the tables of a statement, one after another, once it is known that all of them can be dropped. @throws DbError TableNotFound */
export async function dropTable(statement: Extract<Statement, { kind: "drop-table" }>, context: QueryContext): Promise<StatementResult> {
  const found: ResolvedName[] = [];
  for (const name of statement.names) {
    const { database, table } = resolveName(name, context.variables.database);
    checkWritable(database);
    const missing = context.catalog.table(database, table) === undefined;
    checkNoView({ database, table }, "drop table", context, "; use DROP VIEW");
    if (missing) checkNoGraphTable({ database, table });
    if (missing && !statement.ifExists) throw tableNotFound(database, table);
    if (!missing) found.push({ database, table });
  }
  // A table that is named twice is gone the second time, which is what was asked for.
  for (const [i, { database, table }] of found.entries()) await context.catalog.dropTable(database, table, i > 0 || statement.ifExists);
  return NO_ROWS_CHANGED;
}
