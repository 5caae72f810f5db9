/** Option keys of tables and databases: which there are, what they may hold, and how they are printed. */
import { invalidArguments } from "../../../base/error.ts";
import { parseHumanSize, printReadableSize } from "../../../base/text/human-size.ts";
import type { TableDefinition } from "../../../table/schema.ts";
import { parseSpread, SPREAD_OPTION } from "../../../table/shards/spread.ts";
import { formatHumantime, parseHumantime } from "./humantime.ts";

/** Options as SHOW CREATE prints them. */
export type Options = Readonly<Record<string, string>>;

const BOOLEAN_KEYS: ReadonlySet<string> = new Set([
  "append_mode",
  "skip_wal",
  "compaction.twcs.fallback_to_local",
  "compaction.twcs.remote_compaction",
  "compaction.override",
]);
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  merge_mode: ["last_row", "last_non_null"],
  sst_format: ["flat", "primary_key"],
  "compaction.type": ["twcs"],
  "memtable.type": ["bulk", "time_series", "partition_tree"],
  otlp_metric_compat: ["prom", "legacy"],
};
const DURATION_KEYS: ReadonlySet<string> = new Set(["compaction.twcs.time_window", "auto_flush_interval"]);
const OTHER_TABLE_KEYS: ReadonlySet<string> = new Set([
  "comment",
  "write_buffer_size",
  "compaction.twcs.max_output_file_size",
  "index.inverted_index.ignore_column_ids",
  "index.inverted_index.segment_row_count",
  "wal_options",
  "primary_key_encoding",
  "physical_metric_table",
  "on_physical_table",
  "index.type",
  "index.granularity",
  "table_data_model",
  "repartition.column.hint",
  SPREAD_OPTION,
  "timeout",
  "wait",
]);
const DATABASE_KEYS: ReadonlySet<string> = new Set([
  "ttl",
  "append_mode",
  "merge_mode",
  "skip_wal",
  "sst_format",
  "memtable.type",
  "compaction.type",
  "compaction.twcs.time_window",
  "compaction.twcs.trigger_file_num",
  "compaction.twcs.max_output_file_size",
  "compaction.twcs.fallback_to_local",
]);
/** Whole numbers and the largest each may be. */
const COUNTS: Readonly<Record<string, number>> = { max_row_group_row_count: 10_485_760, "compaction.twcs.trigger_file_num": 2 ** 53 };
/** The store that every data directory has. */
const STORAGE = "File";

/** Table options checked and normalised. @throws DbError InvalidArguments */
export function tableOptions(options: Options): Options {
  const normalised = each(options, (key, value) => {
    const known =
      key in CHOICES ||
      BOOLEAN_KEYS.has(key) ||
      DURATION_KEYS.has(key) ||
      key in COUNTS ||
      OTHER_TABLE_KEYS.has(key) ||
      key === "ttl" ||
      key === "storage";
    if (!known && !/^(memtable\.(bulk|partition_tree)\.|greptime\.semantic\.)/.test(key))
      throw invalidArguments(`Unrecognized table option key: ${key}`);
    return normalise(key, value, true);
  });
  if (normalised["append_mode"] === "true" && normalised["merge_mode"] === "last_non_null") {
    throw invalidArguments("Invalid region options, only last_row merge_mode is allowed when append_mode is enabled");
  }
  return normalised;
}

/**
 * Refuses an option `spread` of a table that has no use for it.
 *
 * @throws DbError InvalidArguments
 */
export function checkSpread({ engine, partitions, options }: Pick<TableDefinition, "engine" | "partitions" | "options">): void {
  if (options[SPREAD_OPTION] === undefined) return;
  if (engine !== "mito") {
    throw invalidArguments(
      `Invalid table option, ${SPREAD_OPTION} is one of tables of engine mito; rows of engine ${engine} lie on all shards`,
    );
  }
  if (partitions === undefined) return;
  throw invalidArguments(
    `Invalid table option, ${SPREAD_OPTION}: PARTITION ON COLUMNS says on how many shards rows lie; leave one of them out`,
  );
}

/** Whether databases have an option of that key. */
export function isDatabaseOption(key: string): boolean {
  return DATABASE_KEYS.has(key) || key === "storage" || key.startsWith("memtable.bulk.");
}

/** Database options checked and normalised. @throws DbError InvalidArguments */
export function databaseOptions(options: Options): Options {
  return each(options, (key, value) => {
    if (!isDatabaseOption(key)) throw invalidArguments(`Unrecognized database option key: ${key}`);
    return normalise(key, value, false);
  });
}

/** Keys in order; a value of undefined leaves the key out. */
function each(options: Options, normaliseOne: (key: string, value: string) => string | undefined): Options {
  const result: Record<string, string> = {};
  for (const key of Object.keys(options).sort()) {
    const value = normaliseOne(key, options[key] ?? "");
    if (value !== undefined) result[key] = value;
  }
  return result;
}

function normalise(key: string, value: string, isTable: boolean): string | undefined {
  if (key === "ttl") return ttl(value, isTable);
  if (key === "storage" && value !== STORAGE) throw invalidArguments(`Object store not found: ${value}`);
  if (BOOLEAN_KEYS.has(key)) {
    const text = value.toLowerCase();
    if (text !== "true" && text !== "false")
      throw invalidArguments(`Invalid set table option, key: ${key}, value: ${value}; use 'true' or 'false'`);
    return text;
  }
  const most = COUNTS[key];
  if (most !== undefined && !(/^\d{1,16}$/.test(value) && Number(value) > 0 && Number(value) <= most)) {
    throw invalidArguments(`Invalid region options, ${key} must be in (0, ${most}], got ${value}`);
  }
  const choices = CHOICES[key];
  const isUnset = key === "merge_mode" && value === ""; // Says that the database's does not count.
  if (choices !== undefined && !isUnset && !choices.includes(value))
    throw invalidArguments(`Invalid set table option, key: ${key}, value: ${value}; use one of ${choices.join(", ")}`);
  if (DURATION_KEYS.has(key) && parseHumantime(value) === undefined)
    throw invalidArguments(`Invalid set table option, key: ${key}, value: ${value}; use a duration such as 1h`);
  if (key === "write_buffer_size") return bufferSize(value);
  if (key === SPREAD_OPTION) return String(parseSpread(value));
  return value;
}

/** `1024` → `1.0KiB`. */
function bufferSize(value: string): string {
  const bytes = parseHumanSize(value);
  if (!bytes.ok) throw invalidArguments(`Invalid set table option, key: write_buffer_size, value: ${value}; use a size such as 64MiB`);
  return printReadableSize(bytes.value);
}

/** `7d` → `7days`; `forever` and `instant` stay; nothing at all means for ever. */
function ttl(value: string, isTable: boolean): string | undefined {
  const text = value.trim();
  if (text === "") return undefined;
  if (text.toLowerCase() === "forever") return "forever";
  if (text.toLowerCase() === "instant" && isTable) return "instant";
  const nanos = parseHumantime(text);
  if (nanos === undefined || (text.toLowerCase() === "instant" && !isTable)) {
    throw invalidArguments(
      isTable
        ? `Invalid set table option, key: ttl, value: ${value}; use a duration such as 7d`
        : `Invalid set database option, key: ttl, value: ${value}`,
    );
  }
  return nanos === 0n ? "forever" : formatHumantime(nanos);
}
