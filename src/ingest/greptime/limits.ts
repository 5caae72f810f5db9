/** Limits of the native interface's rows that no setting changes. */
import { TABLE_COLUMNS_MAX } from "../../base/limits.ts";

/** Columns of one table in a request. Reason: as those of a table. Error: InvalidArguments. */
export const COLUMNS_MAX: number = TABLE_COLUMNS_MAX;

/** Tables of one request. Reason: a name costs its sender four bytes, and a table an entry in the catalogue. Error: InvalidArguments. */
export const TABLES_MAX = 10_000;

/**
 * Bytes of cells that one table of a request may unfold to, and all of them before the next.
 * Reason: a NULL costs its sender two bytes in a row, and a bit in a column. Error: InvalidArguments.
 */
export const CELL_BYTES_MAX: number = 512 * 1024 * 1024;

/** Bytes of a cell of fixed width: a double, and whether it is NULL. */
export const CELL_BYTES = 9;

/** Jumps of a table's times by more than `CHUNK_TIME_SPAN_MAX`. Reason: each begins a write of its own. Error: InvalidArguments. */
export const TIME_JUMPS_MAX = 4096;

/** Levels of arrays and objects in a JsonValue. Reason: its reader recurses. Error: InvalidArguments. */
export const JSON_DEPTH_MAX = 128;

/** Kinds of tables and tags that a decoder knows; with one more it begins anew. Reason: each is an object. Error: none. */
export const SHAPES_MAX = 10_000;

/** Options of one column. Reason: there are three. Error: InvalidArguments. */
export const OPTIONS_MAX = 16;

/** Values that are found before they are read, a column at a time. Reason: they and their places (64 KiB) stay in the processor's cache. */
export const BLOCK_CELLS = 8192;

/** Rows, or values of a column, between two steps of a decoder. Reason: some take 100 ns, and a step ends well within a turn. */
export const STEP_ROWS = 16_384;

/**
 * Cells of one write; a table's further rows are writes of their own. Reason: the thread puts the record of a write together at once, this
 * many (16,384 rows of ten columns) in some 5 ms, and longer where rows are new series. Error: none.
 */
export const WRITE_CELLS_MAX = 163_840;

/**
 * Tag sets of one write that nobody has seen, nearly; a table's further rows are writes of their own. Reason: each takes 2 to 3 us
 * while its series is made, at once with its write: 16,384 of them held the thread for 48 ms of its time. Error: none.
 */
export const WRITE_NEW_KEYS_MAX = 4096;
