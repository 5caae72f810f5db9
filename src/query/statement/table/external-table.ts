/** CREATE EXTERNAL TABLE, and the refusal of changes to such tables (contract query.md 1.4). */
import { Pace } from "../../../base/scheduler/pace.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { FILE_ENGINE, fileTableRefusal, isFileTable } from "../../../table/file-table.ts";
import type { TableSchema } from "../../../table/schema.ts";
import { fileColumns } from "../../copy/file-reader.ts";
import { externalFilesOf, type ExternalOptions, externalOptions } from "../../plan/from/external-source.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { resolveName } from "../../plan/from/source.ts";
import type { QueryContext } from "../../query-context.ts";
import type { Expression, Span } from "../../sql/syntax/ast.ts";
import type { ColumnClause, CreateExternalTable, CreateTable } from "../../sql/syntax/definition-ast.ts";
import { plainColumn } from "../../sql/syntax/plain-trees.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { checkWritable, isTaken, tableDefinition } from "./create-table.ts";

/** Most types inside each other in a column. Reason: the catalogue reads back no more. Error: InvalidArguments. */
const TYPE_DEPTH_MAX = 8;

/** The time index of tables that name none. */
const TIME_COLUMN = "greptime_timestamp";

/** Makes a table over files; without columns its columns are those of the first file. @throws DbError InvalidArguments */
export async function createExternalTable(statement: CreateExternalTable, context: QueryContext): Promise<StatementResult> {
  const { ifNotExists, span } = statement;
  const { database, table } = resolveName(statement.name, context.variables.database);
  checkWritable(database);
  if (isTaken({ database, table }, ifNotExists, context)) return NO_ROWS_CHANGED;
  const external = externalOptions(statement.options);
  const given = statement.columns.length > 0 ? statement.columns : await columnsOfFiles(external, span, context);
  const isTimed = statement.timeIndexes.length > 0 || given.some(({ timeIndex }) => timeIndex);
  const columns = isTimed ? given : withTime(given, span);
  const create: CreateTable = { ...statement, kind: "create-table", columns, partitions: undefined, engine: FILE_ENGINE, options: {} };
  const definition = tableDefinition(create, environmentOf(context.clock, context.variables));
  const options = Object.fromEntries(Object.entries(statement.options).map(([key, value]) => [key.toLowerCase(), value]));
  await context.catalog.createTable({ ...definition, options: { format: external.options.format, ...options } }, ifNotExists);
  return NO_ROWS_CHANGED;
}

async function columnsOfFiles(external: ExternalOptions, span: Span, { files, scheduler }: QueryContext): Promise<readonly ColumnClause[]> {
  if (files === undefined) throw new DbError(StatusCode.Unsupported, "cannot create external table: this server reaches no files");
  const [first] = await externalFilesOf(external, files);
  if (first === undefined) {
    const why = "there is no file to take the columns from; name them";
    throw invalidArguments(`cannot create external table over '${external.location}': ${why}`);
  }
  const file = await files.open(first.location, external.connection);
  try {
    const columns = await fileColumns(file, external.options, new Pace(scheduler));
    for (const { name, type } of columns) {
      if (depthOf(type) <= TYPE_DEPTH_MAX) continue;
      const why = `column ${name} has types deeper than ${TYPE_DEPTH_MAX} inside each other; name the columns, without it`;
      throw invalidArguments(`cannot create external table over '${first.location}': ${why}`);
    }
    return columns.map(({ name, type }) => plainColumn(name, type, span));
  } finally {
    await file.close();
  }
}

/** Types inside each other; a plain one has none. */
function depthOf(type: DataType): number {
  switch (type.kind) {
    case "list":
      return 1 + depthOf(type.element);
    case "struct":
      return 1 + Math.max(...type.fields.map((field) => depthOf(field.type)));
    case "map":
      return 1 + Math.max(depthOf(type.key), depthOf(type.value));
    default:
      return 0;
  }
}

function withTime(columns: readonly ColumnClause[], span: Span): readonly ColumnClause[] {
  const own = columns.find(({ name }) => name === TIME_COLUMN);
  if (own?.type.kind === "timestamp") return columns.map((column) => (column === own ? { ...own, timeIndex: true } : column));
  const epoch: Expression = { kind: "string", value: "1970-01-01 00:00:00+0000", span };
  const time = { ...plainColumn(TIME_COLUMN, TIMESTAMP_MILLISECOND, span), nullable: false, default: epoch, timeIndex: true };
  return [...columns, time];
}

/** @throws DbError Unsupported for an external table, which is read only */
export function checkNoFileTable(schema: Pick<TableSchema, "name" | "engine" | "options">): void {
  if (isFileTable(schema)) throw new DbError(StatusCode.Unsupported, fileTableRefusal(schema.name));
}
