/**
 * Limits of pipelines. Those of a definition end in a refused pipeline, those of a row in a failed row.
 */

/** Longest text of a pipeline in characters. */
export const PIPELINE_CHARACTERS_MAX = 262_144;

/** Most entries of any list in a definition. Reason: aliases of YAML let a short text name long lists many times. */
export const PIPELINE_ENTRIES_MAX = 512;

/** Dispatchers that lead from one pipeline to the next, so that a circle ends. */
export const DISPATCH_DEPTH_MAX = 8;

/** Deepest value that is flattened, written as JSON or walked. Deeper ones fail their row, since those walks recurse. */
export const VALUE_DEPTH_MAX = 256;

/** Nodes that one JSONPath looks at in one row. Reason: `..` and filters visit a value again and again. */
export const JSON_PATH_VISITS_MAX = 100_000;

/** Rows that one item may become. */
export const ROWS_PER_ITEM_MAX = 10_000;

/** Sets of hints that the rows of one request may have. Reason: each is written by itself. */
export const HINT_SETS_MAX = 256;

/** Tables that one request may write to. Reason: each costs arrays, and a table when it is new. */
export const TABLES_PER_REQUEST_MAX = 1024;

/** Columns that one request may find for one table. */
export const FOUND_COLUMNS_MAX = 4096;

/** Steps of one VRL program on one row, so that nested closures end. */
export const VRL_STEPS_MAX = 1_000_000;

/** Deepest nesting of a VRL program; a pair of parentheses counts twice. Reason: parser and interpreter recurse. */
export const VRL_DEPTH_MAX = 128;
