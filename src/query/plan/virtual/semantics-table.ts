/** `information_schema.table_semantics`: what `greptime.semantic.*` options say of tables. */
import type { Table } from "../../../table/catalog.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { type InformationRow, type InformationTable, informationTable, rowsOfEach } from "./information-table.ts";

const PREFIX = "greptime.semantic.";

/** Options with a column of their own. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ["signal_type", "signal_type"],
  ["source", "source"],
  ["source_version", "source_version"],
  ["pipeline", "pipeline"],
  ["metric.metadata_quality", "metadata_quality"],
]);

/** One row of a table with such options; what has no column is a JSON object, keys in order. */
function rowsOf({ schema: { options, database, name, id } }: Table): readonly InformationRow[] {
  const own: Record<string, string> = {};
  const others: Record<string, string> = {};
  for (const key of Object.keys(options).sort()) {
    if (!key.startsWith(PREFIX)) continue;
    const option = key.slice(PREFIX.length);
    const column = COLUMNS.get(option);
    if (column === undefined) others[option] = options[key] ?? "";
    else own[column] = options[key] ?? "";
  }
  const semantic_options = Object.keys(others).length === 0 ? undefined : JSON.stringify(others);
  if (semantic_options === undefined && Object.keys(own).length === 0) return [];
  return [{ table_catalog: CATALOG_NAME, table_schema: database, table_name: name, table_id: id, ...own, semantic_options }];
}

/** The table. */
export const SEMANTICS_TABLE: InformationTable = informationTable(
  "table_semantics",
  42,
  `table_catalog table_schema table_name table_id:u32 signal_type? source? source_version? pipeline? metadata_quality?
  semantic_options?`,
  rowsOfEach(rowsOf),
);
