/** SHOW of what the server has: each list is rows of `information_schema` under the names of contract query.md 1.8. */
import { databaseNamed } from "../shared/database-named.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { DURATION_MILLISECOND, INT64, STRING, TIMESTAMP_MILLISECOND, TIMESTAMP_SECOND, UINT64 } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import { resolveName } from "../../plan/from/source.ts";
import { builtInColumns, builtInTableNames } from "../../plan/virtual/built-in-table.ts";
import { asked } from "../../plan/virtual/asked-tables.ts";
import { columnRowsOf, systemColumnRows, tableRowOf } from "../../plan/virtual/catalog-tables.ts";
import { type InformationRow } from "../../plan/virtual/information-table.ts";
import { INFORMATION_SCHEMA } from "../../../table/reserved-names.ts";
import { tableNotFound } from "../../../table/not-found.ts";
import { statisticsOf } from "../../plan/virtual/key-tables.ts";
import { peerRowsOf } from "../../plan/virtual/region-tables.ts";
import { CHARACTER_SETS, COLLATIONS, ENGINE_ROWS, statementRows } from "../../plan/virtual/server-tables.ts";
import type { QueryContext } from "../../query-context.ts";
import type { ShowListing } from "../../sql/syntax/show-ast.ts";
import type { StatementResult } from "../../statement-result.ts";
import { NO_FACTS } from "../../system-facts.ts";
import { rowsResult, textHeaders } from "../shared/rows-result.ts";
import { filtered } from "./show.ts";

/** A list before its filter. */
interface Listing {
  readonly headers: readonly ColumnHeader[];
  readonly rows: readonly (readonly Scalar[])[];
}

/** The list that a statement asks for. @throws DbError TableNotFound, DatabaseNotFound; PlanQuery for a filter */
export async function showListing(statement: ShowListing, context: QueryContext): Promise<StatementResult> {
  const { headers, rows } = await listingOf(statement, context);
  return rowsResult(headers, filtered(rows, headers, statement.filter, context));
}

function listingOf(statement: ShowListing, context: QueryContext): Listing | Promise<Listing> {
  switch (statement.what) {
    case "columns":
      return columnsOf(statement, context);
    case "index":
      return indexOf(statement, context);
    case "regions":
      return regionsOf(statement, context);
    case "views":
      return viewsOf(statement, context);
    case "table-status":
      return tableStatus(statement, context);
    case "flows":
      return { headers: textHeaders("Flows"), rows: [] };
    case "flow-status":
      return { headers: FLOW_STATUS, rows: [] };
    case "engines":
      return listed("Engine Support Comment Transactions XA Savepoints", ENGINE_ROWS, (header) => header.toLowerCase());
    case "charset":
      return { headers: CHARSET, rows: pick(CHARACTER_SETS, "character_set_name description default_collate_name maxlen") };
    case "collation":
      return { headers: COLLATION, rows: pick(COLLATIONS, "collation_name character_set_name id is_default is_compiled sortlen") };
    case "processlist":
      return processList(statement, context);
    case "status":
      return { headers: textHeaders("Variable_name", "Value"), rows: [] };
    case "search-path":
      return { headers: textHeaders("search_path"), rows: [[context.variables.database]] };
  }
}

const number = (name: string): ColumnHeader => ({ name, type: INT64 });
const size = (name: string): ColumnHeader => ({ name, type: UINT64 });

const FLOW_STATUS: readonly ColumnHeader[] = textHeaders(
  "flow_id",
  "flow_name",
  "start_time",
  "last_execution_time",
  "uptime_seconds",
  "state_size",
);
const CHARSET: readonly ColumnHeader[] = [...textHeaders("Charset", "Description", "Default collation"), number("Maxlen")];
const COLLATION: readonly ColumnHeader[] = [
  ...textHeaders("Collation", "Charset"),
  number("Id"),
  ...textHeaders("Default", "Compiled"),
  number("Sortlen"),
];

/** Values of some columns, by name. */
function pick(rows: Iterable<InformationRow>, columns: string): readonly (readonly Scalar[])[] {
  const names = columns.split(" ");
  return [...rows].map((row) => names.map((name) => row[name]));
}

function listed(headers: string, rows: Iterable<InformationRow>, column: (header: string) => string): Listing {
  const names = headers.split(" ");
  return { headers: textHeaders(...names), rows: pick(rows, names.map(column).join(" ")) };
}

/** Rows in the order of their first columns. */
function sorted(rows: readonly (readonly Scalar[])[], keys: readonly number[]): readonly (readonly Scalar[])[] {
  return rows.toSorted((a, b) => {
    for (const key of keys) {
      const [x, y] = [a[key] ?? "", b[key] ?? ""];
      if (x !== y) return x < y ? -1 : 1;
    }
    return 0;
  });
}

/** The table that a list is about. @throws DbError TableNotFound */
function subjectOf({ table = [], database }: ShowListing, context: QueryContext): { readonly database: string; readonly table: string } {
  return resolveName(table, database ?? context.variables.database);
}

function columnsOf(statement: ShowListing, context: QueryContext): Listing {
  const name = subjectOf(statement, context);
  const { catalog } = context;
  const table = catalog.table(name.database, name.table);
  const computed = builtInColumns(name);
  const isView = catalog.view(name.database, name.table) !== undefined;
  if (table === undefined && computed === undefined && !isView) throw tableNotFound(name.database, name.table);
  const rows =
    table !== undefined
      ? columnRowsOf(table)
      : computed === undefined
        ? []
        : systemColumnRows({ database: name.database, name: name.table, columns: computed });
  const short = ["Field", "Type", "Null", "Key", "Default", "Extra", "Greptime_type"];
  const full = ["Field", "Type", "Collation", "Null", "Key", "Default", "Comment", "Privileges", "Extra", "Greptime_type"];
  const columns: Readonly<Record<string, string>> = {
    Field: "column_name",
    Type: "column_type",
    Collation: "collation_name",
    Null: "is_nullable",
    Key: "column_key",
    Default: "column_default",
    Comment: "column_comment",
    Privileges: "privileges",
    Extra: "extra",
    Greptime_type: "greptime_data_type",
  };
  const { headers, rows: all } = listed((statement.full ? full : short).join(" "), rows, (header) => columns[header] ?? "");
  return { headers, rows: sorted(all, [0]) };
}

function indexOf(statement: ShowListing, context: QueryContext): Listing {
  const name = subjectOf(statement, context);
  const table = context.catalog.table(name.database, name.table);
  const isKnown = builtInColumns(name) !== undefined || context.catalog.view(name.database, name.table) !== undefined;
  if (table === undefined && !isKnown) throw tableNotFound(name.database, name.table);
  const headers = [
    ...textHeaders("Table"),
    number("Non_unique"),
    ...textHeaders("Key_name"),
    number("Seq_in_index"),
    ...textHeaders("Column_name", "Collation"),
    number("Cardinality"),
    number("Sub_part"),
    ...textHeaders("Packed", "Null", "Index_type", "Comment", "Index_comment", "Visible", "Expression"),
  ];
  const columns =
    "table_name non_unique index_name seq_in_index column_name collation cardinality sub_part packed nullable index_type comment " +
    "index_comment is_visible expression";
  const rows = table === undefined ? [] : pick(statisticsOf(table), columns);
  return { headers, rows: sorted(rows, [0, 2, 3, 4]) };
}

function regionsOf(statement: ShowListing, context: QueryContext): Listing {
  const name = subjectOf(statement, context);
  const table = context.catalog.table(name.database, name.table);
  if (table === undefined) throw tableNotFound(name.database, name.table);
  const headers = [...textHeaders("Table"), size("Region"), size("Peer"), ...textHeaders("Leader")];
  return { headers, rows: pick(peerRowsOf(table, context.system?.cluster?.()), "table_name region_id peer_id is_leader") };
}

/** The database that a list is about. @throws DbError DatabaseNotFound */
function databaseOf({ database }: ShowListing, { catalog, variables }: QueryContext): string {
  return databaseNamed(database ?? variables.database, catalog);
}

function viewsOf(statement: ShowListing, context: QueryContext): Listing {
  return { headers: textHeaders("Views"), rows: context.catalog.views(databaseOf(statement, context)).map(({ name }) => [name]) };
}

async function tableStatus(statement: ShowListing, context: QueryContext): Promise<Listing> {
  const database = databaseOf(statement, context);
  const tables = [...context.catalog.tables(database)];
  const unanswered = await asked(tables, "figures", context.signal);
  const rows = tables.map((table) => tableRowOf(table, { unanswered }));
  const sizes = "Rows Avg_row_length Data_length Max_data_length Index_length Data_free Auto_increment".split(" ").map(size);
  const times = ["Create_time", "Update_time", "Check_time"].map((name) => ({ name, type: TIMESTAMP_SECOND }));
  const headers = [
    ...textHeaders("Name", "Engine"),
    size("Version"),
    ...textHeaders("Row_format"),
    ...sizes,
    ...times,
    ...textHeaders("Collation"),
    size("Checksum"),
    ...textHeaders("Create_options", "Comment"),
  ];
  const columns =
    "table_name engine version row_format table_rows avg_row_length data_length max_data_length index_length data_free auto_increment " +
    "create_time update_time check_time table_collation checksum create_options table_comment";
  const computed = builtInTableNames(database).map((name) => systemRow(database, name));
  return { headers, rows: sorted(pick([...rows, ...computed], columns), [0]) };
}

/** What the status of a table that the server computes says. */
function systemRow(database: string, name: string): InformationRow {
  const engine = database === INFORMATION_SCHEMA ? "" : "test_engine";
  return { table_name: name, engine, version: 11, row_format: "Fixed", table_collation: "utf8_bin" };
}

async function processList({ full }: ShowListing, { clock, system = NO_FACTS }: QueryContext): Promise<Listing> {
  const rows = statementRows({ statements: await system.statements(), now: clock.nowNanos() });
  const elapsed: ColumnHeader = { name: "Elapsed Time", type: DURATION_MILLISECOND };
  if (!full) {
    const headers = [...textHeaders("Id", "Catalog", "Query"), elapsed];
    return { headers, rows: pick(rows, "id catalog query elapsed_time") };
  }
  const headers = [
    ...textHeaders("Id", "Catalog", "Schema", "Client", "Frontend"),
    { name: "Start Time", type: TIMESTAMP_MILLISECOND },
    elapsed,
    { name: "Query", type: STRING },
  ];
  return { headers, rows: pick(rows, "id catalog schemas client frontend start_timestamp elapsed_time query") };
}
