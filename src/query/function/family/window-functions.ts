/** Names of the functions that only window calls may call. What they compute is in `exec/window/`. */

const NAMES = [
  "row_number",
  "rank",
  "dense_rank",
  "percent_rank",
  "cume_dist",
  "ntile",
  "lag",
  "lead",
  "first_value",
  "last_value",
  "nth_value",
  "anomaly_score_zscore",
  "anomaly_score_mad",
  "anomaly_score_iqr",
] as const;

/** A function that is not an aggregate when it is called with OVER. */
export type WindowFunctionName = (typeof NAMES)[number];

/** All names, for suggestions. */
export const WINDOW_FUNCTION_NAMES: readonly string[] = NAMES;

/** The window function that a call names (lower-case), or undefined. */
export function windowFunctionNamed(name: string): WindowFunctionName | undefined {
  return NAMES.find((known) => known === name);
}
