/** Limits of requests of the HTTP event collector. Each ends in a refused request. */

/** Most tables of one request. Reason: each is a write of its own. */
export const EVENT_TABLES_MAX = 1024;

/** Most names of tags of one request. Reason: each is a column. */
export const EVENT_TAGS_MAX = 1024;

/** Most pieces of a body of `/raw`. Reason: one is 2 bytes of a body and 100 in memory. */
export const RAW_PIECES_MAX = 1_000_000;
