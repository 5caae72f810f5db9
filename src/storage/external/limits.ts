/** The bounds of reading and writing files outside the database. */

/** Most files of one folder. Reason: the list is kept in memory. Error: InvalidArguments. */
export const FOLDER_FILES_MAX = 100_000;

/** Bytes of one part of an upload. Reason: stores take at least 5 MiB, and an object of 10,000 parts is then 160 GB. */
export const UPLOAD_PART_BYTES: number = 16 * 1024 * 1024;
