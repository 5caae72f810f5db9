/** Limits of trace queries that no setting changes. */

/** Most spans of one answer. Reason: a browser lays out no more. The rest is left out, with a warning. */
export const SPANS_MAX = 100_000;

/** Most traces that may be asked for. Reason: what Jaeger's own page offers at most. Error: InvalidArguments. */
export const TRACES_MAX = 1500;

/** Traces that are given where a request does not say how many: as Jaeger's query service has it. */
export const TRACES_DEFAULT = 100;

/** Most names of services or operations of one answer. Reason: each is a line of a menu. The rest is left out. */
export const NAMES_MAX = 100_000;

/** Most tags that a search may name. Reason: each is a condition on several columns. Error: InvalidArguments. */
export const TAGS_MAX = 64;

/** Longest text of a parameter, in characters. Error: InvalidArguments. */
export const PARAMETER_CHARACTERS_MAX = 8192;

/** How far back a search without times looks, in microseconds: two days, as Jaeger's query service. */
export const LOOKBACK_MICROS_DEFAULT: number = 2 * 86_400 * 1_000_000;
