/** The bounds of spilling that no configuration key sets. */

/** Most spill files open at a time, of all queries. Reason: a process may have 1,024 descriptors. Error: RuntimeResourcesExhausted. */
export const SPILL_FILES_MAX = 256;

/** Bytes spilled between two looks at how much of the disk is free. Reason: a look takes a thread of the pool about 20 µs. */
export const FREE_LOOK_BYTES: number = 16 * 1024 * 1024;
