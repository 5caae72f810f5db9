/** CREATE TABLE … LIKE: a new, empty table with the columns, keys, indexes and options of another. */
import { isInternalColumn } from "../../../table/metric.ts";
import { tableNotFound } from "../../../table/not-found.ts";
import type { ColumnDefinition, ColumnSchema } from "../../../table/schema.ts";
import { resolveName } from "../../plan/from/source.ts";
import { checkNoGraphTable } from "../../plan/common/semantic-graph.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Statement } from "../../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { checkWritable, isTaken } from "./create-table.ts";
import { checkNoView } from "../shared/no-view.ts";
import { checkTableName } from "../../../table/names.ts";

/** Makes a table as another one is. @throws DbError TableNotFound, TableAlreadyExists, DatabaseNotFound, InvalidArguments */
export async function createTableLike(
  { name, source, ifNotExists }: Extract<Statement, { kind: "create-table-like" }>,
  context: QueryContext,
): Promise<StatementResult> {
  const { catalog, variables } = context;
  const from = resolveName(source, variables.database);
  const to = resolveName(name, variables.database);
  checkWritable(to.database);
  checkNoGraphTable(to);
  checkTableName(to.table);
  const table = catalog.table(from.database, from.table);
  if (table === undefined) {
    checkNoView(from, "create a table like", context);
    throw tableNotFound(from.database, from.table);
  }
  if (isTaken(to, ifNotExists, context)) return NO_ROWS_CHANGED;
  const { engine, options, primaryKey, columns, partitions } = table.schema;
  const isOwn = ({ name: column }: ColumnSchema): boolean => !isInternalColumn(table.schema, column);
  const definition = {
    database: to.database,
    name: to.table,
    engine,
    options,
    primaryKey: primaryKey.filter((column) => !isInternalColumn(table.schema, column)),
    columns: columns.filter(isOwn).map(definitionOf),
    ...(partitions === undefined ? {} : { partitions }),
  };
  await catalog.createTable(definition, ifNotExists);
  return NO_ROWS_CHANGED;
}

/** A column without what came of its table: its id, and what older rows hold. */
function definitionOf({ id: _, former: __, initial: ___, ...definition }: ColumnSchema): ColumnDefinition {
  return definition;
}
