/** Names of functions that the grammar reads specially. The printer puts the plain names in quotes where they would be misread. */

/** Calls with keywords between their arguments. */
export const SPECIAL_CALLS: ReadonlySet<string> = new Set(["extract", "substring", "position", "trim"]);

/** Names that are calls without parentheses. */
export const BARE_CALLS: ReadonlySet<string> = new Set(["current_timestamp", "current_date", "current_time", "localtimestamp"]);

/** Functions that give rows wherever they stand: in a select list each row is repeated, as by `unnest`. Their results are lists. */
export const ROW_CALLS: ReadonlySet<string> = new Set([
  "generate_subscripts",
  "_pg_expandarray",
  "pg_options_to_table",
  "pg_partition_tree",
  "pg_get_keywords",
  "aclexplode",
  "regexp_split_to_table",
  "string_to_table",
]);
