/** The bounds of our Parquet files, in one place. The reader refuses what lies beyond before it allocates. */

/** Most rows of a page. Reason: a decoded page is one allocation a column. */
export const PAGE_ROWS_MAX: number = 1 << 20;

/** Most rows of a row group. Reason: page and dictionary numbers stay small. */
export const ROW_GROUP_ROWS_MAX: number = 1 << 24;

/**
 * Bytes of values after which a page of strings or binary is cut; a single longer value still makes a page of its own.
 * Reason: a reader of few rows decodes whole pages.
 */
export const PAGE_VALUE_BYTES_TARGET: number = 1 << 20;

/** Most bytes of a page before compression. Reason: page headers hold sizes as i32. Writing more: InvalidArguments. */
export const PAGE_BYTES_MAX: number = 2 ** 30;

/** Most bytes of a footer. Reason: it is parsed in one piece. */
export const FOOTER_BYTES_MAX: number = 2 ** 28;

/** Longest prefix of a string kept as a bound. Reason: bounds are for pruning; each page and column holds two. */
export const BOUND_BYTES_MAX = 64;

/** Most entries of a dictionary of a field. Reason: a longer one saves little and costs a hash a row. */
export const FIELD_DICTIONARY_ENTRIES_MAX = 65_536;

/** Most bytes of a dictionary of a field. */
export const FIELD_DICTIONARY_BYTES_MAX: number = 1 << 20;

/** A page stays uncompressed unless zstd brings it below this share of its size: reading raw bytes is several times faster. */
export const COMPRESSED_SHARE_MAX = 0.95;

/** Most bytes of a bloom filter; a column with more distinct values a row group gets a weaker filter. */
export const BLOOM_BYTES_MAX: number = 1 << 20;

/** Bytes of output collected before the sink sees them. */
export const OUTPUT_BUFFER_BYTES: number = 1 << 20;
