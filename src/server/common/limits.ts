/** Limits of all servers that no setting changes. */

/** Decoders of line protocol that are kept, one a database; the least recently used one goes. Reason: each may hold a dictionary. */
export const LINE_DECODERS_MAX = 64;

/** Most bytes that all decoders together keep between requests, the one used last apart. Those used longest ago go. */
export const LINE_DECODERS_BYTES_MAX: number = 256 * 1024 * 1024;

/** Milliseconds without a request after which a decoder goes: what it learnt costs more to keep than to learn again. */
export const LINE_DECODER_IDLE_MS = 300_000;

/** Most log lines about failed logins in a range of time. Reason: who guesses must not fill the disk. Error: none, they are counted. */
export const LOGIN_FAILURES_LOGGED_MAX = 10;

/** Milliseconds of that range. */
export const LOGIN_FAILURES_WINDOW_MILLIS = 60_000;
