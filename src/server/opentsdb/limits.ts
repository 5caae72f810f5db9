/**
 * Limits of the telnet listener that no configuration key sets.
 */

/** Longest line in bytes, its end included. Reason: it is gathered in memory. The connection is told and closed. */
export const LINE_BYTES_MAX: number = 64 * 1024;

/** Most bytes of lines that are decoded into one write; reading pauses until it is durable. */
export const ROUND_BYTES_MAX: number = 1024 * 1024;

/** Most connections at a time. Reason: each has a buffer. Further ones are told and closed. */
export const CONNECTIONS_MAX = 1024;

/** Seconds without a byte either way after which a connection is closed. Bun allows 255 at most; agents send every minute. */
export const IDLE_SECONDS = 250;
