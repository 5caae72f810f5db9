/**
 * CREATE TABLE … AS query: a table with the columns and the rows of a query.
 *
 * | what | is |
 * |---|---|
 * | columns | those of the query; where the statement defines some itself, these, filled in their order |
 * | time index | `TIME INDEX (c)` of the statement, else the first timestamp column |
 * | primary key | `PRIMARY KEY (…)` of the statement, else none |
 * | without a primary key | the table keeps all rows (`append_mode`), unless options say otherwise: rows of one time replace each other |
 *
 * Rows go into a table of another name, `__ctas_…`, which gets its own when all are there: a statement that fails leaves nothing, a table
 * that is seen is whole. After a crash half way the next start drops the table of the other name.
 */
import { invalidArguments } from "../../../base/error.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { displayName } from "../../../column/data-type.ts";
import { type ExecOptions, prepareSelect } from "../shared/select.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { type ResolvedName, resolveName } from "../../plan/from/source.ts";
import { checkNoGraphTable } from "../../plan/common/semantic-graph.ts";
import type { QueryContext } from "../../query-context.ts";
import type { ColumnClause, CreateTable, CreateTableAs } from "../../sql/syntax/definition-ast.ts";
import { plainColumn } from "../../sql/syntax/plain-trees.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { checkWritable, completeDefinition, isTaken } from "../table/create-table.ts";
import { insertSelect } from "./insert.ts";

/** Kinds of values that columns of tables hold. */
const STORED: readonly string[] = "boolean int float decimal string binary date time timestamp json vector".split(" ");

/** Makes and fills a table; the count is that of its rows. @throws DbError of CREATE TABLE, of the query and of INSERT */
export async function createTableAs(statement: CreateTableAs, context: QueryContext, options: ExecOptions): Promise<StatementResult> {
  const name = resolveName(statement.name, context.variables.database);
  checkWritable(name.database);
  checkNoGraphTable(name);
  if (isTaken(name, statement.ifNotExists, context)) return NO_ROWS_CHANGED;
  if (statement.engine !== undefined && statement.engine !== "mito")
    throw invalidArguments(`cannot create table ${name.table}: AS a query goes with ENGINE=mito, not with ${statement.engine}`);
  const { plan } = await prepareSelect(statement.query, context, options);
  const definition = completeDefinition(tableOf(statement, name, plan.columns), context);
  const unfinished = { ...definition, name: `__ctas_${crypto.randomUUID()}`, isUnfinished: true } as const;
  const rowCount = await filled(unfinished, statement, name, context, options);
  return { kind: "affected", rowCount };
}

/** Makes the table under its other name, fills it, and names it. */
async function filled(
  definition: ReturnType<typeof completeDefinition>,
  { query }: CreateTableAs,
  { database, table: name }: ResolvedName,
  context: QueryContext,
  options: ExecOptions,
): Promise<number> {
  const { catalog } = context;
  const { schema } = await catalog.createTable(definition, false);
  try {
    const target = { schema, named: schema.columns, environment: environmentOf(context.clock, context.variables) };
    const rowCount = await insertSelect(query, target, database, context, options);
    isTaken({ database, table: name }, false, context); // a view of that name may have been made meanwhile
    await catalog.alterTable(database, definition.name, { kind: "rename", name });
    return rowCount;
  } catch (error) {
    await catalog.dropTable(database, definition.name, true);
    throw error;
  }
}

/** The CREATE TABLE that makes the table. @throws DbError InvalidArguments for columns that cannot be */
function tableOf(statement: CreateTableAs, { table }: ResolvedName, found: readonly ColumnHeader[]): CreateTable {
  const { name, ifNotExists, columns, primaryKey, timeIndexes, partitions, engine, options, span } = statement;
  const own = columns.length > 0 ? columns : found.map((header) => columnClause(header, table, statement));
  if (own.length !== found.length)
    throw invalidArguments(`cannot create table ${table}: it has ${own.length} columns, its query gives ${found.length}`);
  const hasTime = timeIndexes.length > 0 || own.some((column) => column.timeIndex);
  const time = hasTime ? undefined : own.find(({ type }) => type.kind === "timestamp");
  if (!hasTime && time === undefined)
    throw invalidArguments(
      `cannot create table ${table}: its query gives no timestamp, which a table needs as its time index; ` +
        "add one, e.g. SELECT now() AS ts, …",
    );
  const hasKey = primaryKey !== undefined || own.some((column) => column.primaryKey);
  const isSaid = "append_mode" in options || "merge_mode" in options;
  return {
    kind: "create-table",
    name,
    ifNotExists,
    columns: own,
    primaryKey,
    timeIndexes: time === undefined ? timeIndexes : [[time.name]],
    partitions,
    engine,
    options: hasKey || isSaid ? options : { ...options, append_mode: "true" },
    span,
  };
}

function columnClause({ name, type }: ColumnHeader, table: string, { span }: CreateTableAs): ColumnClause {
  if (!STORED.includes(type.kind))
    throw invalidArguments(
      `cannot create table ${table}: column ${name} of its query is ${displayName(type)}, which no table holds; cast it`,
    );
  return plainColumn(name, type, span);
}
