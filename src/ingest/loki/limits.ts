/**
 * Limits of the Loki decoder beside those of every write (`base/limits.ts`).
 */

/**
 * Bytes that the columns of one request may take beside twice its body. Reason: a label that stands in the metadata is repeated for each of
 * the stream's entries, of which one takes few bytes. Error: InvalidArguments.
 */
export const UNFOLDED_BYTES_SLACK: number = 64 * 1024 * 1024;

/** Bytes of columns that a decoder keeps for the next request; larger ones are made anew. */
export const RETAINED_BYTES_MAX: number = 32 * 1024 * 1024;

/** Pairs of metadata whose names are compared with each other; of more the names are gathered in a set. */
export const COMPARED_PAIRS_MAX = 8;

/** Characters of a label set that a log line quotes. */
export const QUOTED_LABELS_MAX = 120;

/** Bytes of one entry's metadata as sent. Reason: a page of a column holds a value whole, and escapes take up to six times as much. */
export const METADATA_BYTES_MAX: number = 2 * 1024 * 1024;
