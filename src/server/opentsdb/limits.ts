/**
 * Limits of the telnet listener that no configuration key sets.
 */

/** Longest line in bytes, its end included. Reason: it is gathered in memory. The connection is told and closed. */
export const LINE_BYTES_MAX: number = 64 * 1024;

/** Most bytes of lines that are decoded into one write; reading pauses until it is durable. */
export const ROUND_BYTES_MAX: number = 1024 * 1024;

/** Bytes of answers after which the rest of a round waits until they are taken. Reason: each connection holds them. */
export const ANSWERS_BYTES_MAX: number = 64 * 1024;

/** Milliseconds in which a line must be whole once it began, and answers be taken. Else the connection is closed. */
export const LINE_MS_MAX = 60_000;

/** How often it is looked at, in milliseconds. */
export const LOOK_MS = 5000;

/** Milliseconds without a whole line after which a connection makes room for a new one where there are too many. */
export const RESTING_MS = 10_000;

/** Most connections at a time. Reason: each has a buffer. Further ones take the place of one that rests, or are told and closed. */
export const CONNECTIONS_MAX = 1024;

/** Seconds without a byte either way after which a connection is closed. Bun allows 255 at most; agents send every minute. */
export const IDLE_SECONDS = 250;
