/**
 * Write hints: how tables that do not exist yet are made (contract ingest.md 0.6, http.md 4).
 */
import { headerTextOf } from "./header-text.ts";
import { invalidArguments } from "../../base/error.ts";
import { parseHumanDuration, printHumanDuration } from "../../base/text/human-duration.ts";

/** Hints of a request by key. */
export type Hints = ReadonlyMap<string, string>;

/** Keys that have a header of their own, `x-greptime-hint-<key>`; read only when `x-greptime-hints` is absent. */
const SINGLE_KEYS = ["auto_create_table", "ttl", "append_mode", "merge_mode", "physical_table", "skip_wal", "read_preference"] as const;

/** Keys that only the server itself may set. */
const RESERVED: ReadonlySet<string> = new Set([
  "remote_query_id",
  "initial_remote_dyn_filter_registrations",
  "query.support_flight_metrics_before_batch",
  "query.live_analyze_metrics",
]);

/** Hints that become options of a table made on the way, under the same name. */
const TABLE_OPTIONS: readonly string[] = [
  "ttl",
  "skip_wal",
  "write_buffer_size",
  "storage",
  "comment",
  "sst_format",
  "physical_metric_table",
  "on_physical_table",
  "table_data_model",
  "otlp_metric_compat",
  "repartition.column.hint",
  "compaction.twcs.time_window",
  "greptime.semantic.signal_type",
  "greptime.semantic.source",
  "greptime.semantic.source_version",
  "greptime.semantic.pipeline",
];

const NO_HINTS: Hints = new Map();

/** Reads the hints of a request. Entries without `=` are ignored. */
export function readHints(headers: Headers): Hints {
  const combined = headerTextOf(headers, "x-greptime-hints");
  if (combined !== null) {
    const hints = new Map<string, string>();
    for (const entry of combined.split(",")) {
      const equals = entry.indexOf("=");
      const key = entry.slice(0, equals).trim();
      if (equals > 0 && !RESERVED.has(key)) hints.set(key, entry.slice(equals + 1).trim());
    }
    return hints;
  }
  let hints: Map<string, string> | undefined;
  for (const key of SINGLE_KEYS) {
    const value = headerTextOf(headers, `x-greptime-hint-${key}`);
    if (value !== null) (hints ??= new Map()).set(key, value.trim());
  }
  return hints ?? NO_HINTS;
}

/** Whether the write may make tables and columns. @throws DbError InvalidArguments for a hint that is no boolean */
export function autoCreateOf(hints: Hints, allowed: boolean): boolean {
  const hint = hints.get("auto_create_table");
  if (hint !== undefined && hint !== "true" && hint !== "false") {
    throw invalidArguments("`auto_create_table` hint must be a boolean");
  }
  return allowed && hint !== "false";
}

/** Options that the hints copy to a new table. @throws DbError InvalidArguments for a ttl that is no duration */
export function hintedTableOptions(hints: Hints): Record<string, string> {
  const options: Record<string, string> = {};
  if (hints.size === 0) return options;
  for (const key of TABLE_OPTIONS) {
    const value = hints.get(key);
    if (value !== undefined) options[key] = key === "ttl" ? ttlOf(value) : value;
  }
  return options;
}

/** A ttl as SHOW CREATE TABLE prints it: `1d` → `1day`. */
function ttlOf(text: string): string {
  if (text === "forever" || text === "instant") return text;
  const duration = parseHumanDuration(text);
  if (!duration.ok) throw invalidArguments(`cannot use the hint ttl=${text}: ${duration.reason}`);
  return duration.value === 0n ? "forever" : printHumanDuration(duration.value);
}
