/**
 * The schema that a physical table has in storage: its region knows a series as (logical table, label set), whatever labels there are.
 *
 *   as users see it   ts, val, [__table_id, __tsid,] host, job …     key: host, job …
 *   in storage        ts, val, __table_id, __labels, host, job …     key: __table_id, __labels
 *
 * Label columns keep their ids; flushes and merges take their values from the label sets (`storage/sst/label-columns.ts`).
 */
import { STRING, UINT32 } from "../../column/data-type.ts";
import { LABELS_COLUMN_ID } from "../../storage/series/label-set.ts";
import { isInternalColumn, isPhysicalTable, TABLE_ID_COLUMN, TABLE_ID_COLUMN_ID } from "../../table/metric.ts";
import type { ColumnSchema, TableSchema } from "../../table/schema.ts";

/** Name of the tag column of label sets. It is in no file; no label may have it. */
export const LABELS_COLUMN = "__labels";

const TABLE_ID: ColumnSchema = { id: TABLE_ID_COLUMN_ID, name: TABLE_ID_COLUMN, type: UINT32, semantic: "tag", nullable: false };
const LABELS: ColumnSchema = { id: LABELS_COLUMN_ID, name: LABELS_COLUMN, type: STRING, semantic: "tag", nullable: true };

/** The schema that the table's region has: its own, but for a physical table. */
export function storageSchemaOf(schema: TableSchema): TableSchema {
  if (!isPhysicalTable(schema)) return schema;
  const columns = schema.columns.filter(({ name }) => !isInternalColumn(schema, name));
  return {
    ...schema,
    // The time index comes first: pages of the first column are those that rows are read by, and labels have none.
    columns: [
      ...columns.filter(({ semantic }) => semantic === "timestamp"),
      ...columns.filter(({ semantic }) => semantic === "field"),
      TABLE_ID,
      LABELS,
      ...columns.filter(({ semantic }) => semantic === "tag"),
    ],
    primaryKey: [TABLE_ID.name, LABELS.name],
  };
}
