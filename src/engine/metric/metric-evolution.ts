/** What "tables of keys" writes need that does not exist: physical tables, logical tables, labels. */
import { invalidArguments } from "../../base/error.ts";
import { FLOAT64 } from "../../column/data-type.ts";
import { METRIC_ENGINE, PHYSICAL_TABLE_OPTION } from "../../table/metric.ts";
import type { ColumnDefinition, TableDefinition, TableSchema } from "../../table/schema.ts";
import type { SeriesDictionary, TagShape } from "../../table/series-dictionary.ts";
import type { TableWrite, WriteOptions } from "../../table/write-batch.ts";
import { holdsHistograms } from "../../table/native-histogram.ts";
import { checkMayExtend, DEFAULT_TIME_COLUMN, tableMissing, tagColumn } from "../schema/schema-evolution.ts";
import type { SchemaStep } from "../schema/catalog-plans.ts";
import { carrierName, type TableSteps, type WriteRefusals } from "../table/write-refusals.ts";
import { logicalOptionsOf } from "./metric-rules.ts";
import type { SchemaSource } from "./metric-steps.ts";
import { checkSampleKind } from "./sample-kind.ts";

/** The field of physical tables that writes of native histograms make. */
const DEFAULT_VALUE: Pick<ColumnDefinition, "name" | "type"> = { name: "greptime_value", type: FLOAT64 };

/** A "tables of keys" write with those of its keys that have no series yet. */
export interface PendingMetrics {
  readonly write: TableWrite;
  readonly keys: readonly number[];
}

/** What a logical table has and lacks. */
interface Needs {
  readonly schema: TableSchema | undefined;
  /** The first write with a key of the table. */
  readonly write: TableWrite;
  readonly known: Set<string>;
  readonly missing: string[];
}

/**
 * The steps that make room for the keys, table by table, physical ones first. Label columns of physical tables are not among them:
 * `withPhysicalSteps` adds them. Tables that may not be made, or lack what may not be added, are refused.
 */
export function metricSteps(
  database: string,
  pending: readonly PendingMetrics[],
  dictionary: SeriesDictionary,
  options: WriteOptions,
  schemas: SchemaSource,
  refusals: WriteRefusals,
): TableSteps[] {
  const made: TableSteps[] = [];
  const needed = new Map<string, Needs>();
  const physical = new Set<string>();
  for (const { write, keys } of pending) {
    if (keys.length === 0) continue;
    const carrier = carrierName(write.table);
    const isMissing = schemas.schema(database, write.table) === undefined && !physical.has(write.table);
    if (isMissing) {
      physical.add(write.table);
      refusals.collect(made, carrier, () => {
        checkMayCreate(database, write.table, options);
        return [{ kind: "create", definition: physicalDefinition(database, write) }];
      });
    }
    if (!refusals.tables.has(carrier)) collectNeeds(database, write, keys, dictionary, schemas, needed, refusals);
  }
  for (const [table, needs] of needed) {
    if (refusals.tables.has(table)) continue;
    refusals.collect(made, table, () => logicalSteps(database, table, needs, options, schemas));
  }
  return made;
}

function logicalSteps(
  database: string,
  table: string,
  { schema, write, missing }: Needs,
  options: WriteOptions,
  schemas: SchemaSource,
): SchemaStep[] {
  if (schema === undefined) {
    checkMayCreate(database, table, options);
    const carrier = schemas.schema(database, write.table);
    return [{ kind: "create", definition: logicalDefinition(database, table, missing, write, options, carrier) }];
  }
  if (missing.length === 0) return [];
  const columns = missing.map(tagColumn);
  checkMayExtend(schema, columns, options);
  return [{ kind: "alter", database, table, change: { kind: "add-columns", columns, ifNotExists: true } }];
}

function checkMayCreate(database: string, table: string, options: WriteOptions): void {
  const refused = tableMissing(database, table, options);
  if (refused !== undefined) throw refused;
}

function collectNeeds(
  database: string,
  write: TableWrite,
  keys: readonly number[],
  dictionary: SeriesDictionary,
  schemas: SchemaSource,
  needed: Map<string, Needs>,
  refusals: WriteRefusals,
): void {
  const seen = new Set<TagShape>();
  for (const key of keys) {
    const shared = dictionary.sharedShapeOf(key);
    if (shared !== undefined) {
      if (seen.has(shared)) continue;
      seen.add(shared);
    }
    const { table, names } = shared ?? dictionary.shapeOf(key);
    if (refusals.tables.has(table)) continue;
    try {
      need(database, write, table, names, schemas, needed);
    } catch (error) {
      refusals.refuse(table, error);
    }
  }
}

/** @throws DbError InvalidArguments when the table cannot have the names as labels, or the write's samples */
function need(
  database: string,
  write: TableWrite,
  table: string,
  names: readonly string[],
  schemas: SchemaSource,
  needed: Map<string, Needs>,
): void {
  let needs = needed.get(table);
  if (needs === undefined) {
    const schema = schemas.schema(database, table);
    const tags = schema?.columns.filter(({ semantic }) => semantic === "tag") ?? [];
    needs = { schema, write, known: new Set(tags.map(({ name }) => name)), missing: [] };
    needed.set(table, needs);
  }
  // Of every write: one request may bring numbers and histograms of one metric.
  checkSampleKind(table, [...(needs.schema?.columns ?? [valueColumn(needs.write)]), valueColumn(write)]);
  for (const name of names) {
    if (needs.known.has(name)) continue;
    checkIsFree(table, needs.schema, name);
    needs.known.add(name);
    needs.missing.push(name);
  }
}

function checkIsFree(table: string, schema: TableSchema | undefined, name: string): void {
  const taken = schema?.columns.find((column) => column.name === name);
  if (taken === undefined) return;
  const what = `column ${name} is a ${taken.semantic} column; got a tag`;
  throw invalidArguments(`cannot write to table ${table}: ${what}`);
}

/** Native histograms get a column when their logical table is made (`metric-steps.ts`). */
function physicalDefinition(database: string, write: TableWrite): TableDefinition {
  const value = valueColumn(write);
  return {
    database,
    name: write.table,
    columns: [timeColumn(DEFAULT_TIME_COLUMN, write), holdsHistograms(value) ? { ...value, ...DEFAULT_VALUE } : value],
    primaryKey: [],
    engine: METRIC_ENGINE,
    options: { comment: "Created on insertion", [PHYSICAL_TABLE_OPTION]: "" },
  };
}

/** Labels in the order of their names. A table on a physical table that exists counts time as that one does. */
function logicalDefinition(
  database: string,
  name: string,
  labels: readonly string[],
  write: TableWrite,
  options: WriteOptions,
  physical: TableSchema | undefined,
): TableDefinition {
  const primaryKey = labels.toSorted();
  const physicalTime = physical?.columns.find(({ semantic }) => semantic === "timestamp");
  const time = timeColumn(DEFAULT_TIME_COLUMN, write);
  const value = valueColumn(write);
  return {
    database,
    name,
    columns: [physicalTime === undefined ? time : { ...time, type: physicalTime.type }, value, ...primaryKey.map(tagColumn)],
    primaryKey,
    engine: METRIC_ENGINE,
    options: logicalOptionsOf({ ...options.tableOptions, ...options.optionsOfTables?.get(name) }, write.table),
  };
}

function timeColumn(name: string, { timeUnit }: TableWrite): ColumnDefinition {
  return { name, type: { kind: "timestamp", unit: timeUnit }, semantic: "timestamp", nullable: false };
}

function valueColumn({ fields: [field] }: TableWrite): ColumnDefinition {
  return { name: field?.name ?? "", type: field?.type ?? FLOAT64, semantic: "field", nullable: true };
}
