/** Tables of `information_schema` about what the catalogue holds: databases, tables, views, columns (contract query.md 3.2). */
import { catalogTypeName, typeOid } from "../../postgres-types.ts";
import { type DataType, displayName, sqlName } from "../../../column/data-type.ts";
import type { Catalog, Table } from "../../../table/catalog.ts";
import type { TableSchema } from "../../../table/schema.ts";
import { maskedOptions } from "../../sql/print/secret-options.ts";
import type { BuiltInColumn } from "../common/computed-rows.ts";
import {
  allTables,
  type InformationRow,
  type InformationSources,
  type InformationTable,
  informationTable,
  isKnown,
  optionLines,
  tablesOf,
} from "./information-table.ts";
import { INFORMATION_SCHEMA, CATALOG_NAME } from "../../../table/reserved-names.ts";
import { createdSeconds } from "./created-seconds.ts";
import { defaultDisplay } from "./default-display.ts";
import { NUMBERS } from "./numbers.ts";

/** A table that the server computes itself. */
interface SystemTable {
  readonly database: string;
  readonly name: string;
  readonly id: number;
  readonly engine: string;
  readonly columns: readonly BuiltInColumn[];
}

function* schemataRows({ catalog }: InformationSources): Iterable<InformationRow> {
  for (const { name, options } of catalog.databases()) {
    yield {
      catalog_name: CATALOG_NAME,
      schema_name: name,
      default_character_set_name: "utf8",
      default_collation_name: "utf8_bin",
      sql_path: undefined,
      options: optionLines(options),
    };
  }
}

/** What all rows of `tables` say alike. */
const TABLE_ROW: InformationRow = {
  table_catalog: CATALOG_NAME,
  data_length: 0,
  max_data_length: 0,
  index_length: 0,
  max_index_length: 0,
  avg_row_length: 0,
  engine: "",
  version: 11,
  row_format: "Fixed",
  table_rows: 0,
  data_free: 0,
  auto_increment: 0,
  table_collation: "utf8_bin",
  checksum: 0,
  create_options: "",
};

/** The row of `tables` of one table. @param sources say whose sizes are known */
export function tableRowOf(table: Table, sources: Pick<InformationSources, "unanswered">): InformationRow {
  const { schema } = table;
  return {
    ...TABLE_ROW,
    ...(isKnown(table, sources) ? sizesOf(table) : NO_SIZES),
    table_schema: schema.database,
    table_name: schema.name,
    table_type: "BASE TABLE",
    table_id: schema.id,
    engine: schema.engine,
    create_time: createdSeconds(schema),
    create_options: createOptions(schema),
    table_comment: schema.options["comment"],
    temporary: "N",
  };
}

const NO_SIZES: InformationRow = { data_length: undefined, avg_row_length: undefined, table_rows: undefined };

function sizesOf(table: Table): InformationRow {
  const { rowCount, memoryBytes, fileBytes } = table.statistics();
  const bytes = memoryBytes + fileBytes;
  return { data_length: bytes, avg_row_length: rowCount === 0 ? 0 : Math.floor(bytes / rowCount), table_rows: rowCount };
}

function createOptions({ options, partitions }: Pick<TableSchema, "options" | "partitions">): string {
  const printed = Object.entries(maskedOptions(options)).map(([key, value]) => `${key}=${value}`);
  return [...printed, ...(partitions === undefined ? [] : ["partitioned"])].join(" ");
}

/** Rows of `tables`: those of the server itself, tables, views. */
function* tableRows(sources: InformationSources, system: readonly SystemTable[]): Iterable<InformationRow> {
  const { catalog } = sources;
  for (const { name: table_schema } of catalog.databases()) {
    const other = { ...TABLE_ROW, table_schema };
    const rows: InformationRow[] = [
      ...system
        .filter(({ database }) => database === table_schema)
        .map(({ name, id, engine }) => ({
          ...other,
          table_name: name,
          table_type: "LOCAL TEMPORARY",
          table_id: id,
          engine,
          temporary: "Y",
        })),
      ...tablesOf(catalog, table_schema).map((table) => tableRowOf(table, sources)),
      ...catalog.views(table_schema).map(({ name, id }) => ({
        ...other,
        table_name: name,
        table_type: "VIEW",
        table_id: id,
        temporary: "N",
      })),
    ];
    yield* rows.sort((a, b) => (String(a["table_name"]) < String(b["table_name"]) ? -1 : 1));
  }
}

function* viewsOf(catalog: Catalog): Generator<ReturnType<Catalog["views"]>[number]> {
  for (const { name } of catalog.databases()) yield* catalog.views(name);
}

function* viewRows({ catalog }: InformationSources): Iterable<InformationRow> {
  for (const { database, name, definition } of viewsOf(catalog)) {
    yield {
      table_catalog: CATALOG_NAME,
      table_schema: database,
      table_name: name,
      view_definition: definition,
      check_option: "",
      is_updatable: "",
      definer: "",
      security_type: "",
      character_set_client: "utf8",
      collation_connection: "utf8_bin",
    };
  }
}

/** Rows of `columns` of one table. */
export function* columnRowsOf({ schema }: Pick<Table, "schema">): Iterable<InformationRow> {
  for (const [i, column] of schema.columns.entries()) {
    const column_key = column.semantic === "timestamp" ? "TIME INDEX" : column.semantic === "tag" ? "PRI" : "";
    yield {
      ...columnRow(column, i),
      table_schema: schema.database,
      table_name: schema.name,
      column_key,
      semantic_type: column.semantic.toUpperCase(),
      column_default: defaultDisplay(column),
      column_comment: column.comment,
    };
  }
}

/** Rows of `columns` of a table that the server computes. */
export function* systemColumnRows({
  database,
  name,
  columns,
}: Pick<SystemTable, "database" | "name" | "columns">): Iterable<InformationRow> {
  const isTag = database !== INFORMATION_SCHEMA; // Only `numbers` has one.
  for (const [i, column] of columns.entries()) {
    const semantic = { column_key: isTag ? "PRI" : "", semantic_type: isTag ? "TAG" : "FIELD" };
    yield { ...columnRow(column, i), ...semantic, table_schema: database, table_name: name };
  }
}

function columnRow({ name, type, nullable }: BuiltInColumn, index: number): InformationRow {
  return {
    table_catalog: CATALOG_NAME,
    column_name: name,
    ordinal_position: index + 1,
    ...textLimits(type),
    ...numericLimits(type),
    extra: "",
    privileges: "select,insert",
    generation_expression: "",
    greptime_data_type: displayName(type),
    data_type: sqlName(type).toLowerCase(),
    is_nullable: nullable ? "YES" : "NO",
    column_type: sqlName(type).toLowerCase(),
    ...postgresColumn(type, index),
  };
}

function textLimits(type: DataType): InformationRow {
  if (type.kind !== "string") return {};
  const most = 2_147_483_647;
  return { character_maximum_length: most, character_octet_length: most, character_set_name: "utf8", collation_name: "utf8_bin" };
}

function numericLimits(type: DataType): InformationRow {
  if (type.kind === "int") return { numeric_precision: { 8: 3, 16: 5, 32: 10, 64: type.signed ? 19 : 20 }[type.bits], numeric_scale: 0 };
  if (type.kind === "float") return { numeric_precision: type.bits === 32 ? 12 : 22 };
  if (type.kind === "decimal") return { numeric_precision: type.precision, numeric_scale: type.scale };
  return type.kind === "timestamp" || type.kind === "time"
    ? { datetime_precision: { second: 0, millisecond: 3, microsecond: 6, nanosecond: 9 }[type.unit] }
    : {};
}

const COLUMNS_COLUMNS = `table_catalog table_schema table_name column_name ordinal_position:i64 character_maximum_length:i64?
  character_octet_length:i64? numeric_precision:i64? numeric_scale:i64? datetime_precision:i64? character_set_name? collation_name?
  column_key extra privileges generation_expression greptime_data_type data_type semantic_type column_default? is_nullable column_type
  column_comment? srs_id:i64?`;

/** Columns of `columns` that clients of PostgreSQL ask for by name, behind those that `*` shows. */
const POSTGRES_COLUMNS = `numeric_precision_radix:i64? interval_type? collation_catalog? collation_schema? domain_catalog? domain_schema?
  domain_name? udt_catalog udt_schema udt_name scope_catalog? scope_schema? scope_name? maximum_cardinality:i64? dtd_identifier
  is_self_referencing is_identity identity_generation? identity_start? identity_increment? identity_maximum? identity_minimum?
  identity_cycle is_generated is_updatable`;

/** What a column has in these. */
function postgresColumn(type: DataType, index: number): InformationRow {
  const isBinary = type.kind === "int" || type.kind === "float";
  return {
    ...(isBinary || type.kind === "decimal" ? { numeric_precision_radix: isBinary ? 2 : 10 } : {}),
    udt_catalog: CATALOG_NAME,
    udt_schema: "pg_catalog",
    udt_name: catalogTypeName(typeOid(type)),
    dtd_identifier: String(index + 1),
    is_self_referencing: "NO",
    is_identity: "NO",
    identity_cycle: "NO",
    is_generated: "NEVER",
    is_updatable: "YES",
  };
}

/** `columns` with those for clients of PostgreSQL, which `*` leaves out. */
export function postgresColumnsTable(table: InformationTable): { readonly table: InformationTable; readonly shown: number } {
  const extended = informationTable(table.name, table.id, `${COLUMNS_COLUMNS} ${POSTGRES_COLUMNS}`, table.rows);
  return { table: extended, shown: table.columns.length };
}

/**
 * `columns` for connections of MySQL: `data_type` is the bare name that MySQL has, which tools compare with (Grafana, JDBC drivers).
 * `column_type` is as ever.
 */
export function mysqlColumnsTable(table: InformationTable): InformationTable {
  return {
    ...table,
    *rows(sources) {
      for (const row of table.rows(sources)) yield { ...row, data_type: mysqlTypeName(String(row["data_type"])) };
    },
  };
}

const MYSQL_NAMES: Readonly<Record<string, string>> = { string: "varchar", boolean: "tinyint" };

/** `timestamp(3)` → `timestamp`, `int unsigned` → `int`, `string` → `varchar`. */
function mysqlTypeName(name: string): string {
  const bare = name.replace(/(?:\(.*\)| unsigned)$/, "");
  return (Object.hasOwn(MYSQL_NAMES, bare) ? MYSQL_NAMES[bare] : undefined) ?? bare;
}

/** The tables. `others` are the rest of `information_schema`: they list themselves too. */
export function catalogTables(others: readonly InformationTable[]): readonly InformationTable[] {
  const tables: InformationTable[] = [
    informationTable(
      "schemata",
      15,
      "catalog_name schema_name default_character_set_name default_collation_name sql_path? options?",
      schemataRows,
    ),
    informationTable(
      "tables",
      3,
      `table_catalog table_schema table_name table_type table_id:u32? data_length:u64? max_data_length:u64? index_length:u64?
      max_index_length:u64? avg_row_length:u64? engine? version:u64? row_format? table_rows:u64? data_free:u64? auto_increment:u64?
      create_time:ts0? update_time:ts0? check_time:ts0? table_collation? checksum:u64? create_options? table_comment? temporary?`,
      (sources) => tableRows(sources, systemTables()),
    ),
    informationTable("columns", 4, COLUMNS_COLUMNS, function* ({ catalog }) {
      for (const table of systemTables()) yield* systemColumnRows(table);
      for (const table of allTables(catalog)) yield* columnRowsOf(table);
    }),
    informationTable(
      "views",
      32,
      `table_catalog table_schema table_name view_definition check_option? is_updatable? definer? security_type? character_set_client?
      collation_connection?`,
      viewRows,
    ),
  ];
  const systemTables = (): readonly SystemTable[] => [
    ...[...tables, ...others]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((table) => ({ database: INFORMATION_SCHEMA, engine: "", ...table })),
    { database: "public", name: "numbers", engine: "test_engine", ...NUMBERS },
  ];
  return tables;
}
