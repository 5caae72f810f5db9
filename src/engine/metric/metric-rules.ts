/** What physical and logical tables may be, and how they may change (contract query.md 1.4). */
import { DbError, invalidArguments } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { FLOAT64, sameType, sqlName } from "../../column/data-type.ts";
import {
  isPhysicalTable,
  LOGICAL_TABLE_OPTION,
  PHYSICAL_TABLE_OPTION,
  physicalTableOf,
  SERIES_HASH_COLUMN,
  TABLE_ID_COLUMN,
} from "../../table/metric.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import type { ColumnDefinition, SchemaChange, TableDefinition, TableSchema } from "../../table/schema.ts";
import { LABELS_COLUMN } from "./storage-schema.ts";

const RESERVED: readonly string[] = [TABLE_ID_COLUMN, SERIES_HASH_COLUMN, LABELS_COLUMN];

/** Options that say something of one logical table; the rest is its physical table's affair. */
const LOGICAL_OPTION = /^(?:on_physical_table|comment|ttl|table_data_model|otlp_metric_compat|greptime\.semantic\..*)$/;
/** What of a logical table may be set later. */
const SETTABLE_OPTION = /^(?:comment|greptime\.semantic\..*)$/;
const INDEX_TYPES: readonly string[] = ["none", "inverted", "skipping"];

/** What these rules look at of a table, also of one about to be made. */
export type MetricTable = Pick<TableDefinition, "name" | "columns" | "engine" | "options">;

/** Refuses a table that is neither a physical nor a logical one, and columns that neither may have. @throws DbError InvalidArguments */
export function checkMetricTable(table: MetricTable): void {
  const { name, options } = table;
  const isLogical = physicalTableOf(table) !== undefined;
  if (isLogical && options[PHYSICAL_TABLE_OPTION] !== undefined) {
    throw invalidArguments(
      `cannot create table ${name}: it has both ${PHYSICAL_TABLE_OPTION} and ${LOGICAL_TABLE_OPTION}; give it one of them`,
    );
  }
  if (!isLogical && !isPhysicalTable(table)) {
    const ways = `${LOGICAL_TABLE_OPTION} = '<its physical table>', or ${PHYSICAL_TABLE_OPTION} = '' to make it a physical one`;
    throw invalidArguments(`cannot create table ${name}: a table of the metric engine needs the option ${ways}`);
  }
  for (const column of table.columns) checkColumn(table, column);
  const fields = table.columns.filter(({ semantic }) => semantic === "field");
  if (fields.length !== 1) {
    throw invalidArguments(
      `cannot create table ${name}: a table of the metric engine has one field, a DOUBLE; got ${fields.length} fields`,
    );
  }
  if (isLogical) return;
  const index = options["index.type"] ?? "none";
  if (!INDEX_TYPES.includes(index))
    throw invalidArguments(`cannot create table ${name}: its index.type is ${index}; use ${INDEX_TYPES.join(", ")}`);
}

/** Refuses a logical table that its physical table cannot carry. @throws DbError InvalidArguments */
export function checkLogicalTable(table: MetricTable, physical: MetricTable): void {
  for (const key of Object.keys(table.options)) {
    if (LOGICAL_OPTION.test(key)) continue;
    throw invalidArguments(`cannot create table ${table.name}: ${key} is an option of its physical table; set it on ${physical.name}`);
  }
  for (const column of table.columns) checkOnPhysical(table.name, column, physical);
}

/** Options of a logical table that a write makes: those that the contract has a logical table ignore are left out. */
export function logicalOptionsOf(options: Readonly<Record<string, string>>, physical: string): Readonly<Record<string, string>> {
  const kept = Object.entries(options).filter(([key]) => LOGICAL_OPTION.test(key));
  return { ...Object.fromEntries(kept), [LOGICAL_TABLE_OPTION]: physical };
}

/** Physical tables get the column of native histograms with the first logical table that has them. */
function checkColumn(metricTable: MetricTable, { name, type, semantic }: ColumnDefinition): void {
  const { name: table } = metricTable;
  if (RESERVED.includes(name)) throw invalidArguments(`cannot give table ${table} a column ${name}: the name belongs to the metric engine`);
  if (semantic === "tag" && type.kind !== "string") {
    throw invalidArguments(`cannot give table ${table} a tag ${name} of type ${sqlName(type)}: tags of the metric engine are STRING`);
  }
  const holdsHistograms = physicalTableOf(metricTable) !== undefined && sameType(type, NATIVE_HISTOGRAM);
  if (semantic === "field" && !sameType(type, FLOAT64) && !holdsHistograms) {
    throw invalidArguments(
      `cannot give table ${table} a field ${name} of type ${sqlName(type)}: the field of the metric engine is a DOUBLE`,
    );
  }
}

function checkOnPhysical(table: string, { name, type, semantic }: ColumnDefinition, physical: MetricTable): void {
  const theirs = physical.columns.find((column) => column.name === name);
  const time = physical.columns.find((column) => column.semantic === "timestamp");
  if (semantic === "timestamp" && time !== undefined && !sameType(type, time.type)) {
    throw invalidArguments(
      `cannot create table ${table}: its time index is ${sqlName(type)} and that of ${physical.name} is ${sqlName(time.type)}`,
    );
  }
  if (semantic !== "tag" || theirs === undefined || theirs.semantic === "tag") return;
  throw invalidArguments(`cannot give table ${table} a tag ${name}: ${physical.name} has a ${theirs.semantic} column of that name`);
}

/** Refuses changes that a logical table cannot have. @throws DbError InvalidArguments */
export function checkLogicalChange(schema: TableSchema, change: SchemaChange, physical: MetricTable): void {
  switch (change.kind) {
    case "several":
      for (const one of change.changes) checkLogicalChange(schema, one, physical);
      return;
    case "set-comment":
      return;
    case "set-options":
      if (Object.keys(change.options).every((key) => SETTABLE_OPTION.test(key))) return;
      break;
    case "add-columns":
      for (const column of change.columns) {
        if (column.semantic !== "tag") {
          throw invalidArguments(
            `cannot add column ${column.name} to table ${schema.name}: a logical table takes tags alone; add PRIMARY KEY`,
          );
        }
        checkColumn(schema, column);
        checkOnPhysical(schema.name, column, physical);
      }
      return;
    default:
  }
  throw invalidArguments("Alter logical tables invalid arguments: Only support add columns operation");
}

/** Refuses changes that a physical table cannot have: its columns follow those of its logical tables. @throws DbError Unsupported */
export function checkPhysicalChange(schema: TableSchema, change: SchemaChange): void {
  switch (change.kind) {
    case "several":
      for (const one of change.changes) checkPhysicalChange(schema, one);
      return;
    case "set-options":
    case "set-comment":
    case "set-indexes":
      return;
    case "drop-columns":
      // Dropping a tag or the time index is refused with a text of its own, as it is for every table.
      if (change.names.some((name) => schema.columns.find((column) => column.name === name)?.semantic !== "field")) return;
      break;
    default:
  }
  throw new DbError(StatusCode.Unsupported, "Alter request to physical region is forbidden");
}
