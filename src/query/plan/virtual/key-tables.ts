/** Tables of `information_schema` about keys and indexes (contract query.md 3.2, SHOW INDEX of 1.8). */
import type { Table } from "../../../table/catalog.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { METRIC_ENGINE } from "../../../table/metric.ts";
import type { ColumnSchema, TableSchema } from "../../../table/schema.ts";
import {
  allTables,
  type InformationRow,
  type InformationSources,
  type InformationTable,
  informationTable,
  rowsOfEach,
} from "./information-table.ts";

type IndexKind = "FULLTEXT" | "INVERTED" | "SKIPPING";
const KINDS: readonly IndexKind[] = ["FULLTEXT", "INVERTED", "SKIPPING"];

/** The kinds of index a column has, with the clause of each. */
function indexesOf({ indexes = [] }: Pick<ColumnSchema, "indexes">): readonly { readonly kind: IndexKind; readonly clause: string }[] {
  return KINDS.flatMap((kind) => {
    const clause = indexes.find((each) => each.startsWith(`${kind} INDEX`));
    return clause === undefined ? [] : [{ kind, clause }];
  });
}

function isTantivy(clause: string): boolean {
  return clause.includes("backend = 'tantivy'");
}

/** What `statistics` calls a kind of index. */
function statisticsType(kind: IndexKind, clause: string): string {
  if (kind === "INVERTED") return "inverted";
  if (kind === "SKIPPING") return "bloom_filter";
  return isTantivy(clause) ? "fulltext_tantivy" : "fulltext_bloom";
}

/** What `key_column_usage` calls a kind of index. */
function usageType(kind: IndexKind, clause: string): string {
  if (kind === "INVERTED") return "greptime-inverted-index-v1";
  if (kind === "SKIPPING") return "greptime-bloom-filter-v1";
  return isTantivy(clause) ? "greptime-fulltext-index-v1" : "greptime-fulltext-index-bloom";
}

/** Rows of `statistics` of one table. */
export function* statisticsOf({ schema }: Pick<Table, "schema">): Iterable<InformationRow> {
  const row = (column: ColumnSchema, name: string, type: string, own: InformationRow): InformationRow => ({
    table_catalog: CATALOG_NAME,
    table_schema: schema.database,
    table_name: schema.name,
    non_unique: 1n,
    index_schema: schema.database,
    index_name: name,
    seq_in_index: 1n,
    column_name: column.name,
    collation: "A",
    nullable: column.nullable ? "YES" : "",
    index_type: type,
    comment: "",
    index_comment: "",
    is_visible: "YES",
    ...own,
  });
  for (const [i, column] of keyColumns(schema).entries()) {
    const greptime_index_type = schema.engine === METRIC_ENGINE ? "sparse" : "dense";
    yield row(column, "PRIMARY", "PRIMARY", { non_unique: 0n, seq_in_index: BigInt(i + 1), greptime_index_type });
  }
  for (const column of schema.columns) {
    if (column.semantic === "timestamp") yield row(column, "TIME INDEX", "TIME", { nullable: "" });
    for (const { kind, clause } of indexesOf(column)) {
      yield row(column, `${kind}_INDEX_${column.name}`, kind, { greptime_index_type: statisticsType(kind, clause) });
    }
  }
}

function keyColumns({ primaryKey, columns }: TableSchema): readonly ColumnSchema[] {
  return primaryKey.flatMap((name) => columns.find((column) => column.name === name) ?? []);
}

/** Rows of `key_column_usage` of one table. */
function* usageOf({ schema }: Table): Iterable<InformationRow> {
  const row = (constraint: string, column: string, ordinal: number, type?: string): InformationRow => ({
    ...usageRow(constraint, column, ordinal),
    table_schema: schema.database,
    table_name: schema.name,
    constraint_schema: schema.database,
    greptime_index_type: type,
  });
  const key = keyColumns(schema).map(({ name }) => name);
  for (const column of schema.columns) {
    if (column.semantic === "timestamp") yield row("TIME INDEX", column.name, 1);
    if (column.semantic === "tag") yield row("PRIMARY", column.name, key.indexOf(column.name) + 1);
    for (const { kind, clause } of indexesOf(column)) yield row(`${kind} INDEX`, column.name, 1, usageType(kind, clause));
  }
}

function usageRow(constraint: string, column: string, ordinal: number): InformationRow {
  return {
    constraint_catalog: "def",
    constraint_name: constraint,
    table_catalog: "def",
    real_table_catalog: CATALOG_NAME,
    column_name: column,
    ordinal_position: ordinal,
  };
}

function* usageRows(sources: InformationSources): Iterable<InformationRow> {
  yield { ...usageRow("PRIMARY", "number", 1), constraint_schema: "public", table_schema: "public", table_name: "numbers" };
  yield* rowsOfEach(usageOf)(sources);
}

function* constraintRows({ catalog }: InformationSources): Iterable<InformationRow> {
  const row = (schema: Pick<TableSchema, "database" | "name">, name: string, type: string): InformationRow => ({
    constraint_catalog: "def",
    constraint_schema: schema.database,
    constraint_name: name,
    table_schema: schema.database,
    table_name: schema.name,
    constraint_type: type,
    enforced: "YES",
  });
  yield row({ database: "public", name: "numbers" }, "PRIMARY", "PRIMARY KEY");
  for (const { schema } of allTables(catalog)) {
    yield row(schema, "TIME INDEX", "TIME INDEX");
    if (schema.primaryKey.length > 0) yield row(schema, "PRIMARY", "PRIMARY KEY");
  }
}

/** The tables. */
export const KEY_TABLES: readonly InformationTable[] = [
  informationTable(
    "key_column_usage",
    16,
    `constraint_catalog constraint_schema constraint_name table_catalog real_table_catalog table_schema table_name column_name
    ordinal_position:u32 position_in_unique_constraint:u32? referenced_table_schema? referenced_table_name? referenced_column_name?
    greptime_index_type?`,
    usageRows,
  ),
  informationTable(
    "table_constraints",
    30,
    "constraint_catalog constraint_schema constraint_name table_schema table_name constraint_type enforced",
    constraintRows,
  ),
  informationTable(
    "statistics",
    43,
    `table_catalog table_schema table_name non_unique:i64 index_schema index_name seq_in_index:i64 column_name collation? cardinality:i64?
    sub_part:i64? packed? nullable index_type comment index_comment is_visible expression? greptime_index_type?`,
    rowsOfEach(statisticsOf),
  ),
];
