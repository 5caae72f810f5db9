/** SHOW DATABASES and SHOW TABLES. */
import { databaseNamed } from "../shared/database-named.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Scalar } from "../../../column/vector.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { likeTest } from "../../function/text/like.ts";
import { bindCondition } from "../../plan/bind/bind.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { builtInTableNames } from "../../plan/virtual/built-in-table.ts";
import { optionLines } from "../../plan/virtual/information-table.ts";
import { INFORMATION_SCHEMA } from "../../../table/reserved-names.ts";
import type { QueryContext } from "../../query-context.ts";
import type { ShowFilter } from "../../sql/syntax/show-ast.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { rowsResult, textHeaders } from "../shared/rows-result.ts";

/** Names of databases, sorted. */
export function showDatabases(statement: Extract<Statement, { kind: "show-databases" }>, context: QueryContext): StatementResult {
  const listed = new Map(context.catalog.databases().map((database) => [database.name, database.options] as const));
  if (!listed.has(INFORMATION_SCHEMA)) listed.set(INFORMATION_SCHEMA, {});
  const rows = [...listed]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, options]) => {
      return statement.full ? [name, optionLines(options)] : [name];
    });
  const headers = statement.full ? textHeaders("Database", "Options") : textHeaders("Database");
  return rowsResult(headers, filtered(rows, headers, statement.filter, context));
}

/** Names of the tables of a database, sorted. @throws DbError DatabaseNotFound */
export function showTables(statement: Extract<Statement, { kind: "show-tables" }>, context: QueryContext): StatementResult {
  const database = databaseNamed(statement.database ?? context.variables.database, context.catalog);
  const listed = new Map<string, string>(context.catalog.tables(database).map((table) => [table.schema.name, "BASE TABLE"]));
  for (const { name } of context.catalog.views(database)) listed.set(name, "VIEW");
  for (const name of builtInTableNames(database)) listed.set(name, "LOCAL TEMPORARY");
  const rows = [...listed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, type]) => (statement.full ? [name, type] : [name]));
  const headers = statement.full ? textHeaders(`Tables_in_${database}`, "Table_type") : textHeaders(`Tables_in_${database}`);
  return rowsResult(headers, filtered(rows, headers, statement.filter, context));
}

/** Rows that pass LIKE (on the first column) or WHERE. @throws DbError PlanQuery */
export function filtered(
  rows: readonly (readonly Scalar[])[],
  headers: readonly ColumnHeader[],
  filter: ShowFilter,
  context: QueryContext,
): readonly (readonly Scalar[])[] {
  if (filter === undefined) return rows;
  if (filter.kind === "like") {
    const test = likeTest(filter.pattern, undefined, false);
    return rows.filter(([name]) => test(String(name ?? "")));
  }
  const environment = environmentOf(context.clock, context.variables);
  // WHERE names the columns in any case: `Database`, `database`, `Tables`.
  const scope = headers.flatMap(({ name, type }, index) => {
    const expression = { kind: "column", type, index, name } as const;
    const other = name.startsWith("Tables_in_") ? ["Tables", "tables"] : name === "Database" ? ["Schemas", "schemas"] : [];
    const names = new Set([name, name.toLowerCase(), ...other]);
    return [...names].map((each) => ({ qualifier: undefined, name: each, expression }));
  });
  const condition = bindCondition(filter.expression, "WHERE", { scope, environment });
  return rows.filter((row) => evaluate(condition, (column) => row[column], environment) === true);
}
