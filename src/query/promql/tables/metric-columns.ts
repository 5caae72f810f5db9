/** Tables as metrics: which tables are some, and which of their columns hold samples. */
import type { DataType } from "../../../column/data-type.ts";
import { isFileTable } from "../../../table/file-table.ts";
import { isPhysicalTable } from "../../../table/metric.ts";
import { holdsHistograms } from "../../../table/native-histogram.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";

/** The label that is the table's name. */
export const METRIC_NAME = "__name__";

/** The fields that a series may be made of, in the order of the schema; none when the table is no metric. */
export function sampleColumnsOf(schema: TableSchema): readonly ColumnSchema[] {
  return ofSchema(schema).samples;
}

/** Names of the labels of a table's series, sorted, without that of the metric. */
export function labelColumnsOf(schema: TableSchema): readonly string[] {
  return ofSchema(schema).labels;
}

/** What a schema, which never changes, is as a metric. */
interface MetricColumns {
  readonly samples: readonly ColumnSchema[];
  readonly labels: readonly string[];
}

/** Found once a schema: a selector of all metrics asks every table. */
const known = new WeakMap<TableSchema, MetricColumns>();

function ofSchema(schema: TableSchema): MetricColumns {
  let columns = known.get(schema);
  if (columns === undefined) {
    columns = { samples: samplesIn(schema), labels: labelsIn(schema) };
    known.set(schema, columns);
  }
  return columns;
}

function samplesIn(schema: TableSchema): readonly ColumnSchema[] {
  if (isPhysicalTable(schema) || isFileTable(schema)) return [];
  const hasTime = schema.columns.some(({ semantic, type }) => semantic === "timestamp" && type.kind === "timestamp");
  if (!hasTime) return [];
  return schema.columns.filter((column) => column.semantic === "field" && (isNumber(column.type) || holdsHistograms(column)));
}

function labelsIn({ columns }: TableSchema): readonly string[] {
  const tags = columns.filter(({ semantic, name }) => semantic === "tag" && name !== METRIC_NAME);
  return tags.map(({ name }) => name).sort();
}

function isNumber({ kind }: DataType): boolean {
  return kind === "int" || kind === "float" || kind === "decimal";
}
