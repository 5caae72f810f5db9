/** Names of functions that the grammar reads specially. The printer puts the plain names in quotes where they would be misread. */

/** Calls with keywords between their arguments. */
export const SPECIAL_CALLS: ReadonlySet<string> = new Set(["extract", "substring", "position", "trim"]);

/** Names that are calls without parentheses. */
export const BARE_CALLS: ReadonlySet<string> = new Set(["current_timestamp", "current_date", "current_time", "localtimestamp"]);
