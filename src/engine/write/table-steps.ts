/** What writes to ordinary tables need that does not exist: tables and columns, or the refusal where they cannot be had. */
import { FLOAT64, sameType } from "../../column/data-type.ts";
import { optionsFromDatabase } from "../../table/database-template.ts";
import type { TableDefinition } from "../../table/schema.ts";
import type { SeriesDictionary } from "../../table/series-dictionary.ts";
import type { TableWrite, WriteOptions } from "../../table/write-batch.ts";
import { checkSampleKind } from "../metric/sample-kind.ts";
import {
  checkMayExtend,
  columnsForNewTable,
  type KnownColumns,
  missingColumns,
  tableMissing,
  tagNamesOf,
  widenedColumns,
  withWidened,
} from "../schema/schema-evolution.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";
import type { TableSteps, WriteRefusals } from "../table/write-refusals.ts";
import type { WritePlan } from "../table/write-rows.ts";
import type { WriteTables } from "../table/write-target.ts";

/** A table write, and its keys that have no series yet. */
export interface PendingWrite {
  readonly write: TableWrite;
  readonly keys: readonly number[];
}

/** What steps are made from. */
interface StepSource {
  readonly database: string;
  readonly dictionary: SeriesDictionary;
  readonly options: WriteOptions;
  readonly tables: Pick<WriteTables, "find" | "databaseOptions">;
  /** Tables that earlier steps create or extend, as they will be. */
  readonly growing: Map<string, KnownColumns>;
}

/** The steps that make room for the writes, table by table. Tables that cannot take theirs are refused. */
export function tableSteps(
  database: string,
  pending: readonly PendingWrite[],
  dictionary: SeriesDictionary,
  options: WriteOptions,
  tables: Pick<WriteTables, "find" | "databaseOptions">,
  refusals: WriteRefusals,
): TableSteps[] {
  const made: TableSteps[] = [];
  const source: StepSource = { database, dictionary, options, tables, growing: new Map() };
  for (const each of pending) {
    const { table } = each.write;
    if (refusals.tables.has(table)) continue;
    refusals.collect(made, table, () => stepsOf(each, source));
  }
  return made;
}

/** @throws DbError when the table cannot take the write */
function stepsOf({ write, keys }: PendingWrite, { database, dictionary, options, tables, growing }: StepSource): readonly SchemaStep[] {
  const { table } = write;
  const tagNames = keys.length === 0 ? [] : tagNamesOf(dictionary, keys);
  const entry = tables.find(database, table);
  let schema: KnownColumns | undefined = growing.get(table) ?? entry?.schema;
  if (entry !== undefined && tagNames.length === 0 && fieldsMatch(entry.plan, write)) return [];
  if (schema === undefined) {
    const refused = tableMissing(database, table, options);
    if (refused !== undefined) throw refused;
    const own = { ...options.tableOptions, ...options.optionsOfTables?.get(table) };
    const definition = newTable(database, write, dictionary, tagNames, templated(own, tables.databaseOptions(database)));
    growing.set(table, definition);
    return [{ kind: "create", definition }];
  }
  const steps: SchemaStep[] = [];
  const widened = widenedColumns(schema, write.fields, options);
  if (widened.length > 0) {
    schema = withWidened(schema, widened);
    steps.push(...widened.map((column) => wideningOf(database, table, column)));
  }
  const missing = missingColumns(schema, tagNames, write.fields, write.shape);
  checkMayExtend(schema, missing, options);
  if (missing.length > 0) {
    schema = { name: table, columns: [...schema.columns, ...missing] };
    checkSampleKind(table, schema.columns);
    steps.push({ kind: "alter", database, table, change: { kind: "add-columns", columns: missing, ifNotExists: true } });
  }
  if (steps.length > 0) growing.set(table, schema);
  return steps;
}

/** Whether all fields exist with their types: the usual case, without building anything. */
function fieldsMatch(plan: WritePlan, write: TableWrite): boolean {
  for (const field of write.fields) {
    const column = plan.columnOf.get(field.name);
    if (column === undefined || column.semantic !== "field") return false;
    if (!sameType(column.type, field.type)) return false;
  }
  return true;
}

function wideningOf(database: string, table: string, column: string): SchemaStep {
  return { kind: "alter", database, table, change: { kind: "change-type", column, type: FLOAT64 } };
}

function newTable(
  database: string,
  write: TableWrite,
  dictionary: SeriesDictionary,
  tagNames: readonly string[],
  options: Readonly<Record<string, string>>,
): TableDefinition {
  const columns = columnsForNewTable(write, dictionary, tagNames);
  return {
    database,
    name: write.table,
    columns,
    primaryKey: columns.filter(({ semantic }) => semantic === "tag").map(({ name }) => name),
    engine: "mito",
    options,
  };
}

/** Options of a new table. One that keeps all rows, as its database says, has no merge mode, whatever a protocol's default is. */
function templated(own: Readonly<Record<string, string>>, database: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { merge_mode: mergeMode, ...rest } = optionsFromDatabase(own, database);
  return mergeMode === undefined || rest["append_mode"] === "true" ? rest : { ...rest, merge_mode: mergeMode };
}
