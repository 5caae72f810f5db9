/**
 * Limits of connections that no configuration key sets.
 */

/** Part of the descriptors that is kept free for files, and its bounds. Reason: the log, a flush, a merge and a spill open a few each. */
export const KEPT_FREE_PART: number = 1 / 8;
export const KEPT_FREE_MIN = 24;
export const KEPT_FREE_MAX = 512;

/** Part of the descriptors from which on it is looked often. */
export const CROWDED_PART: number = 1 / 2;

/** Milliseconds after its last byte in which a connection counts as at work. */
export const AT_WORK_MS = 3000;

/** How often it is looked how many descriptors are in use, in milliseconds; a look takes 5 µs. */
export const LOOK_MS = 100;
/** The same while there are many. */
export const CROWDED_LOOK_MS = 20;

/** Times that a look took, that pass before the next: with 20,000 connections it takes 30 ms. */
export const REST_PER_LOOK = 9;
/** How many more connections are dropped than must be, as a part of what is kept free: the next ones are on their way. */
export const ROOM_PART: number = 1 / 2;

/** Milliseconds between two lines of the log that say that connections are dropped. */
export const TOLD_MS = 10_000;

/** How often a listener says which clients it works for while there are many, in milliseconds. */
export const MARK_MS = 200;
