/** Options that ALTER may change, of tables and databases (contract query.md 1.5). */
import { DbError, invalidArguments } from "../../../base/error.ts";
import type { TableSchema } from "../../../table/schema.ts";
import type { ChangedOptions } from "../../sql/syntax/definition-ast.ts";
import { checkSemanticOption, isSemanticOption, SEMANTIC_PREFIX } from "./semantic-options.ts";
import { parseSpread, SPREAD_OPTION } from "../../../table/shards/spread.ts";
import { checkSpread, databaseOptions, isDatabaseOption, type Options, tableOptions } from "./table-options.ts";

/** Keys that ALTER TABLE SET takes; `greptime.semantic.*` besides. */
const SETTABLE: ReadonlySet<string> = new Set([
  "ttl",
  "append_mode",
  "compaction.twcs.trigger_file_num",
  "compaction.twcs.max_output_file_size",
  "compaction.twcs.time_window",
  "sst_format",
  "auto_flush_interval",
  "max_row_group_row_count",
  "write_buffer_size",
  "skip_wal",
  "repartition.column.hint",
  SPREAD_OPTION,
]);
/** Keys that ALTER TABLE UNSET takes; `greptime.semantic.*` besides. */
const UNSETTABLE: ReadonlySet<string> = new Set([
  "ttl",
  "write_buffer_size",
  "compaction.twcs.trigger_file_num",
  "compaction.twcs.max_output_file_size",
  "compaction.twcs.time_window",
  "max_row_group_row_count",
  "repartition.column.hint",
  SPREAD_OPTION,
]);
const SEMANTIC = SEMANTIC_PREFIX;

/** What SET means for a table. @throws DbError InvalidArguments; TableColumnNotFound for a semantic option */
export function changedTableOptions(changes: ChangedOptions, schema: TableSchema): ChangedOptions {
  const keys = Object.keys(changes);
  const semantic = keys.filter((key) => key.startsWith(SEMANTIC));
  if (semantic.length > 0 && semantic.length < keys.length)
    throw invalidArguments(`Invalid table option request: \`${SEMANTIC}*\` options must be altered separately from other table options`);
  const result: Record<string, string | undefined> = {};
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) Object.assign(result, unsetTableOptions([key]));
    else Object.assign(result, setOne(key, value, schema));
    if (value !== undefined && key.startsWith(SEMANTIC)) checkSemanticOption(key, value, schema);
  }
  return result;
}

/** What UNSET means for a table. @throws DbError InvalidArguments */
export function unsetTableOptions(keys: readonly string[]): ChangedOptions {
  for (const key of keys) {
    if (!UNSETTABLE.has(key) && !isSemanticOption(key))
      throw invalidArguments(`Invalid unset table option request: Invalid unset region option request, key: ${key}`);
  }
  return Object.fromEntries(keys.map((key) => [key, undefined]));
}

/** Options of a database, each checked as CREATE DATABASE does. @throws DbError InvalidArguments */
export function changedDatabaseOptions(changes: ChangedOptions): ChangedOptions {
  const given = Object.entries(changes).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  const normalised = databaseOptions(Object.fromEntries(given));
  const unknown = Object.keys(changes).find((key) => changes[key] === undefined && !isDatabaseOption(key));
  if (unknown !== undefined) throw invalidArguments(`Unrecognized database option key: ${unknown}`);
  return Object.fromEntries(Object.keys(changes).map((key) => [key, normalised[key]]));
}

function setOne(key: string, value: string, schema: TableSchema): ChangedOptions {
  const refused = (cause?: unknown): DbError =>
    invalidArguments(`Invalid set table option request: Invalid set region option request, key: ${key}, value: ${value}`, cause);
  if (!SETTABLE.has(key) && !key.startsWith(SEMANTIC)) throw refused();
  if (key === SPREAD_OPTION) {
    const spread = { [key]: String(parseSpread(value)) };
    checkSpread({ ...schema, options: spread });
    return spread;
  }
  if (key === "auto_flush_interval" && value.trim() === "") return { [key]: undefined };
  const { options } = schema;
  let normalised: Options;
  try {
    normalised = tableOptions({ [key]: value });
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw refused(error);
  }
  if (key === "skip_wal" && normalised[key] !== "true") throw refused();
  if (key !== "append_mode") return { [key]: normalised[key] };
  if (normalised[key] !== "true") {
    if (options[key] === "true" || options[key] === undefined) throw invalidArguments("Only allow changing append_mode from false to true");
    return {};
  }
  return { [key]: "true", merge_mode: undefined }; // Rows that are never merged have no merge mode.
}
