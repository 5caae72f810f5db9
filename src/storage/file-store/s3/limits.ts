/** The bounds of data files in an S3 store. */

/**
 * Bytes of one part of an upload, and the longest file that is sent whole. Reason: stores take at least 5 MiB a part; each request under
 * way holds one part in memory, and its MD5 takes 11 ms of the thread.
 */
export const PART_BYTES: number = 8 * 1024 * 1024;

/** Most parts of an upload. Reason: stores take no more; longer files have longer parts. */
export const PARTS_MAX = 10_000;

/** Bytes of one ranged request of a download. Reason: four are under way, and one that fails is cheap to repeat. */
export const RANGE_BYTES: number = 4 * 1024 * 1024;

/** Parts or ranges of one file under way. Reason: with one, a round trip passes between any two of them. */
export const FILE_REQUESTS_MAX = 4;

/** Most requests under way. Reason: each takes a connection and a descriptor. Others wait. */
export const REQUESTS_MAX = 16;

/** Most bytes of bodies under way, sent and received. Reason: they are held in memory. Requests that would be more wait. */
export const REQUEST_BYTES_MAX: number = 64 * 1024 * 1024;

/** How often a request is sent. Reason: stores ask to be asked again when busy. With the waits below some 3 s go by. */
export const TRIES_MAX = 5;

/** Milliseconds of the first wait, at most, and of any; they double. Each is drawn between nothing and that, so that waits do not meet. */
export const RETRY_MILLIS = 200;
/** See above. */
export const RETRY_MILLIS_MAX = 5_000;

/** Milliseconds until an answer is there whole, besides those of its bytes. Error: StorageUnavailable. */
export const ANSWER_MILLIS_MAX = 30_000;

/** Slowest that bytes may go, per millisecond. Reason: 256 KiB a second is a store that does not work. Error: StorageUnavailable. */
export const BYTES_PER_MILLI_MIN = 256;

/** Most bytes of an answer that is no object: a list of 1,000 names, an error. Error: StorageUnavailable. */
export const ANSWER_BYTES_MAX: number = 8 * 1024 * 1024;

/** Most answers that make one list. Reason: an answer may hold no name and still promise more. Error: StorageUnavailable. */
export const LIST_PAGES_MAX = 100_000;
