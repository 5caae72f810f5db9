/** ALTER TABLE: what the statement says becomes changes of the schema, which are made together or not at all (contract query.md 1.5). */
import { notSupported } from "../../plan/bind/plan-error.ts";
import { unreachable } from "../../../base/assert.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Table } from "../../../table/catalog.ts";
import { parseSpread, SPREAD_OPTION, spreadChangeTime } from "../../../table/shards/spread.ts";
import type { ColumnSchema, NewColumn, SchemaChange, TableSchema } from "../../../table/schema.ts";
import { columnNamed } from "../../../table/not-found.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { environmentOf } from "../../plan/common/planner.ts";
import { resolveName } from "../../plan/from/source.ts";
import { checkNoGraphTable } from "../../plan/common/semantic-graph.ts";
import { builtInTableNames } from "../../plan/virtual/built-in-table.ts";
import type { QueryContext } from "../../query-context.ts";
import type { AlterAction, AlterTable, ChangedOptions } from "../../sql/syntax/definition-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../../statement-result.ts";
import { changedTableOptions, unsetTableOptions } from "./changed-options.ts";
import { checkStructured, columnDefinition, defaultOf } from "./column-definition.ts";
import { columnOptionError } from "../../../table/column-option-error.ts";
import { indexText } from "../../../table/index-clause.ts";
import { withIndex, withoutIndex } from "./index-clauses.ts";
import { tableToChange } from "./table-to-change.ts";

type ActionOf<K extends AlterAction["kind"]> = Extract<AlterAction, { kind: K }>;

/** Changes a table. @throws DbError of contract query.md 1.5 */
export async function alterTable(statement: AlterTable, context: QueryContext): Promise<StatementResult> {
  const { database, table } = tableToChange(statement.name, context);
  const environment = environmentOf(context.clock, context.variables);
  // A spread changes behind the newest row.
  if (statement.actions.some(({ kind }) => kind === "set-options" || kind === "unset-options")) await table.refreshed?.("figures");
  const indexes = new Map<string, readonly string[]>();
  const changes = statement.actions.map((action) => changeOf(action, table, environment, indexes));
  const [first, ...others] = changes;
  if (first === undefined) return NO_ROWS_CHANGED;
  await context.catalog.alterTable(database, table.schema.name, others.length === 0 ? first : { kind: "several", changes });
  return NO_ROWS_CHANGED;
}

/** @param indexes index clauses that earlier actions of the statement gave to columns */
function changeOf(action: AlterAction, table: Table, environment: Environment, indexes: Map<string, readonly string[]>): SchemaChange {
  const { schema } = table;
  switch (action.kind) {
    case "add-column":
      checkStructured([action.column], schema.options);
      return { kind: "add-columns", columns: [newColumn(action, environment)], ifNotExists: action.ifNotExists };
    case "drop-column":
      checkNoPartition(schema, action.column);
      return { kind: "drop-columns", names: [action.column] };
    case "change-type":
      if (action.type.kind === "interval") throw notSupported("Modify column type to interval type");
      checkNoPartition(schema, action.column);
      return { kind: "change-type", column: action.column, type: action.type };
    case "set-default": {
      const { name, type, nullable } = columnNamed(schema, action.column);
      if (action.value.kind === "null" && !nullable) {
        throw invalidArguments("Default value should not be null for non null column");
      }
      return { kind: "set-default", column: name, default: defaultOf({ name, type }, action.value, nullable, environment) };
    }
    case "drop-default":
      return { kind: "set-default", column: action.column, default: undefined };
    case "set-index":
    case "unset-index":
      return indexChange(action, columnNamed(schema, action.column), indexes);
    case "set-options":
      return optionsChange(changedTableOptions(action.options, schema), table, environment);
    case "unset-options":
      return optionsChange(unsetTableOptions(action.keys), table, environment);
    case "rename":
      return { kind: "rename", name: newName(action, schema) };
    default:
      return unreachable(action);
  }
}

/** A change of `spread` holds for times that no row has yet. */
function optionsChange(options: ChangedOptions, table: Table, { now }: Environment): SchemaChange {
  const { schema } = table;
  const { [SPREAD_OPTION]: text, ...others } = options;
  if (!(SPREAD_OPTION in options)) return { kind: "set-options", options };
  const from = spreadChangeTime(schema, now, table.timeBounds());
  const spread: SchemaChange = { kind: "set-spread", spread: text === undefined ? undefined : parseSpread(text), from };
  if (Object.keys(others).length === 0) return spread;
  return { kind: "several", changes: [{ kind: "set-options", options: others }, spread] };
}

function newColumn({ column, ifNotExists, place }: ActionOf<"add-column">, environment: Environment): NewColumn {
  if (column.type.kind === "interval") throw notSupported("Add column with interval type");
  if (column.timeIndex) throw columnOptionError(column.name, "a table has one time index, which cannot be added");
  const definition = columnDefinition(column, column.primaryKey ? "tag" : "field", environment);
  return { ...definition, ifNotExists, ...(place === undefined ? {} : { place }) };
}

function indexChange(
  action: ActionOf<"set-index"> | ActionOf<"unset-index">,
  column: ColumnSchema,
  indexes: Map<string, readonly string[]>,
): SchemaChange {
  const before = indexes.get(column.name) ?? column.indexes ?? [];
  const after =
    action.kind === "unset-index"
      ? withoutIndex(before, action.index)
      : withIndex(before, indexText(column, action.index.kind, action.index.options), column.name);
  indexes.set(column.name, after);
  return { kind: "set-indexes", column: column.name, indexes: after };
}

/** The name that a table gets. It stays in its database. */
function newName({ name }: ActionOf<"rename">, schema: TableSchema): string {
  const { database, table } = resolveName(name, schema.database);
  if (database !== schema.database) {
    throw invalidArguments(`cannot rename table ${schema.name}: ${name.join(".")} is in another database`);
  }
  checkNoGraphTable({ database, table });
  if (builtInTableNames(database).includes(table)) {
    throw new DbError(StatusCode.TableAlreadyExists, `Table already exists, table: greptime.${database}.${table}`);
  }
  return table;
}

/** Rules of partitions name their columns and compare them with values of their type. @throws DbError InvalidArguments */
function checkNoPartition(schema: TableSchema, column: string): void {
  if (schema.partitions?.columns.includes(column) !== true) return;
  const why = `column ${column} is one of PARTITION ON COLUMNS, which cannot change; copy the rows into a new table instead`;
  throw invalidArguments(`Invalid alter table(${schema.name}) request: ${why}`);
}
