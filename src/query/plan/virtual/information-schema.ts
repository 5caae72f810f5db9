/** `information_schema`: what the catalog holds, as tables (contract query.md 3.1). Columns without a truthful value are NULL. */
import type { ColumnHeader } from "../../../column/batch.ts";
import { type DataType, displayName, INT64, sqlName, STRING, TIMESTAMP_SECOND, UINT32, UINT64 } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { Catalog, Table } from "../../../table/catalog.ts";
import type { ColumnSchema } from "../../../table/schema.ts";
import { toText } from "../../function/cast.ts";
import { maskedOptions } from "../../sql/secret-options.ts";
import { type BuiltInTable, batchOf } from "./computed-rows.ts";

/** Name of the database. */
export const INFORMATION_SCHEMA = "information_schema";

const CATALOG = "greptime";
type Row = Readonly<Record<string, Scalar>>;

interface Definition {
  readonly columns: readonly ColumnHeader[];
  readonly rows: (catalog: Catalog) => Iterable<Row>;
}

/** Columns from `name`, `name:type` words. */
function columnsFrom(text: string): readonly ColumnHeader[] {
  const types: Readonly<Record<string, DataType>> = { i64: INT64, u64: UINT64, u32: UINT32, ts0: TIMESTAMP_SECOND };
  return text.split(/\s+/).map((word) => {
    const [name = "", type = ""] = word.split(":");
    return { name, type: types[type] ?? STRING };
  });
}

function* schemataRows(catalog: Catalog): Iterable<Row> {
  for (const { name, options } of catalog.databases()) {
    const printed = Object.entries(options).map(([key, value]) => `'${key}'='${value}'\n`);
    yield {
      catalog_name: CATALOG,
      schema_name: name,
      default_character_set_name: "utf8",
      default_collation_name: "utf8_bin",
      sql_path: undefined,
      options: printed.join(""),
    };
  }
}

function* allTables(catalog: Catalog): Iterable<Table> {
  for (const { name } of catalog.databases()) yield* catalog.tables(name);
}

function* tableRows(catalog: Catalog): Iterable<Row> {
  for (const table of allTables(catalog)) {
    const { schema } = table;
    const { rowCount, memoryBytes, fileBytes } = table.statistics();
    const bytes = memoryBytes + fileBytes;
    yield {
      table_catalog: CATALOG,
      table_schema: schema.database,
      table_name: schema.name,
      table_type: "BASE TABLE",
      table_id: schema.id,
      data_length: bytes,
      max_data_length: 0,
      index_length: 0,
      max_index_length: 0,
      avg_row_length: rowCount === 0 ? 0 : Math.floor(bytes / rowCount),
      engine: schema.engine,
      version: 11,
      row_format: "Fixed",
      table_rows: rowCount,
      data_free: 0,
      auto_increment: 0,
      table_collation: "utf8_bin",
      checksum: 0,
      create_options: Object.entries(maskedOptions(schema.options))
        .map(([key, value]) => `${key}=${value}`)
        .join(" "),
      table_comment: schema.options["comment"],
      temporary: "N",
    };
  }
}

function* columnRows(catalog: Catalog): Iterable<Row> {
  for (const { schema } of allTables(catalog)) {
    for (const [i, column] of schema.columns.entries()) {
      yield {
        table_catalog: CATALOG,
        table_schema: schema.database,
        table_name: schema.name,
        column_name: column.name,
        ordinal_position: i + 1,
        ...textLimits(column.type),
        ...numericLimits(column.type),
        column_key: column.semantic === "timestamp" ? "TIME INDEX" : column.semantic === "tag" ? "PRI" : "",
        extra: "",
        privileges: "select,insert",
        generation_expression: "",
        greptime_data_type: displayName(column.type),
        data_type: sqlName(column.type).toLowerCase(),
        semantic_type: column.semantic.toUpperCase(),
        column_default: defaultText(column),
        is_nullable: column.nullable ? "Yes" : "No",
        column_type: sqlName(column.type).toLowerCase(),
        column_comment: column.comment,
      };
    }
  }
}

function textLimits(type: DataType): Row {
  if (type.kind !== "string") return {};
  const most = 2_147_483_647;
  return { character_maximum_length: most, character_octet_length: most, character_set_name: "utf8", collation_name: "utf8_bin" };
}

function numericLimits(type: DataType): Row {
  if (type.kind === "int") return { numeric_precision: { 8: 3, 16: 5, 32: 10, 64: type.signed ? 19 : 20 }[type.bits], numeric_scale: 0 };
  if (type.kind === "float") return { numeric_precision: type.bits === 32 ? 12 : 22 };
  if (type.kind === "decimal") return { numeric_precision: type.precision, numeric_scale: type.scale };
  return type.kind === "timestamp" || type.kind === "time"
    ? { datetime_precision: { second: 0, millisecond: 3, microsecond: 6, nanosecond: 9 }[type.unit] }
    : {};
}

function defaultText(column: ColumnSchema): string | undefined {
  if (column.default === undefined) return undefined;
  if (column.default.kind === "now") return "current_timestamp()";
  const { value } = column.default;
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array && column.type.kind !== "vector") return `X'${value.toHex()}'`;
  return ["decimal", "time", "vector"].includes(column.type.kind) ? toText(value, column.type) : String(value);
}

const TABLES: ReadonlyMap<string, Definition> = new Map([
  [
    "schemata",
    {
      columns: columnsFrom("catalog_name schema_name default_character_set_name default_collation_name sql_path options"),
      rows: schemataRows,
    },
  ],
  [
    "tables",
    {
      columns: columnsFrom(
        "table_catalog table_schema table_name table_type table_id:u32 data_length:u64 max_data_length:u64 index_length:u64 " +
          "max_index_length:u64 " +
          "avg_row_length:u64 engine version:u64 row_format table_rows:u64 data_free:u64 auto_increment:u64 create_time:ts0 " +
          "update_time:ts0 " +
          "check_time:ts0 table_collation checksum:u64 create_options table_comment temporary",
      ),
      rows: tableRows,
    },
  ],
  [
    "columns",
    {
      columns: columnsFrom(
        "table_catalog table_schema table_name column_name ordinal_position:i64 character_maximum_length:i64 character_octet_length:i64 " +
          "numeric_precision:i64 numeric_scale:i64 datetime_precision:i64 character_set_name collation_name column_key extra privileges " +
          "generation_expression greptime_data_type data_type semantic_type column_default is_nullable column_type " +
          "column_comment srs_id:i64",
      ),
      rows: columnRows,
    },
  ],
]);

/** Names of the tables. */
export function informationTableNames(): readonly string[] {
  return [...TABLES.keys()].sort();
}

/** A table of `information_schema`, or undefined. */
export function informationTable(name: string, catalog: Catalog): BuiltInTable | undefined {
  const definition = TABLES.get(name);
  if (definition === undefined) return undefined;
  const { columns, rows } = definition;
  const batches = function* (): Iterable<ReturnType<typeof batchOf>> {
    yield batchOf(
      columns,
      [...rows(catalog)].map((row) => columns.map((column) => row[column.name])),
    );
  };
  return { columns, batches };
}
