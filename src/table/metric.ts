/**
 * The metric engine's roles (contract query.md 1.4): a physical table carries the rows of many logical tables, each of which is little more
 * than a schema. Names that statements and the engine share.
 */
import type { TableSchema } from "./schema.ts";

/** Engine of both kinds of table. */
export const METRIC_ENGINE = "metric";

/** Option that makes a table of the metric engine a physical one. */
export const PHYSICAL_TABLE_OPTION = "physical_metric_table";

/** Option by which a logical table names its physical table, of the same database. */
export const LOGICAL_TABLE_OPTION = "on_physical_table";

/** Physical table of writers that name none. */
export const DEFAULT_PHYSICAL_TABLE = "greptime_physical_table";

/** Column of a physical table: id of the logical table that a row belongs to. There once a logical table was made. */
export const TABLE_ID_COLUMN = "__table_id";

/** Id of that column in storage and in the hash that places rows. Beyond the ids of a user's columns. */
export const TABLE_ID_COLUMN_ID = 0x7fff_ff00;

/** Column of a physical table: a hash of a row's logical table and labels. There once a logical table was made. */
export const SERIES_HASH_COLUMN = "__tsid";

type Roles = Pick<TableSchema, "engine" | "options">;

/** Whether the table carries others. */
export function isPhysicalTable({ engine, options }: Roles): boolean {
  return engine === METRIC_ENGINE && options[PHYSICAL_TABLE_OPTION] !== undefined && options[LOGICAL_TABLE_OPTION] === undefined;
}

/** The physical table that a logical table lies on; undefined when it is no logical table. */
export function physicalTableOf({ engine, options }: Roles): string | undefined {
  return engine === METRIC_ENGINE ? options[LOGICAL_TABLE_OPTION] : undefined;
}

/** Whether a column of a physical table is one that the engine added for itself, which SHOW CREATE leaves out. */
export function isInternalColumn(schema: Roles, column: string): boolean {
  return isPhysicalTable(schema) && (column === TABLE_ID_COLUMN || column === SERIES_HASH_COLUMN);
}

/** Why nothing is deleted from a physical table itself. */
export function physicalDeleteRefusal(table: string): string {
  return `cannot delete from table ${table}: it is a physical table of the metric engine; delete from the logical tables that lie on it`;
}

/** Why nothing is written to a physical table itself. */
export function physicalWriteRefusal(table: string): string {
  const hint = `write to one of its logical tables, or create one with ${LOGICAL_TABLE_OPTION} = '${table}'`;
  return `cannot write to table ${table}: it is a physical table of the metric engine; ${hint}`;
}
