/** The bounds of COPY and of external tables. */

/** Bytes that are read from a file at a time. */
export const READ_BYTES: number = 1024 * 1024;

/** Bytes of text that are written at a time. */
export const WRITE_BYTES: number = 1024 * 1024;

/** Most rows of one write of COPY FROM. */
export const IMPORT_ROWS = 16_384;

/** Bytes of text values from which a write of COPY FROM is cut. Reason: a row may hold megabytes. */
export const IMPORT_BYTES: number = 16 * 1024 * 1024;

/** Most tables of COPY DATABASE at a time. Reason: each holds a row group, or a write. Larger numbers count as this one. */
export const PARALLELISM_MAX = 16;

/** Longest pattern of file names. Error: InvalidArguments. */
export const PATTERN_CHARACTERS_MAX = 1024;

/** Longest line of a JSON file. Reason: it lies in memory whole, several times. Error: InvalidArguments. */
export const JSON_LINE_BYTES_MAX: number = 64 * 1024 * 1024;

/** Rows of a row group of Parquet files. */
export const ROW_GROUP_ROWS = 131_072;

/** Bytes from which a row group ends sooner. */
export const ROW_GROUP_BYTES: number = 64 * 1024 * 1024;

/** Rows read at a time from a Parquet file, and bytes of values from which it is fewer. */
export const PARQUET_WINDOW_ROWS = 32_768;
/** Bytes of values, as the file says, that are read at a time. */
export const PARQUET_WINDOW_BYTES: number = 32 * 1024 * 1024;

/** Largest part of a Parquet file, unpacked, that is read whole because it has no index of its pages. Error: InvalidArguments. */
export const PARQUET_CHUNK_BYTES_MAX: number = 1024 * 1024 * 1024;

/** Most bytes of the footer of a Parquet file. Error: InvalidArguments. */
export const PARQUET_FOOTER_BYTES_MAX: number = 64 * 1024 * 1024;

/** Most files of an external table or a COPY FROM. Error: InvalidArguments. */
export const COPY_FILES_MAX = 10_000;
