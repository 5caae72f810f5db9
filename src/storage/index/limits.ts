/** The bounds of column indexes, in one place. Beyond them a range of rows has no index and is read; an answer never changes. */

/** Fewest rows that one filter covers, whatever an option asks for. Reason: each has an entry in the directory, which stays in memory. */
export const FILTER_ROWS_MIN = 1024;

/** Most rows that one filter covers. Reason: its keys are held while it is built. */
export const FILTER_ROWS_MAX: number = 1 << 20;

/** Most distinct keys of one filter: about 1.3 MB at 1 % false positives. Reason: 24 MB of scratch in the flush and merge workers. */
export const FILTER_KEYS_MAX: number = 1 << 20;

/** Fewest and most bits a key. Reason: a false-positive rate close to 1 or 0 asks for none or endlessly many. */
export const KEY_BITS_MIN = 2;
export const KEY_BITS_MAX = 64;

/** Most distinct values of a value list. A column with more gets filters instead: the list would be as large as the column. */
export const LIST_VALUES_MAX = 65_536;

/** Most bytes of the values of a list of texts. */
export const LIST_BYTES_MAX: number = 4 * 1024 * 1024;

/** Most keys that a lookup of one text asks a filter for. More say hardly more. */
export const TEXT_KEYS_MAX = 64;

/** Most values of an IN that are looked up; a longer list reads the rows. */
export const LOOKUP_VALUES_MAX = 1024;
