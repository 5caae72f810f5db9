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

/** Least bytes that are read ahead in a column of a Parquet file with many columns. */
export const READ_BYTES_MIN: number = 64 * 1024;

/** Rows read at a time from a Parquet file. */
export const PARQUET_WINDOW_ROWS = 32_768;

/** Bytes of values, in all columns, from which fewer rows of a Parquet file are read at a time. */
export const PARQUET_WINDOW_BYTES: number = 32 * 1024 * 1024;

/** Entries of a column of lists that are read ahead, but for a row that has more. */
export const PARQUET_WINDOW_ENTRIES: number = 256 * 1024;

/** Most entries that one row has in one column. Reason: a row lies in memory whole. Error: InvalidArguments. */
export const PARQUET_ROW_ENTRIES_MAX: number = 8 * 1024 * 1024;

/** Most bytes of a page of a Parquet file, unpacked. Reason: it lies in memory whole. Error: InvalidArguments. */
export const PARQUET_PAGE_BYTES_MAX: number = 512 * 1024 * 1024;

/** Most entries of a page. Reason: few bytes may stand for any number of them. Error: InvalidArguments. */
export const PARQUET_PAGE_ENTRIES_MAX: number = 16 * 1024 * 1024;

/** Most bytes of a page's header, which holds bounds of its values. Error: InvalidArguments. */
export const PARQUET_HEADER_BYTES_MAX: number = 16 * 1024 * 1024;

/** Deepest schema of a Parquet file. Reason: walks recurse, and a level takes a byte. Error: InvalidArguments. */
export const SCHEMA_DEPTH_MAX = 64;

/** Most bytes of the footer of a Parquet file. Error: InvalidArguments. */
export const PARQUET_FOOTER_BYTES_MAX: number = 64 * 1024 * 1024;

/** Most files of an external table or a COPY FROM. Error: InvalidArguments. */
export const COPY_FILES_MAX = 10_000;

/** Deepest nesting of lists and objects in a JSON file that becomes a type; what is deeper is text. */
export const JSON_TYPE_DEPTH_MAX = 7;

/** Most fields of an object in a JSON file that become a type; objects with more are text. Reason: their names may be values. */
export const JSON_STRUCT_FIELDS_MAX = 100;
