/** `information_schema.table_semantics`: what `greptime.semantic.*` options say of tables. */
import {
  allTables,
  CATALOG,
  type InformationRow,
  type InformationSources,
  type InformationTable,
  informationTable,
} from "./information-table.ts";

const PREFIX = "greptime.semantic.";

/** Options with a column of their own. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ["signal_type", "signal_type"],
  ["source", "source"],
  ["source_version", "source_version"],
  ["pipeline", "pipeline"],
  ["metric.metadata_quality", "metadata_quality"],
]);

/** One row a table with such options; what has no column is a JSON object, keys in order. */
function* rows({ catalog }: InformationSources): Iterable<InformationRow> {
  for (const { schema } of allTables(catalog)) {
    const own: Record<string, string> = {};
    const others: Record<string, string> = {};
    for (const key of Object.keys(schema.options).sort()) {
      if (!key.startsWith(PREFIX)) continue;
      const name = key.slice(PREFIX.length);
      const column = COLUMNS.get(name);
      if (column === undefined) others[name] = schema.options[key] ?? "";
      else own[column] = schema.options[key] ?? "";
    }
    const semantic_options = Object.keys(others).length === 0 ? undefined : JSON.stringify(others);
    if (semantic_options === undefined && Object.keys(own).length === 0) continue;
    const { database, name, id } = schema;
    yield { table_catalog: CATALOG, table_schema: database, table_name: name, table_id: id, ...own, semantic_options };
  }
}

/** The table. */
export const SEMANTICS_TABLE: InformationTable = informationTable(
  "table_semantics",
  42,
  `table_catalog table_schema table_name table_id:u32 signal_type? source? source_version? pipeline? metadata_quality?
  semantic_options?`,
  rows,
);
