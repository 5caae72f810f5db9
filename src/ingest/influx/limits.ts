/**
 * Limits of the line-protocol decoder. Each ends in a refused line, never in a failed request.
 */

/** Most bytes of columns that one request may unfold to. Reason: few bytes of sparse lines can name many wide columns. */
export const DECODED_BYTES_MAX: number = 256 * 1024 * 1024;

/**
 * Bytes of columns that a decoder keeps for the next request; more is dropped between two requests. 10,000 rows of 1,000 sparse columns
 * need 82 MiB: they decode at 1.1 M rows/s when the arrays stay and at 0.2 M when they are made anew.
 */
export const RETAINED_BYTES_MAX: number = 128 * 1024 * 1024;

/**
 * How long a decoder without a request keeps what it remembers. Reason: a million series are 300 MB; learning them again costs a second
 * once.
 */
export const IDLE_MILLIS: number = 120_000;

/**
 * Measurements that a request may always name, whatever earlier ones named: a decoder that remembers as many forgets them between two
 * requests, and refuses further lines once it has twice as many.
 */
export const MEASUREMENTS_MAX = 65_536;

/** Most field names that a decoder remembers over all measurements; a request that names more has its further lines refused. */
export const FIELD_NAMES_MAX = 262_144;

/** Bytes that a field name, a column or a measurement costs beside its values: an estimate that counts towards the limits above. */
export const OBJECT_BYTES = 256;

/** Rows for which a table has room at first. */
export const ROWS_AT_FIRST = 16;
