/** Fields of a row that say how its table is made instead of what it holds. */
import { plainText } from "./json/json-text.ts";
import { fieldOf, type PipelineObject } from "../common/value.ts";

const PREFIX = "greptime_";
const SUFFIX_FIELD = "greptime_table_suffix";
const NAMES: readonly string[] = ["auto_create_table", "ttl", "append_mode", "merge_mode", "physical_table", "skip_wal"];
const FIELDS: readonly string[] = NAMES.map((name) => PREFIX + name);

/** Names of all such fields: they never become columns by themselves. */
export const HINT_FIELDS: ReadonlySet<string> = new Set([...FIELDS, SUFFIX_FIELD]);

/** What a row says that has no such fields. */
export const NO_HINTS: ReadonlyMap<string, string> = new Map();

/** The hints of a row, without the table suffix. */
export function hintsOf(row: PipelineObject): ReadonlyMap<string, string> {
  let hints: Map<string, string> | undefined;
  for (let i = 0; i < FIELDS.length; i++) {
    const value = fieldOf(row, FIELDS[i] as string); // i < length
    if (value === undefined || value === null) continue;
    hints ??= new Map();
    hints.set(NAMES[i] as string, plainText(value)); // as many as fields
  }
  return hints ?? NO_HINTS;
}

/** The table suffix that a row names. */
export function suffixHintOf(row: PipelineObject): string | undefined {
  const value = fieldOf(row, SUFFIX_FIELD);
  return value === undefined || value === null ? undefined : plainText(value);
}
