/** The bounds of reading and writing files outside the database. */

/** Most files of one folder. Reason: the list is kept in memory. Error: InvalidArguments. */
export const FOLDER_FILES_MAX = 100_000;

/** Most answers that make one list. Reason: an answer may hold no name at all and still promise more. Error: StorageUnavailable. */
export const LIST_PAGES_MAX = 10_000;

/** Bytes of one part of an upload. Reason: stores take at least 5 MiB, and an object of 10,000 parts is then 160 GB. */
export const UPLOAD_PART_BYTES: number = 16 * 1024 * 1024;

/** Milliseconds until a store begins to answer. Reason: a part is sent within that time at 280 KB a second. Error: StorageUnavailable. */
export const ANSWER_MILLIS_MAX = 60_000;

/** Milliseconds until an answer is there whole. Reason: as above, for what is read. Error: StorageUnavailable. */
export const REQUEST_MILLIS_MAX = 300_000;

/** Most bytes of an answer that is no object: a list of 1000 names, an error. Error: StorageUnavailable. */
export const ANSWER_BYTES_MAX: number = 8 * 1024 * 1024;

/** Most addresses of an endpoint that are tried. Reason: one more for each kind of network. Error: StorageUnavailable. */
export const ADDRESSES_TRIED_MAX = 4;

/** How often a request is sent, and milliseconds before the second time; they double. Reason: stores ask to be asked again when busy. */
export const REQUEST_TRIES_MAX = 3;
/** See above. */
export const RETRY_MILLIS = 200;

/** Milliseconds for giving an upload up. Reason: whoever was killed or has failed waits for it. Error: none, the store forgets it later. */
export const ABORT_MILLIS_MAX = 5_000;
