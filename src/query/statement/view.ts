/** CREATE VIEW, DROP VIEW, SHOW CREATE VIEW (contract query.md 1.7). */
import { databaseNotFound, tableNotFound } from "../../table/not-found.ts";
import { CATALOG_NAME } from "../../table/reserved-names.ts";
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { inTurns } from "../../base/scheduler/pace.ts";
import { execContextOf } from "./shared/select.ts";
import { newPlanner } from "../plan/plan-query.ts";
import { environmentOf } from "../plan/common/planner.ts";
import { type ResolvedName, resolveName } from "../plan/from/source.ts";
import { planInside } from "../plan/from/view.ts";
import { builtInTableNames } from "../plan/virtual/built-in-table.ts";
import type { QueryContext } from "../query-context.ts";
import type { ObjectName } from "../sql/syntax/ast.ts";
import type { CreateView } from "../sql/syntax/definition-ast.ts";
import { printStatement } from "../sql/print/print-statement.ts";
import type { Statement } from "../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../statement-result.ts";
import { checkWritable } from "./table/create-table.ts";
import { rowsResult, textHeaders } from "./shared/rows-result.ts";
import { checkTableName } from "../../table/names.ts";

/** Makes a view. Its query is planned first, so that it works. @throws DbError of contract query.md 1.7; those of the query */
export async function createView(statement: CreateView, context: QueryContext): Promise<StatementResult> {
  const { orReplace, ifNotExists, columns, query } = statement;
  if (orReplace && ifNotExists) {
    throw invalidArguments("Invalid SQL, error: syntax error Create Or Replace and If Not Exist cannot be used together");
  }
  const { catalog, variables } = context;
  const { database, table: name } = resolveName(statement.name, variables.database);
  checkWritable(database);
  checkTableName(name);
  if (catalog.database(database) === undefined) throw databaseNotFound(database);
  const full = `\`${CATALOG_NAME}.${database}.${name}\``;
  if (catalog.table(database, name) !== undefined || builtInTableNames(database).includes(name)) {
    throw new DbError(StatusCode.TableAlreadyExists, `Table already exists: ${full}`);
  }
  if (catalog.view(database, name) !== undefined && !orReplace) {
    if (ifNotExists) return NO_ROWS_CHANGED;
    throw new DbError(StatusCode.TableAlreadyExists, `View already exists: ${full}`);
  }
  const environment = environmentOf(context.clock, variables);
  const exec = execContextOf(environment, context, {});
  const planner = newPlanner(context, environment, true, exec.budget.reserve);
  const queryDatabase = variables.database;
  const { columns: planned } = await inTurns(planInside(query, { database, name, queryDatabase }, planner), exec);
  const sources = planned.map((column) => column.name);
  if (columns.length > 0 && columns.length !== sources.length) {
    throw invalidArguments(`Expect ${sources.length} columns for view ${name}, but found ${columns.length}`);
  }
  const twice = columns.find((column, i) => columns.indexOf(column) !== i);
  if (twice !== undefined) throw invalidArguments(`Invalid SQL, error: column name \`${twice}\` of view ${name} is duplicated`);
  await catalog.createView(
    {
      database,
      name,
      query: printStatement(query),
      queryDatabase,
      sources,
      columns: columns.length === 0 ? sources : columns,
      definition: printStatement(statement),
    },
    orReplace,
  );
  return NO_ROWS_CHANGED;
}

/**
 * Drops views, one after another, once it is known that all of them can be dropped.
 *
 * @throws DbError TableNotFound, InvalidArguments for a table
 */
export async function dropView(statement: Extract<Statement, { kind: "drop-view" }>, context: QueryContext): Promise<StatementResult> {
  const found: ResolvedName[] = [];
  for (const each of statement.names) {
    const { database, table: name } = resolveName(each, context.variables.database);
    checkWritable(database);
    if (context.catalog.view(database, name) === undefined) {
      const isTable = context.catalog.table(database, name) !== undefined || builtInTableNames(database).includes(name);
      if (isTable) throw invalidArguments(`Invalid view "${CATALOG_NAME}.${database}.${name}": it is a table; use DROP TABLE`);
      if (statement.ifExists) continue;
      throw tableNotFound(database, name);
    }
    found.push({ database, table: name });
  }
  for (const [i, { database, table }] of found.entries()) await context.catalog.dropView(database, table, i > 0 || statement.ifExists);
  return NO_ROWS_CHANGED;
}

/** The statement that made a view. @throws DbError TableNotFound */
export function showCreateView(name: ObjectName, context: QueryContext): StatementResult {
  const { database, table } = resolveName(name, context.variables.database);
  const view = context.catalog.view(database, table);
  if (view === undefined) throw new DbError(StatusCode.TableNotFound, `View not found: ${table}`);
  return rowsResult(textHeaders("View", "Create View"), [[table, view.definition]]);
}
