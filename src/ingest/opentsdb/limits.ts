/**
 * Limits of the OpenTSDB decoder beside those of every write (`base/limits.ts`).
 */

/**
 * Metrics that a request may always name, whatever earlier ones named: a decoder that remembers as many forgets them before the next
 * request, and refuses points of further ones once it has twice as many. Reason: each has arrays of its own.
 */
export const METRICS_MAX = 65_536;

/** Bytes of columns that a decoder keeps for the next request; beyond it starts with new ones. */
export const RETAINED_BYTES_MAX: number = 64 * 1024 * 1024;

/** Rows for which a metric has room at first: agents send a few points of each of many metrics. */
export const ROWS_AT_FIRST = 16;

/**
 * Furthest that a time may lie from 1970, in milliseconds: the year 73,326. Reason: any two times are then near enough for one write.
 * Error: the point is refused.
 */
export const TIME_MS_MAX: number = 2 ** 51 - 1;
